"""Training pairs: what is said about code never stands in the code, and only free, new, unasked-about code is used."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from archives import members, packages
from fetch import HERE, excluded, fetch, read_exclusions, read_names
from licences import debian_licences, is_permissive, npm_licence, text_licence, wheel_licence
from pairs import file_pairs, first_sentence, letters, merge, package_pairs

PYTHON = b'''
def wait_for_socket(address, timeout):
    """Blocks until a server listens at an address.

    Gives up after the timeout.
    """
    deadline = clock() + timeout
    while clock() < deadline:
        if connect(address):
            return True
    return False
'''
GO = b"""package net

// WaitForSocket blocks until a server listens at an address.
// It gives up after the timeout.
func WaitForSocket(address string, timeout Duration) bool {
\tdeadline := clock() + timeout
\tfor clock() < deadline {
\t\tif connect(address) { return true }
\t}
\treturn false
}
"""
RUBY = b"""
# Blocks until a server listens at an address.
def wait_for_socket(address, timeout)
  deadline = clock + timeout
  while clock < deadline
    return true if connect(address)
  end
  false
end
"""


@pytest.mark.parametrize(("path", "source"), [("net/wait.py", PYTHON), ("net/wait.go", GO), ("net/wait.rb", RUBY)])
def test_a_documented_function_is_a_pair_without_its_comment(path: str, source: bytes) -> None:
    (pair,) = [pair for pair in file_pairs(path, source) if pair["sentence"] and pair["kind"] == "function"]
    assert pair["sentence"].lower() == "blocks until a server listens at an address"
    assert letters(pair["sentence"]) not in letters(pair["text"])
    assert "deadline" in pair["text"]
    assert path in pair["text"]
    assert "gives up" not in pair["text"]


def test_code_is_the_same_whatever_its_comment_says() -> None:
    other = PYTHON.replace(b"Blocks until a server listens at an address", b"Polls until somebody answers the door")
    digests = [
        next(p["digest"] for p in file_pairs("a.py", text) if p["kind"] == "function") for text in (PYTHON, other)
    ]
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    ("doc", "said"),
    [
        ("Opens the file. And more.", "Opens the file"),
        ("Parse opens the given file", "opens the given file"),
        ("Returns {@link Foo} of a list\n@param x", "Returns Foo of a list"),
        ("Copyright 2020 by the authors.", ""),
        ("TODO write this down", ""),
        ("Short one.", ""),
        ("@param a the first number", ""),
    ],
)
def test_first_sentence_is_prose_or_nothing(doc: str, said: str) -> None:
    assert first_sentence(doc, "Parse") == said


@pytest.mark.parametrize(
    ("licence", "free"),
    [
        ("MIT", True),
        ("Expat", True),
        ("BSD-3-clause", True),
        ("Apache-2.0 or MIT", True),
        ("(MIT OR GPL-2.0)", True),
        ("GPL-2+ or Artistic", False),
        ("GPL-3+", False),
        ("LGPL-2.1+ and MIT", False),
        ("MPL-2.0", False),
        ("SEE LICENSE IN LICENSE.md", False),
        ("", False),
    ],
)
def test_only_licences_that_ask_for_a_notice_are_permissive(licence: str, free: bool) -> None:
    assert is_permissive(licence) is free


def test_declared_licences_are_read_where_each_registry_keeps_them() -> None:
    assert is_permissive(wheel_licence("Name: x\nClassifier: License :: OSI Approved :: MIT License\n"))
    assert not is_permissive(wheel_licence("Name: x\nLicense: GPLv3\n"))
    assert npm_licence('{"license": {"type": "ISC"}}') == "ISC"
    assert npm_licence("no json") == ""
    assert text_licence("Permission is hereby\ngranted, free of charge, to any person") == "MIT"
    assert not is_permissive(
        text_licence("GNU GENERAL PUBLIC LICENSE ... permission is hereby granted, free of charge")
    )


def test_the_last_matching_paragraph_of_a_debian_copyright_decides() -> None:
    of = debian_licences("Files: *\nLicense: Expat\n\nFiles: src/gnu/*\n tools/?.c\nLicense: GPL-2+\n text\n")
    assert of("src/main.c") == "Expat"
    assert of("src/gnu/deep/a.c") == "GPL-2+"
    assert of("tools/a.c") == "GPL-2+"
    assert debian_licences("This package was debianized by hand.")("a.c") == ""


def _tarball(file: Path, content: dict[str, bytes]) -> None:
    with tarfile.open(file, "w:gz") as archive:
        for name, data in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def test_packages_give_their_free_source_files_only(tmp_path: Path) -> None:
    for registry in ("debian", "npm", "pypi"):
        (tmp_path / registry).mkdir()
    _tarball(tmp_path / "debian" / "wait_1.orig.tar.gz", {"wait-1/net/wait.go": GO, "wait-1/gpl/wait.go": GO})
    rules = b"Files: *\nLicense: Expat\n\nFiles: gpl/*\nLicense: GPL-3\n"
    _tarball(tmp_path / "debian" / "wait_1-1.debian.tar.gz", {"debian/copyright": rules})
    _tarball(
        tmp_path / "npm" / "odd-2.0.tgz", {"package/package.json": b'{"license": "GPL-3.0"}', "package/a.py": PYTHON}
    )
    with zipfile.ZipFile(tmp_path / "pypi" / "wait_py-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("wait/__init__.py", PYTHON)
        wheel.writestr("wait/test_wait.py", PYTHON)
        wheel.writestr("wait_py-1.dist-info/METADATA", "Name: wait-py\nLicense-Expression: MIT\n")
    (tmp_path / "pypi" / "broken-1-py3-none-any.whl").write_bytes(b"no zip")
    found = {package.name: list(package_pairs(package)) for package in packages(tmp_path)}
    assert sorted(found) == ["broken", "odd", "wait", "wait-py"]
    assert [pair["path"] for pair in found["wait"]] == ["net/wait.go"]
    assert [pair["path"] for pair in found["wait-py"]] == ["wait/__init__.py"]
    assert found["odd"] == found["broken"] == []
    assert all(member.path for package in packages(tmp_path) for member in members(package, lambda *_: True))


def _deb(file: Path, content: dict[str, bytes]) -> None:
    _tarball(file, content)
    data = file.read_bytes()
    members = ((b"debian-binary", b"2.0"), (b"control.tar.gz", b"odd"), (b"data.tar.gz", data))
    packed = [
        b"%-16s%-32s%-10d`\n" % (name, b"0", len(text)) + text + b"\n" * (len(text) % 2) for name, text in members
    ]
    file.write_bytes(b"!<arch>\n" + b"".join(packed))


def test_of_a_binary_package_what_its_repository_holds_is_read(tmp_path: Path) -> None:
    (tmp_path / "deb").mkdir()
    rules = b"Files: *\nLicense: Expat\n\nFiles: gpl/*\nLicense: GPL-3\n"
    top = "./usr/share/gocode/src/github.com/someone/wait/"
    content = {f"{top}net/wait.go": GO, f"{top}gpl/wait.go": GO, "./usr/bin/wait.go": GO}
    _deb(tmp_path / "deb" / "wait_1_all.deb", content | {"./usr/share/doc/wait/copyright": rules})
    _deb(tmp_path / "deb" / "unsaid_1_all.deb", {"./usr/share/cargo/registry/unsaid-1/src/lib.rs": b"fn f() {}"})
    (tmp_path / "deb" / "broken_1_all.deb").write_bytes(b"!<arch>\nno member")
    found = {package.name: list(package_pairs(package)) for package in packages(tmp_path)}
    assert [pair["path"] for pair in found["wait"]] == ["net/wait.go"]
    assert found["unsaid"] == found["broken"] == []


@pytest.mark.parametrize(
    ("installed", "path"),
    [
        ("./usr/share/cargo/registry/adler-1.0.2/src/lib.rs", "src/lib.rs"),
        ("./usr/share/gocode/src/golang.org/x/tools/a.go", "tools/a.go"),
        ("./usr/share/rubygems-integration/all/gems/acme-2.0/lib/acme.rb", "lib/acme.rb"),
        ("./usr/share/nodejs/@scope/name/index.js", "index.js"),
        ("./usr/share/php/Name/A.php", "php/Name/A.php"),
        ("./usr/lib/ruby/vendor_ruby/acme.rb", "acme.rb"),
    ],
)
def test_an_installed_file_has_the_path_of_its_repository(tmp_path: Path, installed: str, path: str) -> None:
    (tmp_path / "deb").mkdir()
    _deb(tmp_path / "deb" / "one_1_all.deb", {installed: b"x"})
    (package,) = packages(tmp_path)
    assert [member.path for member in members(package, lambda *_: True)] == [path]


def _part(directory: Path, name: str, pairs: list[dict[str, Any]]) -> None:
    with gzip.open(directory / f"{name}.jsonl.gz", "wt") as out:
        out.writelines(json.dumps(pair) + "\n" for pair in pairs)


def test_merging_drops_repeated_code_frequent_sentences_and_what_evaluation_asks_about(tmp_path: Path) -> None:
    def pair(digest: str, sentence: str) -> dict[str, Any]:
        return {"digest": digest, "sentence": sentence, "language": "go"}

    _part(tmp_path, "a", [pair("1", "opens a file"), pair("2", "closes a file"), pair("3", "asked about")])
    _part(tmp_path, "b", [pair("1", "opens one file"), *(pair(str(at), "Is the default!") for at in range(10, 15))])
    counts = merge(tmp_path, tmp_path / "out.gz", {"3"})
    with gzip.open(tmp_path / "out.gz", "rt") as lines:
        assert [json.loads(line)["digest"] for line in lines] == ["1", "2"]
    assert counts == {"go": 2}


def test_no_listed_package_stems_from_an_evaluation_repository() -> None:
    names = HERE / "packages"
    patterns = read_exclusions(names)
    for name in (
        "requests",
        "python-click",
        "rust-tokio-util",
        "librust-serde-dev",
        "@babel/core",
        "golang-github-spf13-cobra",
        "vue",
    ):
        assert excluded(name, patterns)
    assert not excluded("attrs", patterns)
    for registry in ("deb", "debian", "npm", "pypi"):
        assert len(read_names(names / f"{registry}.txt")) > 300


def test_a_batch_that_fails_is_halved_down_to_the_names_at_fault(tmp_path: Path) -> None:
    brought: list[str] = []

    def download(names: Any, _: Path) -> bool:
        if "missing" in names:
            return False
        brought.extend(names)
        return True

    assert fetch(download, ["a", "b", "missing", "c", "d"], tmp_path) == ["missing"]
    assert sorted(brought) == ["a", "b", "c", "d"]
