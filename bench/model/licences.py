"""Which licence a packaged file is under, from what its package declares; and whether that is permissive. Pure.

Unknown is not permissive: a package that does not say is not used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from email.parser import HeaderParser

LicenceOf = Callable[[str], str]  # a path inside the package to what its licence is called; "" unknown

_PERMISSIVE = re.compile(
    r"\b(mit|expat|mit-0|bsd|0bsd|bsd-?\d\S*|apache\S*|isc\S*|zlib\S*|unlicense|cc0\S*|public[- ]domain|psf\S*|python"
    r"|bsl\S*|boost\S*|x11|ncsa|postgresql|hpnd|zpl\S*|wtfpl|php-3\S*|curl|unicode\S*)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"gpl|affero|gnu|mpl|mozilla|epl|eclipse|cddl|cpl|eupl|cecill|osl|sspl|busl|business|cc-?by|gfdl|copyleft|share"
    r"|propriet|commercial|unlicensed|see licen|artistic|lppl|ofl|qpl",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(r"\s+or\s+|\s*\|\|?\s*|/", re.IGNORECASE)


def is_permissive(licence: str) -> bool:
    """Whether one of the alternatives named asks for no more than a notice."""
    alternatives = _ALTERNATIVE.split(licence.strip("() "))
    return any(_PERMISSIVE.search(one) is not None and _OTHER.search(one) is None for one in alternatives)


def wheel_licence(metadata: str) -> str:
    """What a wheel's METADATA declares: an expression, else classifiers, else one line of free text."""
    headers = HeaderParser().parsestr(metadata)
    expression = headers.get("License-Expression")
    if expression:
        return expression
    classified = [
        line.rpartition("::")[2].strip() for line in headers.get_all("Classifier", []) if "License ::" in line
    ]
    told = [line for line in classified if line != "OSI Approved"]
    return " and ".join(told) or str(headers.get("License", "")).partition("\n")[0][:80]


def npm_licence(manifest: str) -> str:
    """What a package.json declares."""
    try:
        found = json.loads(manifest).get("license", "")
    except (ValueError, AttributeError):
        return ""
    return str(found.get("type", "")) if isinstance(found, dict) else str(found)


def text_licence(text: str) -> str:
    """What a LICENSE file contains, by phrases that the licences share word for word; "" unknown."""
    folded = " ".join(text.lower().split())
    found = [name for phrase, name in _PHRASES if phrase in folded]
    return " and ".join(found)


_PHRASES = (
    ("general public license", "GPL"),
    ("mozilla public license", "MPL"),
    ("eclipse public license", "EPL"),
    ("common development and distribution", "CDDL"),
    ("permission is hereby granted, free of charge", "MIT"),
    ("redistribution and use in source and binary forms", "BSD"),
    ("apache license", "Apache"),
    ("permission to use, copy, modify, and/or distribute this software for any purpose", "ISC"),
    ("permission to use, copy, modify, and distribute this software for any purpose", "ISC"),
    ("this is free and unencumbered software", "Unlicense"),
    ("boost software license", "BSL"),
)


def debian_licences(copyright_file: str) -> LicenceOf:
    """The licence of each path as a machine-readable debian/copyright says: the last paragraph that matches."""
    rules: list[tuple[re.Pattern[str], str]] = []
    for paragraph in re.split(r"\n\s*\n", copyright_file):
        files, licence = _field(paragraph, "Files"), _field(paragraph, "License")
        if files and licence:
            rules.extend((_glob(one), licence.partition("\n")[0].strip()) for one in files.split())

    def licence_of(path: str) -> str:
        return next((licence for pattern, licence in reversed(rules) if pattern.fullmatch(path)), "")

    return licence_of


def _field(paragraph: str, name: str) -> str:
    found = re.search(rf"^{name}:((?:.*)(?:\n[ \t].*)*)", paragraph, re.MULTILINE)
    return found[1].strip() if found else ""


def _glob(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text.removeprefix("./")).replace(r"\*", ".*").replace(r"\?", "."))
