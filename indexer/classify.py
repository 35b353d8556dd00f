"""What a file is, from its path and first bytes: secret, generated, minified, binary, test, vendored. Pure.

Secrets are recognised by name first, so that they need not be opened, and by content second. A wrong "secret"
costs one file of the index; a missed one puts a key into it: doubtful names count as secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxsearch.graph.model import NodeFlag

SAMPLE_BYTES = 1 << 16  # enough to tell what a file is without reading all of it
_BINARY_SAMPLE = 8000  # git looks for NUL in as many bytes
_MARKER_BYTES = 4096
_MARKER_LINES = 30
_LONG_LINE = 1000  # longer than anybody writes
_MINIFIED_MIN_BYTES = 4096  # below this a long line does no harm
_MAX_CONTROL_SHARE = 0.1  # of control characters in text

# --- secrets ---------------------------------------------------------------------------------------------

_SECRET_DIRECTORIES = frozenset({".ssh", ".gnupg"})
_SECRET_TAILS = (".aws/credentials", ".aws/config", ".kube/config", ".docker/config.json")
_SECRET_NAME = re.compile(
    r"""(?x) ^(?:
      \.env | \.env[.-].+ | .+\.env | \.envrc
    | [._]netrc | \.pgpass | \.pypirc | \.htpasswd | \.git-credentials | \.dockercfg | \.dockerconfigjson
    | \.s3cfg | \.boto | \.vault-token | \.my\.cnf | \.terraformrc | kubeconfig
    | credentials (?: \.(?:json|ya?ml|toml|ini|properties) )? | .+[_-]credentials\.json
    | secrets?\.(?:json|ya?ml|toml|ini|properties)
    | client_secret.*\.json | service[_-]account.*\.json
    | id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)? | .+_(?:rsa|ed25519)
    | .+\.(?:pem|key|p12|pfx|p8|pk8|jks|keystore|kdbx?|ppk|ovpn)
    | .*\.tfstate(?:\.backup)? | terraform\.tfvars | .+\.auto\.tfvars
    )$"""
)
# Templates of such files that hold no secret by their very purpose.
_HARMLESS = re.compile(r"(?:^|[._-])(?:example|sample|template|dist|defaults?|tpl|tmpl|pub)(?:$|[._-])")
# Files that carry tokens only sometimes: looked into instead of refused by name.
_OFTEN_HARMLESS = frozenset({".npmrc", ".yarnrc.yml"})
_TOKEN_LINE = re.compile(rb"(?im)(?:_auth(?:token)?|_password|npmauth(?:token|ident))\s*[=:]\s*[^\s$]")

_PRIVATE_KEY = re.compile(
    rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    # Documentation shows the header alone; a key has a body, perhaps quoted line by line, perhaps with headers.
    rb"(?:[\s\"'+,\\nr]|[A-Za-z-]+: [^\r\n]*)*+[A-Za-z0-9+/]{40,}"
)
_PUTTY_KEY = re.compile(rb"\APuTTY-User-Key-File-\d")


def is_secret_path(path: str) -> bool:
    """Whether the path alone forbids opening the file."""
    *directories, name = path.lower().split("/")
    if not _SECRET_DIRECTORIES.isdisjoint(directories) or "/".join([*directories[-1:], name]) in _SECRET_TAILS:
        return True
    if name in _OFTEN_HARMLESS or _HARMLESS.search(name):
        return False
    return _SECRET_NAME.match(name) is not None


def is_secret_content(path: str, data: bytes) -> bool:
    """Whether the bytes hold a private key, or a token in a file made for tokens."""
    if b"PRIVATE KEY" in data and _PRIVATE_KEY.search(data):
        return True
    if _PUTTY_KEY.match(data):
        return True
    return path.lower().rpartition("/")[2] in _OFTEN_HARMLESS and bool(_TOKEN_LINE.search(data))


# --- generated and minified -------------------------------------------------------------------------------

_LOCK_FILE = re.compile(
    r"^(?:(?:package-lock|npm-shrinkwrap|packages\.lock)\.json|pnpm-lock\.yaml|go\.sum"
    r"|(?:yarn|bun|cargo|poetry|uv|pdm|pipfile|composer|gemfile|mix|flake|deno|pubspec|podfile)\.lock)$"
)
_MINIFIED_NAME = re.compile(r"[.-]min\.(?:js|mjs|cjs|css|html)$|\.(?:js|css|mjs|cjs)\.map$")
_GENERATED_NAME = re.compile(
    r"_pb2(?:_grpc)?\.pyi?$|\.pb(?:\.gw)?\.(?:go|cc|h)$|_pb\.(?:js|ts|rb)$|^zz_generated|[._]generated\.\w+$"
    r"|\.g\.(?:dart|cs)$|\.designer\.cs$|\.freezed\.dart$|^moc_.*\.cpp$"
)
_GENERATED_DIRECTORIES = frozenset({"generated", "__generated__", "autogen", "gen-py", "gen-go"})
_MAKER = rb"(?:auto(?:matically)?[ -]?|machine[ -]|programmatically )"
_GENERATED_MARKER = re.compile(
    rb"\bcode generated\b.*\bdo not (?:edit|modify)\b"
    rb"|\bgenerated\b.*\bdo not (?:manually |hand[ -])?(?:edit|modify|change)\b"
    rb"|\bdo not (?:manually |hand[ -])?(?:edit|modify|change)\b.*\bgenerated\b"
    rb"|\bthis (?:file|code|module|source|header|script|class|document)\b"
    rb"[^.]*\b(?:is|was|has been) (?:" + _MAKER + rb"generated\b|generated (?:by|from|with|using)\b)"
    rb"|^\W*" + _MAKER + rb"generated (?:file|code|by|from|with|using)\b"
    rb"|^\W*(?-i:@generated)(?:$|[^\w.(-])",
    re.IGNORECASE,
)
_LINE_COMMENT = (b"//", b"#", b"--", b";", b"%", b"dnl ", b"rem ", b"REM ")
_BLOCK_COMMENTS = (
    (b"/*", b"*/"),
    (b'"""', b'"""'),
    (b"'''", b"'''"),
    (b"<!--", b"-->"),
    (b"{-", b"-}"),
    (b"(*", b"*)"),
)
_PREAMBLE = (b"<?", b"'use strict'", b'"use strict"', b"---", b"package ", b"@file:", b"<!doctype", b"\xef\xbb\xbf")


def is_minified_name(path: str) -> bool:
    """Names that say minified, and source maps."""
    return _MINIFIED_NAME.search(path.lower().rpartition("/")[2]) is not None


def is_lock_file(path: str) -> bool:
    """Dependency lock files: written by tools, read by tools."""
    return _LOCK_FILE.match(path.lower().rpartition("/")[2]) is not None


def has_generated_marker(head: bytes) -> bool:
    """The comment that a file begins with says that it is generated.

    Only that comment counts: generators contain such markers too, in the text that they write.
    """
    head = head[:_MARKER_BYTES]
    if b"generated" not in head.lower():
        return False
    return any(_GENERATED_MARKER.search(line) for line in _leading_comment(head.splitlines()))


def _leading_comment(lines: list[bytes]) -> Iterator[bytes]:
    """Comment lines up to the first line of anything else."""
    closing = b""
    for line in lines[:_MARKER_LINES]:
        text = line.strip()
        if closing:
            yield text
            closing = b"" if closing in text else closing
        elif block := next((block for block in _BLOCK_COMMENTS if text.startswith(block[0])), None):
            yield text
            closing = b"" if block[1] in text[len(block[0]) :] else block[1]
        elif text.startswith(_LINE_COMMENT):
            yield text
        elif text and not text.startswith(_PREAMBLE):
            return


def is_minified_text(text: bytes) -> bool:
    """Most of the text is in lines that nobody would write. One long literal among code is not enough."""
    if len(text) < _MINIFIED_MIN_BYTES:
        return False
    return _bytes_in_long_lines(text) * 2 > len(text)


def _bytes_in_long_lines(text: bytes) -> int:
    total = 0
    start = 0  # of a line
    while len(text) - start >= _LONG_LINE:
        last = text.rfind(b"\n", start, start + _LONG_LINE)
        if last < 0:  # else every line up to there is short
            last = text.find(b"\n", start)
            last = len(text) if last < 0 else last
            total += last - start
        start = last + 1
    return total


# --- binary -----------------------------------------------------------------------------------------------

_CONTROL = bytes(set(range(32)) - {7, 8, 9, 10, 11, 12, 13, 27}) + b"\x7f"
_MAGIC = (b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x7fELF")
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def is_binary(head: bytes) -> bool:
    """Git's rule (NUL among the first bytes), and what has no NUL but is no text either."""
    sample = head[:_BINARY_SAMPLE]
    if b"\0" in sample or sample.startswith(_MAGIC):
        return True
    if sample.startswith(_LFS_POINTER):
        return True  # a stand-in for content that is not here
    return len(sample) - len(sample.translate(None, _CONTROL)) > _MAX_CONTROL_SHARE * len(sample)


# --- flags ------------------------------------------------------------------------------------------------

_TEST_DIRECTORIES = frozenset({"tests", "__tests__", "spec", "specs", "e2e", "testdata", "unittests"})
_TEST_NAME = re.compile(
    r"^(?:test_.*|.*_test|tests?|conftest)\.pyi?$|_test\.\w+$|_(?:spec|unittest)\.\w+$|^test_[^/]*\.\w+$"
    r"|[.-](?:test|spec|tests|e2e)\.\w+$"
)
# Case matters here: LatestTest is one, Latest is not.
_TEST_CLASS_NAME = re.compile(r"(?:Tests?|Spec|TestCase|IT)\.(?:java|kt|kts|scala|cs|php|swift|groovy)$")
_VENDORED_DIRECTORIES = frozenset(
    {"vendor", "vendors", "vendored", "_vendor", "_vendored", "third_party", "third-party", "thirdparty", "3rdparty"}
    | {"node_modules", "bower_components", "jspm_packages", "pods", "carthage", "godeps"}
    | {"site-packages", ".venv", "venv"}
)


def file_flags(path: str, head: bytes) -> NodeFlag:
    """TEST, GENERATED and VENDORED for the whole file, from its path and first bytes."""
    lowered = path.lower()
    *directories, name = lowered.split("/")
    flags = NodeFlag.NONE
    if _is_test(path, directories, name):
        flags |= NodeFlag.TEST
    if not _VENDORED_DIRECTORIES.isdisjoint(directories) or directories[:1] == ["deps"]:
        flags |= NodeFlag.VENDORED
    if _is_generated(directories, name) or has_generated_marker(head):
        flags |= NodeFlag.GENERATED
    return flags


def _is_test(path: str, directories: list[str], name: str) -> bool:
    if _TEST_NAME.search(name) or _TEST_CLASS_NAME.search(path):
        return True
    if not _TEST_DIRECTORIES.isdisjoint(directories):
        return True
    # A package called `test` deep in a Python tree is often a testing library (django.test).
    return "test" in directories and (directories[0] == "test" or not name.endswith(".py"))


def _is_generated(directories: list[str], name: str) -> bool:
    return bool(_GENERATED_NAME.search(name)) or not _GENERATED_DIRECTORIES.isdisjoint(directories)
