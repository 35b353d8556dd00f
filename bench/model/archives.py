"""What is inside downloaded packages: files and their licences, read in memory. Nothing is unpacked or run."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from licences import LicenceOf, debian_licences, npm_licence, text_licence, wheel_licence

MAX_FILE_BYTES = 200_000  # longer ones are data or generated more often than written
MAX_ARCHIVE_BYTES = 60_000_000
_DEB_SOURCE = re.compile(  # where Debian installs what a repository holds
    r"\./usr/(?:share/cargo/registry/[^/]+/|share/gocode/src/(?:(?:github|gitlab|bitbucket)\.\w+/[^/]+/[^/]+|[^/]+/[^/]+)/"
    r"|share/rubygems-integration/[^/]+/gems/[^/]+/|share/nodejs/(?:@[^/]+/)?[^/]+/|share/(?=php/)|share/(?=lua/)"
    r"|lib/ruby/vendor_ruby/|lib/(?=ocaml/))"
)
_NOTICE = re.compile(r"(licen[cs]e|copying|unlicense)[^/]*", re.IGNORECASE)


class Package(NamedTuple):
    """The archives of one package."""

    registry: str
    name: str
    archives: tuple[Path, ...]


class Member(NamedTuple):
    """One file of a package, as its repository would have it."""

    path: str
    licence: str
    content: bytes


Wanted = Callable[[str, str], bool]  # of a path and its licence


def packages(root: Path) -> list[Package]:
    """Every package below ROOT/<registry>, sorted."""
    found: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for registry in ("deb", "debian", "npm", "pypi"):
        for file in (root / registry).glob("*"):
            name = _package_name(registry, file.name)
            if name and file.stat().st_size <= MAX_ARCHIVE_BYTES:
                found[registry, name].append(file)
    return [Package(registry, name, tuple(sorted(files))) for (registry, name), files in sorted(found.items())]


def _package_name(registry: str, file: str) -> str:
    if registry == "deb":
        return file.partition("_")[0] if file.endswith(".deb") else ""
    if registry == "debian":
        return file.partition("_")[0] if ".tar." in file and not file.endswith(".asc") else ""
    if registry == "pypi":
        return file.partition("-")[0].lower().replace("_", "-") if file.endswith(".whl") else ""
    return file.rpartition("-")[0] if file.endswith(".tgz") else ""


def members(package: Package, wanted: Wanted) -> Iterator[Member]:
    """The wanted files of a package; an archive that cannot be read ends the list."""
    try:
        if package.registry == "pypi":
            yield from _wheel(package.archives[-1], wanted)
        elif package.registry == "deb":
            yield from _deb(package.archives[-1], wanted)
        else:
            yield from _tarballs(package, wanted)
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, ValueError):
        return


def _wheel(file: Path, wanted: Wanted) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        metadata = next((name for name in archive.namelist() if name.endswith(".dist-info/METADATA")), None)
        licence = wheel_licence(archive.read(metadata).decode("utf-8", "replace")) if metadata else ""
        for info in archive.infolist():
            if info.file_size <= MAX_FILE_BYTES and wanted(info.filename, licence):
                yield Member(info.filename, licence, archive.read(info))


def _deb(file: Path, wanted: Wanted) -> Iterator[Member]:
    with tarfile.open(fileobj=BytesIO(_ar_member(file.read_bytes(), b"data.tar"))) as archive:
        files = [info for info in archive.getmembers() if info.isfile()]
        notice = next((info for info in files if re.fullmatch(r"\./usr/share/doc/[^/]+/copyright", info.name)), None)
        licence_of = debian_licences(_content(archive, notice).decode("utf-8", "replace") if notice else "")
        for info in files:
            installed = _DEB_SOURCE.match(info.name)
            path = info.name[installed.end() :] if installed else ""
            if path and info.size <= MAX_FILE_BYTES and wanted(path, licence := licence_of(path)):
                yield Member(path, licence, _content(archive, info))


def _ar_member(archive: bytes, beginning: bytes) -> bytes:
    """The first member of an `ar` archive, which a .deb is, whose name begins so."""
    at = len(b"!<arch>\n")
    while at + 60 <= len(archive):
        name, size = archive[at : at + 16], int(archive[at + 48 : at + 58])
        if name.startswith(beginning):
            return archive[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    raise ValueError("no such member")


def _tarballs(package: Package, wanted: Wanted) -> Iterator[Member]:
    with ExitStack() as stack:
        opened = [stack.enter_context(tarfile.open(file)) for file in package.archives]
        files = [(archive, info) for archive in opened for info in archive.getmembers() if info.isfile()]
        licence_of = _licences(package.registry, files)
        for archive, info in files:
            path = _inner(info.name)
            licence = licence_of(path)
            if info.size <= MAX_FILE_BYTES and wanted(path, licence):
                yield Member(path, licence, _content(archive, info))


def _licences(registry: str, files: list[tuple[tarfile.TarFile, tarfile.TarInfo]]) -> LicenceOf:
    """From what the registry asks packages to declare; without it, from the licence files at the top."""
    declared = "package/package.json" if registry == "npm" else "debian/copyright"
    for archive, info in files:
        if info.name == declared or (registry == "debian" and _inner(info.name) == declared):
            text = _content(archive, info).decode("utf-8", "replace")
            if registry == "debian":
                return debian_licences(text)
            licence = npm_licence(text)
            return lambda _: licence
    notices = [one for one in files if _NOTICE.fullmatch(_inner(one[1].name))]
    told = text_licence("\n".join(_content(*one).decode("utf-8", "replace") for one in notices))
    return lambda _: told


def _content(archive: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(info)
    return stream.read() if stream is not None else b""


def _inner(name: str) -> str:
    """A path without the directory that a tarball puts everything into."""
    return name.removeprefix("./").partition("/")[2] or name
