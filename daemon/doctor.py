"""Looks at everything the daemon depends on, repairs what it can, and says the next step for the rest."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ctxsearch.daemon import client
from ctxsearch.daemon.layout import Layout
from ctxsearch.daemon.lock import make_private_directory
from ctxsearch.daemon.registry import Registry, RegistryCorruptError, RepositoryRecord
from ctxsearch.daemon.settings import Settings
from ctxsearch.daemon.version import VERSION
from ctxsearch.graph.catalog import Catalog, CatalogError, CatalogMissingError
from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.search.errors import SearchError

LOW_SPACE_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    subject: str
    ok: bool
    state: str
    step: str = ""  # what to do, or what was done


def examine(settings: Settings, *, repair: bool) -> Iterator[Finding]:
    """Every finding, as it is made."""
    yield _data_dir(settings, repair)
    yield _disk(settings)
    yield _git()
    yield _grammars()
    yield _model(settings)
    yield _socket(settings, repair)
    yield from _daemon(settings)
    yield from _indexes(settings, repair)
    yield from _leftovers(settings, repair)


def _data_dir(settings: Settings, repair: bool) -> Finding:
    path = settings.data_dir
    if not path.exists():
        return Finding("data directory", True, f"{path} is not there yet", "any search makes it")
    if not path.stat().st_mode & 0o077:
        return Finding("data directory", True, f"{path} is private")
    if repair:
        make_private_directory(path)
        return Finding("data directory", True, f"{path} was open to others", "closed it")
    return Finding("data directory", False, f"{path} is open to others", f"run `chmod 700 {path}`")


def _disk(settings: Settings) -> Finding:
    place = next(folder for folder in (settings.data_dir, *settings.data_dir.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    enough = free >= LOW_SPACE_BYTES
    return Finding("disk", enough, f"{free >> 20} MB free", "" if enough else "free some space: indexing needs it")


def _git() -> Finding:
    found = shutil.which("git")
    if found is None:
        return Finding("git", False, "not found", "install git: ignore rules and history come from it")
    return Finding("git", True, found)


def _grammars() -> Finding:
    from ctxsearch.indexer.languages import LANGUAGES, missing_grammars

    missing = missing_grammars()
    if not missing:
        return Finding("grammars", True, f"{sum(bool(spec.grammar) for spec in LANGUAGES)} languages can be parsed")
    listed = "; ".join(f"{name} ({why})" for name, why in missing.items())
    packages = " ".join(dict.fromkeys(why.partition(":")[0] for why in missing.values()))
    return Finding("grammars", False, f"cannot parse {listed}", f"run `pip install {packages}`")


def _model(settings: Settings) -> Finding:
    """Whether a text can be embedded; of an endpoint that a word can be sent there."""
    try:
        embedder = settings.providers.open_embedder()
        embedder.embed_query("ready")
    except SearchError as error:
        return Finding("embedding model", False, str(error), "mend that, or take `embedder` out of the settings")
    return Finding("embedding model", True, f"{embedder.model_id}, {embedder.dimension} dimensions")


def _socket(settings: Settings, repair: bool) -> Finding:
    path = settings.socket_path
    if not path.exists():
        return Finding("socket", True, "none, no daemon is serving")
    if client.is_running(settings):
        mode = stat.S_IMODE(path.stat().st_mode)
        return Finding(
            "socket", mode == 0o600, f"{path} has mode {mode:o}", "" if mode == 0o600 else "restart the daemon"
        )
    if repair:
        path.unlink(missing_ok=True)
        return Finding("socket", True, f"{path} was left by a daemon that died", "removed it")
    return Finding("socket", False, f"{path} was left by a daemon that died", "run `ctxsearch doctor` to remove it")


def _daemon(settings: Settings) -> Iterator[Finding]:
    try:
        found = client.probe(settings)
    except CtxsearchError as error:
        yield Finding("daemon", False, str(error), _end_it(settings))
        return
    if found is None:
        hung = client.is_running(settings)
        state = "its process lives but does not serve" if hung else "not running"
        yield Finding("daemon", not hung, state, _end_it(settings) if hung else "any search starts it")
        return
    with found:
        info = found.info
    same = info.version == VERSION
    step = "" if same else f"this client is {VERSION}; run `ctxsearch daemon stop`"
    yield Finding("daemon", same, f"{info.version} serves, process {info.pid}", step)


def _end_it(settings: Settings) -> str:
    """What to do about a daemon that cannot be asked to stop; nothing is lost by it."""
    holder = settings.lock_path.read_text(encoding="ascii", errors="replace").strip()
    return f"see {settings.log_path}; `kill -9 {holder}` ends it, any search starts another"


def _indexes(settings: Settings, repair: bool) -> Iterator[Finding]:
    try:
        records = Registry(settings.data_dir / "repositories.json").all()
    except RegistryCorruptError as error:
        yield _registry(settings, error, repair)
        return
    for record in records:
        yield _root(record)
        yield _catalog(settings, record, repair)


def _registry(settings: Settings, error: RegistryCorruptError, repair: bool) -> Finding:
    path = settings.data_dir / "repositories.json"
    if repair and not client.is_running(settings):
        path.replace(path.with_name(path.name + ".broken"))
        return Finding("repositories", False, str(error), "set aside; add your repositories again")
    return Finding("repositories", False, str(error), "stop the daemon and run `ctxsearch doctor` again")


def _root(record: RepositoryRecord) -> Finding:
    there = Path(record.root).is_dir()
    state = f"root {record.root}" + ("" if there else " is gone")
    return Finding(record.name, there, state, "" if there else f"run `ctxsearch remove {record.name}`")


def _catalog(settings: Settings, record: RepositoryRecord, repair: bool) -> Finding:
    layout = Layout(settings.repositories_dir / record.id)
    path = layout.catalog
    try:
        with Catalog.open(path, read_only=True) as catalog:
            problems = catalog.verify()
            generation = catalog.generation
    except CatalogMissingError:
        return Finding(record.name, False, "has no index", f"run `ctxsearch refresh {record.name}`")
    except CatalogError as error:
        problems, generation = (error.reason,), 0
    if not problems:
        return Finding(record.name, True, f"index verified, generation {generation}")
    again = f"run `ctxsearch refresh {record.name} --full`"
    if repair and not client.is_running(settings):
        Catalog.rebuild(path, layout.last_generation)
        return Finding(record.name, False, f"index was damaged: {problems[0]}", f"set aside; {again}")
    return Finding(record.name, False, f"index is damaged: {problems[0]}", again)


def _leftovers(settings: Settings, repair: bool) -> Iterator[Finding]:
    """Data of repositories that are not on the list any more."""
    try:
        known = {record.id for record in Registry(settings.data_dir / "repositories.json").all()}
    except RegistryCorruptError:
        return
    folder = settings.repositories_dir
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name in known:
            continue
        if repair:
            shutil.rmtree(path, ignore_errors=True)
        yield Finding("leftover", repair, f"{path} belongs to no repository", "removed it" if repair else "delete it")
