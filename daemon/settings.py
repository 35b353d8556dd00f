"""Every setting of the daemon and its clients, read once. The only module that reads the environment.

A value comes from the command line, else from `CTXSEARCH_<NAME>`, else from `config.toml` in the user's
configuration directory, else from the default below. Nothing here creates or changes a file.
"""

from __future__ import annotations

import dataclasses
import hashlib
import ipaddress
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ctxsearch.graph.errors import CtxsearchError

if TYPE_CHECKING:
    from ctxsearch.search.providers import Providers

SOCKET_PATH_LIMIT = 100  # bytes; sun_path holds 104 on macOS and 108 on Linux, terminator included
PREFIX = "CTXSEARCH_"
FRESHNESS_CLOCKS = ("history", "wall")
LOG_LEVELS = ("debug", "info", "warning", "error")
OWN_PROVIDERS = {"full_text": ("tantivy",), "vector": ("lancedb",), "embedder": ("bundled", "onnx", "openai")}
SECRETS = ("token", "embedder_key")  # never shown; each may also come from the file that CTXSEARCH_<NAME>_FILE names
_YEAR_SECONDS = 366 * 24 * 3600
_MESSAGE_BYTES = (1 << 31) - 1  # gRPC counts in 32 bits
# What a number may be. Outside of it the daemon would not start, would not stop, or would do nothing but look around.
_RANGES: dict[str, tuple[float, float]] = {
    "idle_timeout_seconds": (0, _YEAR_SECONDS),
    "metrics_port": (0, 65535),
    "max_request_bytes": (1, _MESSAGE_BYTES),
    "max_response_bytes": (1, _MESSAGE_BYTES),
    "max_concurrent_requests": (1, 10_000),
    "memory_budget_mb": (1, 1 << 40),
    "max_file_bytes": (1, 1 << 40),
    "parse_workers": (0, 1024),
    "debounce_ms": (0, 60_000),
    "reconcile_seconds": (1, _YEAR_SECONDS),
    "indexing_niceness": (0, 19),
    "worker_idle_seconds": (0, _YEAR_SECONDS),
    "model_idle_seconds": (0, _YEAR_SECONDS),
    "embedder_dimension": (0, 65_536),
    "freshness_fresh_days": (0, 1_000_000),
    "freshness_fresh_commits": (0, 1_000_000_000),
    "freshness_old_days": (0, 1_000_000),
    "freshness_old_commits": (0, 1_000_000_000),
    "freshness_living_days": (0, 1_000_000),
    "freshness_quiet_days": (0, 1_000_000),
    "freshness_quiet_files": (1, 1_000_000_000),
    "freshness_confidence": (0, 1),
    "freshness_risky_fixes": (1, 1_000_000_000),
}


class BadSettingError(CtxsearchError):
    """A setting has a value that cannot be used."""


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """What a user may choose. Every field but the two directories can stand in config.toml by its name."""

    data_dir: Path
    runtime_dir: Path  # holds the socket; mode 0700
    idle_timeout_seconds: float = 4 * 3600.0  # of an auto-started daemon; 0 = never
    listen: str = ""  # host:port to serve on beside the socket; "" = the socket alone
    allow_remote: bool = False  # the second asking: serve beyond loopback
    tls_certificate: str = ""  # PEM file
    tls_key: str = ""  # PEM file
    token: str = dataclasses.field(default="", repr=False)  # bearer token of TCP peers
    metrics_port: int = 0  # Prometheus on 127.0.0.1; 0 = off
    otlp_endpoint: str = ""  # OpenTelemetry collector (gRPC) that gets a span per request; "" = none
    max_request_bytes: int = 1 << 20
    max_response_bytes: int = 32 << 20
    max_concurrent_requests: int = 64
    memory_budget_mb: int = 1536  # of all processes while indexing
    max_file_bytes: int = 1 << 20  # larger files are skipped
    parse_workers: int = 0  # 0 = one per core, at most 4
    watch: bool = True
    debounce_ms: int = 50
    reconcile_seconds: float = 300.0
    indexing_niceness: int = 10  # indexing yields to answering
    worker_idle_seconds: float = 1800.0  # an indexing process leaves when nothing was changed or asked for so long
    model_idle_seconds: float = 1800.0  # the model leaves memory when nothing was embedded for so long
    full_text: str = "tantivy"  # providers by name: those of this package, or of another one's entry points
    vector: str = "lancedb"
    embedder: str = "bundled"  # "onnx": a model in a directory; "openai": an endpoint, which code is sent to
    embedder_path: str = ""  # of "onnx": directory with model.onnx and tokenizer.json
    embedder_url: str = ""  # of "openai": up to and without /embeddings
    embedder_model: str = ""
    embedder_dimension: int = 0  # numbers per vector
    embedder_key: str = dataclasses.field(default="", repr=False)
    freshness_clock: str = "history"  # age is counted to HEAD's commit; "wall": to now
    # Where the classes of freshness begin; docs/freshness.md says what each does and what it costs.
    freshness_fresh_days: int = 1  # a file whose every line was written within these is fresh; 0 = none is by that
    freshness_fresh_commits: int = 1  # or by that many newest commits
    freshness_old_days: int = 365  # old is past both
    freshness_old_commits: int = 500
    freshness_living_days: int = 365
    freshness_quiet_days: int = 700
    freshness_quiet_files: int = 2
    freshness_confidence: float = 0.8
    freshness_risky_fixes: int = 3
    log_level: str = "info"

    @property
    def socket_path(self) -> Path:
        """One socket per data directory, under a name that stays short."""
        return self.runtime_dir / f"{_fingerprint(self.data_dir)}.sock"

    @property
    def address(self) -> str:
        """The socket as a gRPC target."""
        return f"unix:{self.socket_path}"

    @property
    def lock_path(self) -> Path:
        """Held by the daemon for as long as it lives."""
        return self.data_dir / "daemon.lock"

    @property
    def start_lock_path(self) -> Path:
        """Held by a client while it starts a daemon."""
        return self.data_dir / "start.lock"

    @property
    def log_path(self) -> Path:
        """The daemon's log, rotated."""
        return self.data_dir / "logs" / "daemon.log"

    @property
    def effective_parse_workers(self) -> int:
        """Parser processes of one indexing process."""
        return self.parse_workers or min(os.cpu_count() or 1, 4)

    @property
    def providers(self) -> Providers:
        """Who indexes and embeds."""
        from ctxsearch.search.providers import ModelOptions, Providers

        options = ModelOptions(
            path=str(Path(self.embedder_path).expanduser()) if self.embedder_path else "",
            url=self.embedder_url,
            model=self.embedder_model,
            dimension=self.embedder_dimension,
            key=self.embedder_key,
        )
        return Providers(self.full_text, self.vector, self.embedder, options)

    @property
    def repositories_dir(self) -> Path:
        """One directory per repository identity."""
        return self.data_dir / "repositories"


def load_settings(overrides: Mapping[str, Any] | None = None) -> Settings:
    """Settings of this process; `overrides` come from the command line and win."""
    return read_settings(os.environ, overrides or {})


def read_settings(environ: Mapping[str, str], overrides: Mapping[str, Any]) -> Settings:
    """Settings from the given sources; raises BadSettingError naming source, setting and value."""
    values: dict[str, Any] = {}
    values |= _from_file(_config_path(environ))
    values |= _from_environ(environ)
    values |= {name: value for name, value in overrides.items() if value is not None}
    data_dir = Path(values.pop("data_dir", None) or _user_dir("data")).expanduser().absolute()
    runtime_dir = values.pop("runtime_dir", None)
    chosen = Path(runtime_dir).absolute() if runtime_dir else default_runtime_dir(environ)
    settings = Settings(data_dir=data_dir, runtime_dir=chosen, **values)
    _check(settings)
    return settings


def default_runtime_dir(environ: Mapping[str, str]) -> Path:
    """A private directory for the socket, short enough for a socket's path."""
    own = Path(tempfile.gettempdir()) / f"ctxsearch-{os.getuid()}"
    base = environ.get("XDG_RUNTIME_DIR", "")
    if not base or not Path(base).is_dir():
        return own
    chosen = Path(base) / "ctxsearch"
    return chosen if _socket_fits(chosen) else own


def editor_command() -> str:
    """The user's editor, for `--open`."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"


def child_environment(settings: Settings) -> dict[str, str]:
    """Environment of a daemon that a client starts: the client's own, and the same two directories."""
    return {
        **os.environ,
        f"{PREFIX}DATA_DIR": str(settings.data_dir),
        f"{PREFIX}RUNTIME_DIR": str(settings.runtime_dir),
        "MALLOC_ARENA_MAX": "2",  # an arena per thread would keep what each once needed
    }


def agent_home() -> Path:
    """Where coding agents keep their configuration."""
    return Path.home()


def _user_dir(kind: str) -> str:
    import platformdirs

    if kind == "config":
        return platformdirs.user_config_dir("ctxsearch", appauthor=False)
    return platformdirs.user_data_dir("ctxsearch", appauthor=False)


def _config_path(environ: Mapping[str, str]) -> Path:
    return Path(environ.get(f"{PREFIX}CONFIG") or Path(_user_dir("config")) / "config.toml")


def _from_file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    import tomllib

    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadSettingError(f"{path}: cannot be read: {error}") from error
    return {name: _convert(name, value, str(path)) for name, value in values.items()}


def _from_environ(environ: Mapping[str, str]) -> dict[str, Any]:
    found = {name: environ[PREFIX + name.upper()] for name in _FIELDS if environ.get(PREFIX + name.upper())}
    for name in SECRETS:
        variable = f"{PREFIX}{name.upper()}_FILE"
        if environ.get(variable):
            found[name] = _read_secret(Path(environ[variable]), variable)
    return {name: _convert(name, value, PREFIX + name.upper()) for name, value in found.items()}


def _read_secret(path: Path, variable: str) -> str:
    try:
        secret = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettingError(f"{variable}: cannot be read: {error}") from error
    if not secret:  # "" would mean that none is needed
        raise BadSettingError(f"{variable}: {path} is empty")
    return secret


def _boolean(value: Any) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    return words[str(value).lower()]


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "bool": _boolean,
    "int": int,
    "float": float,
    "str": str,
    "Path": str,
}
_FIELDS: dict[str, str] = {field.name: str(field.type) for field in dataclasses.fields(Settings)}


def _convert(name: str, value: Any, source: str) -> Any:
    if name not in _FIELDS:
        raise BadSettingError(f"{source}: unknown setting {name!r}; known: {', '.join(sorted(_FIELDS))}")
    try:
        converted = _CONVERTERS[_FIELDS[name]](value)
        return converted.strip() if name in SECRETS else converted
    except (KeyError, TypeError, ValueError) as error:
        shown = "(hidden)" if name in SECRETS else repr(value)
        raise BadSettingError(f"{source}: {name} must be {_FIELDS[name]}, not {shown}") from error


def _check(settings: Settings) -> None:
    if not _socket_fits(settings.runtime_dir):
        raise BadSettingError(
            f"runtime_dir {settings.runtime_dir} makes the socket's path longer than {SOCKET_PATH_LIMIT} bytes; "
            f"set {PREFIX}RUNTIME_DIR to a shorter one"
        )
    for name, (low, high) in _RANGES.items():
        value = getattr(settings, name)
        if not value >= low:  # so that a NaN is refused as well
            raise BadSettingError(f"{name} must be at least {low}, not {value}")
        if value > high:
            raise BadSettingError(f"{name} must be at most {high}, not {value}")
    _check_choice("log_level", settings.log_level.lower(), LOG_LEVELS)
    _check_choice("freshness_clock", settings.freshness_clock, FRESHNESS_CLOCKS)
    for unit in ("days", "commits"):
        fresh, old = (getattr(settings, f"freshness_{kind}_{unit}") for kind in ("fresh", "old"))
        if fresh > old:
            raise BadSettingError(f"freshness_fresh_{unit} ({fresh}) must not exceed freshness_old_{unit} ({old})")
    _check_collector(settings)
    for name in SECRETS:
        if not (getattr(settings, name).isascii() and getattr(settings, name).isprintable()):
            raise BadSettingError(f"{name} (hidden) must be of printable ASCII characters, without a line's end")
    for kind, own in OWN_PROVIDERS.items():
        _check_provider(kind, getattr(settings, kind), own)
    if settings.embedder == "onnx" and not Path(settings.embedder_path).expanduser().is_absolute():
        raise BadSettingError(
            f"embedder onnx needs embedder_path, the absolute path of a directory with model.onnx and tokenizer.json, "
            f"not {settings.embedder_path!r}"
        )
    if settings.embedder == "openai":
        _check_endpoint(settings)


def _check_provider(kind: str, name: str, own: tuple[str, ...]) -> None:
    if name in own:  # as good as always: what is installed need not be looked through
        return
    from ctxsearch.search.providers import known_providers

    _check_choice(kind, name, known_providers(f"ctxsearch.{kind}"))


def _check_endpoint(settings: Settings) -> None:
    try:
        url = urlsplit(settings.embedder_url)
        whole = url.hostname if url.scheme in ("http", "https") and url.port != 0 else None
    except ValueError:  # of a port or an address
        whole = None
    if not whole or url.query or url.fragment or any(not char.isprintable() or char == " " for char in url.geturl()):
        raise BadSettingError("embedder openai needs embedder_url, http(s)://HOST[:PORT]/..., without ? and #")
    if url.username is not None or url.password is not None:
        raise BadSettingError("embedder_url must not hold a user or a password; embedder_key is for keys")
    if not settings.embedder_model or not settings.embedder_dimension:
        raise BadSettingError("embedder openai needs embedder_model and embedder_dimension")
    if url.scheme == "http" and not is_loopback(whole) and not settings.allow_remote:
        raise BadSettingError(f"an endpoint beyond loopback ({whole}) needs https, or allow_remote")


def _check_collector(settings: Settings) -> None:
    if not settings.otlp_endpoint:
        return
    url = urlsplit(settings.otlp_endpoint)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise BadSettingError(f"otlp_endpoint must be http(s)://HOST:PORT, not {settings.otlp_endpoint!r}")
    if not is_loopback(url.hostname) and not (settings.allow_remote and url.scheme == "https"):
        raise BadSettingError(f"a collector beyond loopback ({url.hostname}) needs: allow_remote, https")


def is_loopback(host: str) -> bool:
    """True only for addresses that certainly stay on this machine; names other than localhost may not."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise BadSettingError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")


def _socket_fits(runtime_dir: Path) -> bool:
    return len(os.fsencode(runtime_dir / f"{_fingerprint(Path('/'))}.sock")) <= SOCKET_PATH_LIMIT


def _fingerprint(data_dir: Path) -> str:
    resolved = os.fsencode(os.path.realpath(data_dir))
    return hashlib.blake2b(resolved, digest_size=8).hexdigest()


def tame_native_libraries() -> None:
    """Before numpy is imported: its threads spin while they wait, which doubles the cost of a small product."""
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # its own pool gives nothing back


def no_color() -> bool:
    """https://no-color.org: any value means plain text."""
    return bool(os.environ.get("NO_COLOR"))


def keep_children_safe() -> None:
    """Python processes that we start never import from the current directory, which may be a hostile repository."""
    os.environ["PYTHONSAFEPATH"] = "1"
