"""Classes on one line, made readable for the grammar.

It wants each member of a class to end with a line or a semicolon, the last one too. In `class A { fun f() = 1 }` it
takes the members for something else, or loses the class and all that follows. A blank before a closing brace, or
between two members, may as well be the end of a line: inside of braces that changes the meaning of nothing.
"""

from __future__ import annotations

import re

_CLASS_ON_A_LINE = re.compile(rb"^[^\n]*\b(?:class|interface|object)\b[^\n]*\{[^\n]*[ \t]\}[^\n]*$", re.MULTILINE)
_WORDS = (
    rb"fun|val|var|class|interface|object|init|constructor|companion|override|private|protected|internal|public"
    rb"|abstract|open|final|sealed|data|enum|inner|suspend|inline|operator|const|lateinit|typealias"
)
_TEXT = rb"//.*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`"
_END_OF_MEMBER = re.compile(_TEXT + rb"|([ \t])(?=\}|(?<=\}[ \t])(?:" + _WORDS + rb")\b)")


def members_on_lines(source: bytes) -> bytes:
    """The source, as long as before, with line ends after the members of classes that stand on one line."""
    return _CLASS_ON_A_LINE.sub(_split, source)


def _split(line: re.Match[bytes]) -> bytes:
    return _END_OF_MEMBER.sub(_end, line.group())


def _end(found: re.Match[bytes]) -> bytes:
    return b"\n" if found.group(1) else found.group()
