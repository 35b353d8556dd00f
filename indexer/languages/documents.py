"""Markdown and reStructuredText: headings as nested sections, and the symbols and files that their text names.

Read line by line, without a grammar: only headings, code blocks and names in backticks matter. What a name means is
the resolver's work (`graph.resolve.documents`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from ctxsearch.graph.facts import MODULE_SCOPE, Definition, Expr, FileFacts, Op
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import MAX_SIGNATURE, digest

SEPARATOR = " > "
MAX_TITLE = 120
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*(?:[ \t]#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NO_PARAGRAPH = re.compile(r"\s*(?:[-*+>|#]|\d+[.)]\s|<|$)")
_MARKUP = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?|[`*]|<[^>]+>|\{[^}]*\}\s*$")
_RST_LINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_RST_MARKUP = re.compile(r":[\w:]+:`~?([^`<]*)[^`]*`|``|[`*|]|_(?=\s|$)")
_MARKDOWN_NAME = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_RST_NAME = re.compile(r"``([^`\n]+)``|:[\w:]+:`[~!.]*([^`<\n]+)`")
_SYMBOL = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|#|/)[\w$.-]+)*[?!]?")
_CALL = re.compile(r"\(.*\)$")


@dataclass(frozen=True, slots=True)
class _Line:
    number: int  # 1-based
    start: int  # byte offset
    text: str


@dataclass(frozen=True, slots=True)
class _Heading:
    line: int  # its first line, 1-based
    level: int
    title: str
    written: str


@dataclass(slots=True)
class _Reading:
    """What a scan has found so far."""

    headings: list[_Heading] = field(default_factory=list)
    prose: list[_Line] = field(default_factory=list)  # lines outside code blocks


class DocumentExtractor:
    """One document. Has no grammar: `scan` takes the place of `extract`."""

    language = ""

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        self.path = path
        self.source = source
        self.flags = flags

    def scan(self) -> FileFacts:
        lines = list(_lines(self.source))
        is_rst = self.language == "rst"
        found = _scan_rst(lines) if is_rst else _scan_markdown(lines)
        sections = self._sections(found.headings, lines)
        names = _RST_NAME if is_rst else _MARKDOWN_NAME
        exprs = tuple(_references(found.prose, sections, names))
        return FileFacts(
            path=self.path,
            language=self.language,
            line_count=len(lines),
            definitions=tuple(sections),
            exprs=exprs,
            references=tuple(range(len(exprs))),
            flags=self.flags,
            digest=digest(self.source),
        )

    def _sections(self, headings: list[_Heading], lines: list[_Line]) -> list[Definition]:
        """A section reaches to the next heading of its own level or a higher one."""
        sections: list[Definition] = []
        ends = _last_lines(headings, len(lines))
        around: list[int] = []  # the sections that are open
        for place, heading in enumerate(headings):
            while around and headings[around[-1]].level >= heading.level:
                around.pop()
            parent = around[-1] if around else MODULE_SCOPE
            sections.append(self._section(heading, parent, sections, ends[place], lines))
            around.append(place)
        return sections

    def _section(
        self, heading: _Heading, parent: int, sections: list[Definition], last: int, lines: list[_Line]
    ) -> Definition:
        title = heading.title[:MAX_TITLE] or "untitled"
        start = lines[heading.line - 1].start
        end = lines[last].start if last < len(lines) else len(self.source)
        around = sections[parent].qualified_name if parent >= 0 else ""
        return Definition(
            kind=NodeKind.SECTION,
            name=title,
            qualified_name=f"{around}{SEPARATOR}{title}" if around else title,
            parent=parent,
            start_line=heading.line,
            end_line=last,
            start=start,
            end=end,
            name_line=heading.line,
            signature=heading.written[:MAX_SIGNATURE],
            digest=digest(self.source[start:end]),
        )


def _last_lines(headings: list[_Heading], line_count: int) -> list[int]:
    ends = [line_count] * len(headings)
    still_open: list[int] = []
    for place, heading in enumerate(headings):
        while still_open and headings[still_open[-1]].level >= heading.level:
            ends[still_open.pop()] = heading.line - 1
        still_open.append(place)
    return ends


def _lines(source: bytes) -> Iterator[_Line]:
    start = 0
    for number, line in enumerate(source.split(b"\n"), 1):
        if start < len(source):
            yield _Line(number, start, line.decode("utf-8", "replace"))
        start += len(line) + 1


def _scan_markdown(lines: list[_Line]) -> _Reading:
    found = _Reading()
    fence = ""
    for line in lines[_front_matter(lines) :]:
        opened = _FENCE.match(line.text)
        if fence:
            if opened and opened[1].startswith(fence) and not line.text.strip().strip(fence[0]):
                fence = ""
            continue
        if opened:
            fence = opened[1]
            continue
        heading = _markdown_heading(line, lines)
        if heading is not None:
            found.headings.append(heading)
        found.prose.append(line)
    return found


def _front_matter(lines: list[_Line]) -> int:
    """How many lines of metadata stand before the text."""
    if lines and lines[0].text.rstrip() in ("---", "+++"):
        for line in lines[1:]:
            if line.text.rstrip() == lines[0].text.rstrip():
                return line.number
    return 0


def _markdown_heading(line: _Line, lines: list[_Line]) -> _Heading | None:
    atx = _ATX.match(line.text)
    if atx is not None:
        return _Heading(line.number, len(atx[1]), _plain(_MARKUP, atx[2] or ""), line.text.strip())
    if line.number < len(lines) and not _NO_PARAGRAPH.match(line.text):
        below = _SETEXT.match(lines[line.number].text)
        above = lines[line.number - 2].text if line.number > 1 else ""
        if below is not None and (not above.strip() or _FENCE.match(above) or _ATX.match(above)):
            level = 1 if below[1].startswith("=") else 2
            return _Heading(line.number, level, _plain(_MARKUP, line.text), line.text.strip())
    return None


def _scan_rst(lines: list[_Line]) -> _Reading:
    """A title is underlined, perhaps overlined too; the styles' order of appearance gives the levels."""
    found = _Reading(prose=lines)
    styles: list[tuple[str, bool]] = []
    for title, under in pairwise(lines):
        ruler = _RST_LINE.match(under.text)
        text = title.text.strip()
        if ruler is None or not text or _RST_LINE.match(title.text) or len(under.text.rstrip()) < len(text):
            continue
        above = lines[title.number - 2].text.rstrip() if title.number > 1 else ""
        overlined = above == under.text.rstrip()
        if not overlined and (above or title.text != title.text.lstrip()):
            continue  # part of a paragraph or a table
        style = ruler[1], overlined
        if style not in styles:
            styles.append(style)
        line = title.number - overlined
        found.headings.append(_Heading(line, styles.index(style) + 1, _plain(_RST_MARKUP, text), text))
    return found


def _plain(markup: re.Pattern[str], text: str) -> str:
    return " ".join(markup.sub(lambda found: (found[1] or "") if found.re.groups else "", text).split())


def _references(prose: Iterable[_Line], sections: list[Definition], names: re.Pattern[str]) -> Iterator[Expr]:
    """Names in backticks, each once per section: dotted, as code would write them."""
    scope = MODULE_SCOPE
    upcoming = 0
    seen: set[tuple[int, str]] = set()
    for line in prose:
        while upcoming < len(sections) and sections[upcoming].start_line <= line.number:
            scope = upcoming
            upcoming += 1
        for match in names.finditer(line.text):
            name = _symbol(next(group for group in match.groups() if group))
            if name and (scope, name) not in seen:
                seen.add((scope, name))
                yield Expr(Op.NAME, scope, line.number, line.start, name)


def _symbol(text: str) -> str:
    """`a::b()` as "a.b"; a path as it is; "" for anything that is not one name."""
    name = _CALL.sub("", text.strip())
    if not _SYMBOL.fullmatch(name):
        return ""
    return name if "/" in name else name.replace("::", ".").replace("#", ".")
