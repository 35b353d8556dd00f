"""Which files are indexed and what their text is: one test per rule."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scratch_repository import ScratchRepository

from ctxsearch.graph.git import Git
from ctxsearch.graph.model import NodeFlag
from ctxsearch.indexer import classify, files
from ctxsearch.indexer.beneath import UnsafePathError, open_beneath
from ctxsearch.indexer.files import Limits, Listing, Skipped, SkipReason, Source, list_files, read_source

CODE = "def f():\n    return 1\n"
KEY_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n" * 3
PRIVATE_KEY = f"-----BEGIN PRIVATE KEY-----\n{KEY_BODY}-----END PRIVATE KEY-----\n"


@pytest.fixture(params=["git", "by hand"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    return Tree(tmp_path / "root", with_git=request.param == "git")


@pytest.fixture
def repository(tmp_path: Path) -> ScratchRepository:
    return ScratchRepository.create(tmp_path / "root")


class Tree:
    """The same directory with and without git: the rules must not differ."""

    def __init__(self, root: Path, *, with_git: bool) -> None:
        self.root = root
        self.with_git = with_git
        root.mkdir()
        if with_git:
            ScratchRepository.create(root)

    def write(self, path: str, content: str | bytes = CODE) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def list(self, limits: Limits | None = None) -> Listing:
        return listing(self.root, limits)

    def read(self, path: str, limits: Limits | None = None) -> Source | Skipped:
        return read_source(self.root, path, limits or Limits())


def listing(root: Path, limits: Limits | None = None) -> Listing:
    return list_files(root, limits or Limits(), Git.open(root))


def paths(found: Listing) -> list[str]:
    return [entry.path for entry in found.files]


def reasons(found: Listing) -> dict[str, SkipReason]:
    return {skipped.path: skipped.reason for skipped in found.skipped}


def text(outcome: Source | Skipped) -> bytes:
    assert isinstance(outcome, Source), outcome
    return outcome.text


def reason(outcome: Source | Skipped) -> SkipReason:
    assert isinstance(outcome, Skipped), outcome
    return outcome.reason


# --- ignore rules -----------------------------------------------------------------------------------------


def test_nested_gitignore_overrides_the_one_above(tree: Tree) -> None:
    tree.write(".gitignore", "*.log\nbuild/\n/only_here.py\n")
    tree.write("sub/.gitignore", "!keep.log\nlocal.py\n")
    for path in ("a.py", "a.log", "build/x.py", "only_here.py", "sub/only_here.py"):
        tree.write(path)
    for path in ("sub/keep.log", "sub/other.log", "sub/local.py", "local.py", "sub/build/y.py"):
        tree.write(path)
    assert paths(tree.list()) == [
        *(".gitignore", "a.py", "local.py", "sub/.gitignore", "sub/keep.log", "sub/only_here.py")
    ]


def test_nothing_beneath_an_ignored_directory_can_be_taken_back(tree: Tree) -> None:
    tree.write(".gitignore", "out/\n!out/keep.py\n")
    tree.write("out/keep.py")
    tree.write("out/.gitignore", "!*\n")
    assert paths(tree.list()) == [".gitignore"]


def test_ctxsearchignore_is_nested_and_subtracts_tracked_files(tree: Tree) -> None:
    tree.write(".ctxsearchignore", "data/\n*.gen.py\n")
    tree.write("sub/.ctxsearchignore", "!a.gen.py\nprivate.py\n")
    for path in ("data/x.py", "x.gen.py", "sub/a.gen.py", "sub/b.gen.py", "sub/private.py", "private.py"):
        tree.write(path)
    if tree.with_git:
        ScratchRepository(tree.root).git("add", "-A")
    assert paths(tree.list()) == [".ctxsearchignore", "private.py", "sub/.ctxsearchignore", "sub/a.gen.py"]


def test_a_malformed_ignore_line_does_not_lose_the_others(tree: Tree) -> None:
    tree.write(".ctxsearchignore", b"!\n///\n[z\n\xff\xfe\n# note\n*.tmp\r\n")
    tree.write("a.tmp")
    tree.write("a.py")
    assert paths(tree.list()) == [".ctxsearchignore", "a.py"]


def test_info_exclude_is_respected(repository: ScratchRepository) -> None:
    repository.write("a.py", CODE)
    repository.write("mine.py", CODE)
    (repository.root / ".git/info/exclude").write_text("mine.py\n")
    assert paths(listing(repository.root)) == ["a.py"]


def test_tracked_files_are_seen_even_where_a_rule_ignores_them(repository: ScratchRepository) -> None:
    repository.write("kept.log", "text\n")
    repository.commit()
    repository.write(".gitignore", "*.log\n")
    repository.write("new.log", "text\n")
    assert paths(listing(repository.root)) == [".gitignore", "kept.log"]


RULES = [
    *("a", "b/", "/a", "*.py", "!a", "!b/", "a/b", "**/b", "a/**", "!*.py", "?", "[ab]/", "/b/*", "#x", ""),
    *("a/**/", "!a/", "**/a/**", "[!a]", "[^b-z]/", "[[:alpha:]]", "\\a", "a\\", "[a", "c/**/b*", "a**", "/"),
    *("!/*", "*", "/**", "!**/x.py", "x.py ", "x.py\\ ", "b/\r", "[z-a]", "[]a]", "[a-]", "**", "!**/"),
]


@settings(max_examples=25, deadline=None)
@given(
    rules=st.lists(
        st.sampled_from(RULES),
        max_size=6,
    ),
    nested=st.lists(st.sampled_from(["*", "!a", "b", "!*.py", "/b"]), max_size=3),
)
def test_rules_by_hand_agree_with_git(rules: list[str], nested: list[str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        repository = ScratchRepository.create(Path(directory).resolve() / "root")
        for path in ("a/b/a.py", "a/c", "a/x.py", "b/a", "b/b/b", "b/x.py", "c/a/b", "c/b.py", "d.py"):
            repository.write(path, CODE)
        repository.write(".gitignore", rules)
        repository.write("b/.gitignore", nested)
        by_git = paths(listing(repository.root))
        shutil.rmtree(repository.root / ".git")
        assert paths(list_files(repository.root, Limits(), None)) == by_git


# --- kinds of repository ----------------------------------------------------------------------------------


def test_repository_without_a_commit_lists_untracked_files(repository: ScratchRepository) -> None:
    repository.write("a.py", CODE)
    assert paths(listing(repository.root)) == ["a.py"]


def test_plain_directory_needs_no_git(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/a.py").write_text(CODE)
    assert paths(list_files(tmp_path, Limits(), None)) == ["pkg/a.py"]


def test_subdirectory_of_a_repository_is_listed_relative_to_itself(repository: ScratchRepository) -> None:
    repository.write(".gitignore", "*.log\n")
    repository.write("pkg/a.py", CODE)
    repository.write("pkg/a.log", CODE)
    repository.write("other/b.py", CODE)
    assert paths(listing(repository.root / "pkg")) == ["a.py"]


def test_directory_that_its_repository_ignores_is_a_plain_directory(repository: ScratchRepository) -> None:
    repository.write(".gitignore", "scratch/\n")
    repository.write("scratch/a.py", CODE)
    assert paths(listing(repository.root / "scratch")) == ["a.py"]


def test_linked_worktree_lists_its_own_files(repository: ScratchRepository, tmp_path: Path) -> None:
    repository.write("a.py", CODE)
    repository.commit()
    repository.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    (tmp_path / "linked/only_there.py").write_text(CODE)
    assert paths(listing(tmp_path / "linked")) == ["a.py", "only_there.py"]
    assert paths(listing(repository.root)) == ["a.py"]


def test_worktree_of_a_bare_repository(repository: ScratchRepository, tmp_path: Path) -> None:
    repository.write("a.py", CODE)
    repository.commit()
    repository.git("clone", "-q", "--bare", str(repository.root), str(tmp_path / "bare.git"))
    repository.git("worktree", "add", "-q", str(tmp_path / "checkout"), cwd=tmp_path / "bare.git")
    assert paths(listing(tmp_path / "checkout")) == ["a.py"]


def test_shallow_clone_lists_everything(repository: ScratchRepository, tmp_path: Path) -> None:
    for version in ("1", "2"):
        repository.write("a.py", CODE + version)
        repository.commit()
    repository.git("clone", "-q", "--depth=1", f"file://{repository.root}", str(tmp_path / "shallow"))
    assert paths(listing(tmp_path / "shallow")) == ["a.py"]


def test_submodule_files_belong_to_the_tree(repository: ScratchRepository, tmp_path: Path) -> None:
    library = ScratchRepository.create(tmp_path / "library")
    library.write("lib.py", CODE)
    library.write(".gitignore", "*.log\n")
    library.commit()
    repository.write("a.py", CODE)
    repository.git(
        *("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "deps/library")
    )
    repository.commit()
    repository.write("deps/library/ignored.log", "text")
    found = listing(repository.root)
    assert paths(found) == [".gitmodules", "a.py", "deps/library/.gitignore", "deps/library/lib.py"]
    assert text(read_source(repository.root, "deps/library/lib.py", Limits())) == CODE.encode()


def test_submodule_that_is_not_checked_out_is_no_error(repository: ScratchRepository) -> None:
    repository.write("a.py", CODE)
    head = repository.commit()
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{head},module")
    (repository.root / "module").mkdir()
    found = listing(repository.root)
    assert (paths(found), found.skipped) == (["a.py"], ())


def test_untracked_clone_inside_is_a_repository_of_its_own(repository: ScratchRepository) -> None:
    repository.write("a.py", CODE)
    inner = ScratchRepository.create(repository.root / "inner")
    inner.write("b.py", CODE)
    found = listing(repository.root)
    assert paths(found) == ["a.py"]
    assert reasons(found) == {"inner/": SkipReason.NESTED_REPOSITORY}


def test_plain_directory_of_repositories_lists_each_by_its_own_rules(tmp_path: Path) -> None:
    for name in ("one", "two"):
        inner = ScratchRepository.create(tmp_path / name)
        inner.write("a.py", CODE)
        inner.write("a.log", CODE)
        (inner.root / ".git/info/exclude").write_text("*.log\n")
    assert paths(list_files(tmp_path, Limits(), None)) == ["one/a.py", "two/a.py"]


def test_sparse_checkout_files_that_are_not_on_disk_are_no_error(repository: ScratchRepository) -> None:
    repository.write("in/a.py", CODE)
    repository.write("out/b.py", CODE)
    repository.commit()
    repository.git("sparse-checkout", "set", "in")
    found = listing(repository.root)
    assert (paths(found), found.skipped) == (["in/a.py"], ())


def test_deleted_tracked_file_is_no_error(repository: ScratchRepository) -> None:
    repository.write("a.py", CODE)
    repository.write("b.py", CODE)
    repository.commit()
    (repository.root / "b.py").unlink()
    found = listing(repository.root)
    assert (paths(found), found.skipped) == (["a.py"], ())


def test_unmerged_file_is_listed_once(repository: ScratchRepository) -> None:
    repository.write("a.py", CODE)
    repository.commit()
    blob = repository.git("rev-parse", "HEAD:a.py").strip()
    stages = "".join(f"100644 {blob} {stage}\ta.py\n" for stage in (1, 2, 3))
    (repository.root / "stages").write_text(stages)
    repository.git("rm", "-q", "--cached", "a.py")
    with (repository.root / "stages").open() as file:
        subprocess.run(["git", "update-index", "--index-info"], cwd=repository.root, stdin=file, check=True)
    (repository.root / "stages").unlink()
    assert paths(listing(repository.root)) == ["a.py"]


# --- links and things that are no files -------------------------------------------------------------------


def test_link_inside_the_root_is_indexed_once_under_its_real_path(tree: Tree) -> None:
    tree.write("real/a.py")
    (tree.root / "alias.py").symlink_to("real/a.py")
    (tree.root / "alias").symlink_to("real")
    found = tree.list()
    assert paths(found) == ["real/a.py"]
    assert reasons(found) == {"alias.py": SkipReason.LINK, "alias": SkipReason.LINK}
    assert reason(tree.read("alias.py")) is SkipReason.LINK
    assert reason(tree.read("alias/a.py")) is SkipReason.LINK


def test_link_out_of_the_root_is_never_read(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/private.py").write_text("password = 1\n")
    tree.write("a.py")
    (tree.root / "file.py").symlink_to(tmp_path / "outside/private.py")
    (tree.root / "directory").symlink_to(tmp_path / "outside")
    found = tree.list()
    assert paths(found) == ["a.py"]
    assert set(reasons(found).values()) == {SkipReason.OUTSIDE}
    for path in ("file.py", "directory/private.py", "../outside/private.py", str(tmp_path / "outside/private.py")):
        assert reason(tree.read(path)) is SkipReason.OUTSIDE


def test_tracked_directory_replaced_by_a_link_out_is_not_followed(
    repository: ScratchRepository, tmp_path: Path
) -> None:
    repository.write("pkg/a.py", CODE)
    repository.write("b.py", CODE)
    repository.commit()
    shutil.move(repository.root / "pkg", tmp_path / "outside")
    (repository.root / "pkg").symlink_to(tmp_path / "outside")
    found = listing(repository.root)
    assert paths(found) == ["b.py"]
    assert reasons(found)["pkg/a.py"] is SkipReason.OUTSIDE


def test_link_loops_and_dangling_links_end(tree: Tree) -> None:
    tree.write("a.py")
    (tree.root / "loop").symlink_to("loop")
    (tree.root / "ping").symlink_to("pong")
    (tree.root / "pong").symlink_to("ping")
    (tree.root / "gone").symlink_to("nowhere")
    (tree.root / "up").mkdir()
    (tree.root / "up/again").symlink_to("..")
    found = tree.list()
    assert paths(found) == ["a.py"]
    assert reasons(found) == dict.fromkeys(["loop", "ping", "pong", "gone"], SkipReason.BROKEN_LINK) | {
        "up/again": SkipReason.LINK
    }


def test_root_given_through_a_link_is_listed(tree: Tree, tmp_path: Path) -> None:
    tree.write("a.py")
    (tmp_path / "door").symlink_to(tree.root)
    assert paths(listing(tmp_path / "door")) == ["a.py"]


def test_fifo_and_socket_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")  # opening it would wait for a writer
    with socket.socket(socket.AF_UNIX) as server, tempfile.TemporaryDirectory() as short:
        server.bind(f"{short}/s")
        Path(f"{short}/s").rename(tmp_path / "s.py")  # the name given to bind must be short
        found = list_files(tmp_path, Limits(), None)
    assert reasons(found) == dict.fromkeys(["pipe.py", "s.py"], SkipReason.NOT_REGULAR)
    assert reason(read_source(tmp_path, "pipe.py", Limits())) is SkipReason.NOT_REGULAR


def test_name_that_is_not_utf8_is_counted(tree: Tree) -> None:
    tree.write("a.py")
    Path(os.fsdecode(os.fsencode(tree.root) + b"/caf\xe9.py")).write_text(CODE)
    found = tree.list()
    assert paths(found) == ["a.py"]
    assert reasons(found) == {"caf\\xe9.py": SkipReason.NAME}


def test_names_with_odd_characters_are_kept(tree: Tree) -> None:
    odd = sorted(['quo"te.py', "new\nline.py", "tab\t.py", "späce é.py", "-dash.py", ":(top)x.py", "[b].py"])
    for name in odd:
        tree.write(name)
    assert paths(tree.list()) == odd


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../a", "a/../../b", "a//b", "./a", "a/", "a\0b"])
def test_unsafe_paths_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(UnsafePathError):
        open_beneath(tmp_path, path)


# --- limits and kinds of content --------------------------------------------------------------------------


def test_file_over_the_size_limit_is_skipped_by_stat(tree: Tree) -> None:
    tree.write("big.py", "x = 1\n" * 10)
    limits = Limits(max_bytes=59)
    assert reasons(tree.list(limits)) == {"big.py": SkipReason.TOO_LARGE}
    assert reason(tree.read("big.py", limits)) is SkipReason.TOO_LARGE
    assert paths(tree.list(Limits(max_bytes=60))) == ["big.py"]


def test_200_mb_single_line_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "line.js").open("wb") as file:
        file.write(b"x=1;" * 50_000)
        file.seek(200 * 1024 * 1024)  # a hole: as long to a reader, nothing on disk
        file.write(b";")
    taken = []
    real_read = os.read
    monkeypatch.setattr(os, "read", lambda fd, size: taken.append(size) or real_read(fd, size))
    assert reason(read_source(tmp_path, "line.js", Limits())) is SkipReason.TOO_LARGE
    assert taken == []
    generous = Limits(max_bytes=1 << 30)
    assert reason(read_source(tmp_path, "line.js", generous)) is SkipReason.MINIFIED
    assert sum(taken) <= 2 * classify.SAMPLE_BYTES


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\x02\x01" + bytes(range(256)),
        b"text\0with zero",
        b"%PDF-1.7\n%\xe2\xe3\n",
        bytes(range(1, 32)) * 20,
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        b"\xff\xfe" + bytes(range(256)) * 8 + b"\0\0\1\0",
    ],
)
def test_binary_is_skipped(tree: Tree, data: bytes) -> None:
    tree.write("blob.py", data)
    assert reason(tree.read("blob.py")) is SkipReason.BINARY


def test_minified_by_line_length_and_by_name(tree: Tree) -> None:
    tree.write("a.js", "function f(){return 1};" * 1000)
    tree.write("lib.min.js", CODE)
    assert reason(tree.read("a.js")) is SkipReason.MINIFIED
    assert reasons(tree.list()) == {"lib.min.js": SkipReason.MINIFIED}


def test_one_long_literal_among_code_is_not_minified(tree: Tree) -> None:
    tree.write("a.py", f'DATA = "{"x" * 5000}"\n' + "def f():\n    return DATA\n" * 400)
    assert isinstance(tree.read("a.py"), Source)


@pytest.mark.parametrize(
    "head",
    [
        "// Code generated by protoc-gen-go. DO NOT EDIT.\npackage a\n",
        "# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\n",
        "/**\n * @generated SignedSource<<abc>>\n */\n",
        '"""Automatically generated file.\n\nTo update, run python3 -m script.\n"""\n',
        "<?php\n// This file is auto-generated from schema.xml\n",
        "<!-- This file was generated by docgen -->\n",
        "// Copyright of the authors\n// Auto-generated file\n",
    ],
)
def test_generated_marker_is_skipped_unless_asked_for(tree: Tree, head: str) -> None:
    tree.write("a.py", head + CODE)
    assert reason(tree.read("a.py")) is SkipReason.GENERATED
    kept = tree.read("a.py", Limits(index_generated=True))
    assert isinstance(kept, Source)
    assert kept.flags & NodeFlag.GENERATED


@pytest.mark.parametrize(
    "text_",
    [
        "# Ids are automatically generated by the server.\n",
        '"""Write the code."""\nTEMPLATE = """\n# Code generated by us. DO NOT EDIT.\n"""\n',
        "# Generated by Django 4.2 on 2023-01-01\n",
        "/** Handles @generated.foo keys */\n",
        "# Note that not all possible configuration values are present in this\n# autogenerated file.\n",
        "# My settings; this is no\n# autogenerated file.\n",
    ],
)
def test_talking_about_generation_is_not_being_generated(tree: Tree, text_: str) -> None:
    tree.write("a.py", text_ + CODE)
    assert isinstance(tree.read("a.py"), Source)


def test_lock_files_count_as_generated(tree: Tree) -> None:
    tree.write("Cargo.lock", "[[package]]\n")
    assert reasons(tree.list()) == {"Cargo.lock": SkipReason.GENERATED}


@pytest.fixture
def unprivileged(tmp_path: Path) -> Iterator[None]:
    """File modes do not hold root back: tests that need them run as nobody."""
    if os.geteuid() != 0:
        yield
        return
    for directory in [tmp_path, *tmp_path.parents]:
        if directory.stat().st_uid == 0 and directory != Path("/") and directory != Path("/tmp"):
            directory.chmod(directory.stat().st_mode | 0o055)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_unreadable_file_and_directory_are_counted(tmp_path: Path, unprivileged: None) -> None:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / "a.py").write_text(CODE)
        (root / "closed.py").write_text(CODE)
        (root / "closed").mkdir()
        (root / "closed.py").chmod(0)
        (root / "closed").chmod(0)
        found = list_files(root, Limits(), None)
        assert paths(found) == ["a.py", "closed.py"]
        assert reasons(found) == {"closed/": SkipReason.UNREADABLE}
        assert reason(read_source(root, "closed.py", Limits())) is SkipReason.UNREADABLE
        assert reason(read_source(root, "closed/x.py", Limits())) is SkipReason.UNREADABLE
        (root / "closed").chmod(0o700)


# --- secrets ----------------------------------------------------------------------------------------------

SECRET_PATHS = [
    *(".env", ".env.local", ".env.production", "app/.ENV", "prod.env", ".envrc", ".netrc", ".pgpass"),
    *("id_rsa", "keys/id_ed25519", "deploy_rsa", "server.pem", "tls/server.key", "store.jks", "a.p12", "a.kdbx"),
    *(".ssh/config", ".gnupg/x", ".aws/credentials", ".kube/config", ".docker/config.json", ".git-credentials"),
    *("credentials.json", "client_secret_1.json", "service-account-prod.json", "config/secrets.yml", ".pypirc"),
    *("terraform.tfstate", "x.auto.tfvars", ".htpasswd", "my-credentials.json"),
]
HARMLESS_PATHS = [
    *(".env.example", ".env.sample", "example.env", "env.py", "environment.ts", "id_rsa.pub", "keys.py"),
    *("credentials.py", "secrets.go", "config/secrets.example.yml", ".docker/Dockerfile", "key.c", "monkey.py"),
]


@pytest.mark.parametrize("path", SECRET_PATHS)
def test_secret_by_name_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("TOKEN=1\n")
    assert reasons(list_files(tmp_path, Limits(), None)) == {path: SkipReason.SECRET}
    monkeypatch.setattr(files, "open_beneath", lambda root, name: pytest.fail(f"opened {name}"))
    assert reason(read_source(tmp_path, path, Limits())) is SkipReason.SECRET


@pytest.mark.parametrize("path", HARMLESS_PATHS)
def test_harmless_relatives_of_secrets_are_indexed(tmp_path: Path, path: str) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("TOKEN=\n")
    assert paths(list_files(tmp_path, Limits(), None)) == [path]
    assert isinstance(read_source(tmp_path, path, Limits()), Source)


@pytest.mark.parametrize(
    "content",
    [
        PRIVATE_KEY,
        PRIVATE_KEY.replace("PRIVATE KEY", "OPENSSH PRIVATE KEY"),
        PRIVATE_KEY.replace("\n", "\r\n"),
        "KEY = '''\n" + PRIVATE_KEY + "'''\n" + CODE,
        '{"private_key": "' + PRIVATE_KEY.replace("\n", "\\n") + '"}',
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0\n\n" + KEY_BODY,
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n" + KEY_BODY,
        "PuTTY-User-Key-File-3: ssh-ed25519\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_private_key_by_content_is_skipped_whatever_its_name(tmp_path: Path, content: str, encoding: str) -> None:
    (tmp_path / "notes.txt").write_bytes(content.encode(encoding))
    assert reason(read_source(tmp_path, "notes.txt", Limits())) is SkipReason.SECRET


def test_text_about_keys_is_indexed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('HEADER = "-----BEGIN PRIVATE KEY-----"\nif HEADER in text:\n    pass\n')
    assert isinstance(read_source(tmp_path, "a.py", Limits()), Source)


def test_npmrc_is_secret_only_with_a_token(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text("//registry.example.org/:_authToken=${NPM_TOKEN}\nfund=false\n")
    assert isinstance(read_source(tmp_path, ".npmrc", Limits()), Source)
    (tmp_path / ".npmrc").write_text("//registry.example.org/:_authToken=npm_abc\n")
    assert reason(read_source(tmp_path, ".npmrc", Limits())) is SkipReason.SECRET


# --- text -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected", "encoding"),
    [
        ("é = 1\n".encode(), "é = 1\n", "utf-8"),
        ("é = 1\n".encode("utf-8-sig"), "é = 1\n", "utf-8-sig"),
        ("é = 1\nzwei = 2\n".encode("utf-16"), "é = 1\nzwei = 2\n", "utf-16"),
        (b"\xfe\xff" + "é = 1\n".encode("utf-16-be"), "é = 1\n", "utf-16"),
        ("é = 1\nzwei = 2\n".encode("utf-16-le"), "é = 1\nzwei = 2\n", "utf-16-le"),
        ("é = 1\nzwei = 2\n".encode("utf-16-be"), "é = 1\nzwei = 2\n", "utf-16-be"),
        ("é = 1\n".encode("utf-32"), "é = 1\n", "utf-32"),
        (b"caf\xe9 = 1\n", "café = 1\n", "latin-1"),
        (b"", "", "utf-8"),
    ],
)
def test_encodings_become_utf8(tree: Tree, data: bytes, expected: str, encoding: str) -> None:
    tree.write("a.py", data)
    source = tree.read("a.py")
    assert isinstance(source, Source)
    assert (source.text.decode(), source.encoding) == (expected, encoding)
    assert source.content_hash == files.content_hash(data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\r\nb\r\n", b"a\nb\n"),
        (b"a\rb\r", b"a\nb\n"),
        (b"a\nb\r\nc", b"a\nb\nc"),
        (b"a\rstill a\nb\n", b"a\rstill a\nb\n"),
        (b"\xff\xfea\0\r\0\n\0b\0", b"a\nb"),
        (b"a\x0cstill a\xe2\x80\xa8still a\n", b"a\x0cstill a\xe2\x80\xa8still a\n"),
    ],
)
def test_line_ends_are_what_an_editor_counts(tree: Tree, data: bytes, expected: bytes) -> None:
    tree.write("a.py", data)
    assert text(tree.read("a.py")) == expected


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=300) | st.text(max_size=100).map(lambda t: t.encode("utf-16")))
def test_any_bytes_give_text_or_a_reason(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "a.py").write_bytes(data)
        outcome = read_source(Path(directory), "a.py", Limits())
        if isinstance(outcome, Source):
            outcome.text.decode("utf-8")


# --- files in motion --------------------------------------------------------------------------------------


def test_file_that_vanishes_is_counted(tree: Tree) -> None:
    assert reason(tree.read("gone.py")) is SkipReason.VANISHED
    assert reason(tree.read("gone/a.py")) is SkipReason.VANISHED


def change_during_read(monkeypatch: pytest.MonkeyPatch, target: Path, times: int) -> None:
    real_read, left = os.read, [times]

    def read(descriptor: int, size: int) -> bytes:
        data = real_read(descriptor, size)
        if left[0]:
            left[0] -= 1
            target.write_text("changed\n" * (20 + left[0]))
        return data

    monkeypatch.setattr(os, "read", read)


def test_file_that_changes_once_while_being_read_is_read_again(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tree.write("a.py")
    change_during_read(monkeypatch, target, 1)
    assert text(tree.read("a.py")) == b"changed\n" * 20


def test_file_that_keeps_changing_is_skipped_and_counted(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tree.write("a.py")
    change_during_read(monkeypatch, target, 100)
    assert reason(tree.read("a.py")) is SkipReason.CHANGING


# --- flags and words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "flags"),
    [
        ("src/a.py", NodeFlag.NONE),
        ("tests/a.py", NodeFlag.TEST),
        ("pkg/test_a.py", NodeFlag.TEST),
        ("pkg/a_test.go", NodeFlag.TEST),
        ("src/a.test.tsx", NodeFlag.TEST),
        ("src/test/java/AFoo.java", NodeFlag.TEST),
        ("src/FooTest.java", NodeFlag.TEST),
        ("src/Latest.java", NodeFlag.NONE),
        ("src/contest.py", NodeFlag.NONE),
        ("django/test/client.py", NodeFlag.NONE),
        ("spec/models/user_spec.rb", NodeFlag.TEST),
        ("vendor/x/a.go", NodeFlag.VENDORED),
        ("third_party/zlib/a.c", NodeFlag.VENDORED),
        ("api/a.pb.go", NodeFlag.GENERATED),
        ("api/a_pb2.py", NodeFlag.GENERATED),
    ],
)
def test_flags_by_path(path: str, flags: NodeFlag) -> None:
    assert classify.file_flags(path, b"") == flags


def test_nothing_to_index_says_why(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\n")
    (tmp_path / "x.min.js").write_text("a\n")
    found = list_files(tmp_path, Limits(), None)
    message = str(files.NothingToIndexError(tmp_path, found.skipped))
    assert "1 minified" in message
    assert "1 secret" in message
    assert "every file is ignored" in str(files.NothingToIndexError(tmp_path, ()))


def test_listing_is_sorted_and_repeatable(tree: Tree) -> None:
    for name in ("b.py", "a/z.py", "a.py", "é.py", "B.py", "a-b.py"):
        tree.write(name)
    assert tree.list() == tree.list()
    assert paths(tree.list()) == sorted(["b.py", "a/z.py", "a.py", "é.py", "B.py", "a-b.py"])
