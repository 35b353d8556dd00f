"""Configuration of the common coding agents: where each keeps its MCP servers, and how to add ours without harm.

A file is merged, never replaced: everything else in it stays, a file that cannot be understood is left alone, and
the write is atomic with the old file kept beside it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxsearch.graph.errors import CtxsearchError

NAME = "ctxsearch"


class AgentConfigError(CtxsearchError):
    """An agent's configuration cannot be changed safely."""


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent: its name for users and its file under the home (or project) directory."""

    name: str
    title: str
    path: str  # relative to home, or to the project when `in_project`
    key: str  # the object or table that holds servers
    in_project: bool = False
    toml: bool = False
    typed: bool = False  # wants "type": "stdio" with each server


AGENTS: tuple[Agent, ...] = (
    Agent("claude-code", "Claude Code (project)", ".mcp.json", "mcpServers", in_project=True, typed=True),
    Agent("claude-code-user", "Claude Code (user)", ".claude.json", "mcpServers", typed=True),
    Agent("cursor", "Cursor", ".cursor/mcp.json", "mcpServers"),
    Agent("vscode", "VS Code (project)", ".vscode/mcp.json", "servers", in_project=True, typed=True),
    Agent("codex", "Codex", ".codex/config.toml", "mcp_servers", toml=True),
    Agent("gemini", "Gemini CLI", ".gemini/settings.json", "mcpServers"),
    Agent("windsurf", "Windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers"),
)


def server_command() -> tuple[str, list[str]]:
    """How an agent starts our server: by the absolute path of this installation."""
    script = Path(sys.executable).parent / "ctxsearch"
    if script.exists():
        return str(script), ["mcp", "--yes"]
    return sys.executable, ["-P", "-m", "ctxsearch.daemon.cli", "mcp", "--yes"]


def config_path(agent: Agent, home: Path, project: Path) -> Path:
    """The agent's file."""
    return (project if agent.in_project else home) / agent.path


def install(agent: Agent, home: Path, project: Path) -> tuple[Path, bool]:
    """Adds our server to the agent's file; the file, and whether anything changed."""
    path = config_path(agent, home, project)
    before = _read(path)
    after = merge_toml(before, path) if agent.toml else merge_json(before, agent, path)
    if after == before:
        return path, False
    _write(path, before, after)
    return path, True


def merge_json(before: str, agent: Agent, path: Path) -> str:
    """The JSON text with our server in it; what else it says is kept in its order."""
    try:
        config: Any = json.loads(before) if before.strip() else {}
    except ValueError as error:
        raise AgentConfigError(f"{path} is not plain JSON ({error}); add the server by hand") from error
    servers = config.setdefault(agent.key, {}) if isinstance(config, dict) else None
    if not isinstance(servers, dict):
        raise AgentConfigError(f"{path} has no object {agent.key!r}; add the server by hand")
    command, arguments = server_command()
    entry: dict[str, Any] = {"type": "stdio"} if agent.typed else {}
    servers[NAME] = entry | {"command": command, "args": arguments}
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"


def merge_toml(before: str, path: Path) -> str:
    """The TOML text with our table in it; the rest stays byte for byte, comments included."""
    import tomllib

    command, arguments = server_command()
    table = f"[mcp_servers.{NAME}]\ncommand = {json.dumps(command)}\nargs = {json.dumps(arguments)}\n"
    # Our own table up to the next header or the end; a header is a line that begins with '['.
    own = re.compile(rf"^\[mcp_servers\.{NAME}\]\n(?:(?!\[).*\n?)*", re.MULTILINE)
    try:
        known = tomllib.loads(before).get("mcp_servers", {})
    except ValueError as error:
        raise AgentConfigError(f"{path} is not TOML ({error}); add the server by hand") from error
    if own.search(before):
        after = own.sub(lambda _: table, before, count=1)
    elif NAME in known:
        raise AgentConfigError(f"{path} has {NAME} in another form; change it by hand")
    else:
        after = (before.rstrip("\n") + "\n\n" if before.strip() else "") + table
    tomllib.loads(after)
    return after


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise AgentConfigError(f"{path} cannot be read: {error}") from error


def _write(path: Path, before: str, after: str) -> None:
    target = path.resolve()  # a configuration kept by symlink elsewhere stays so
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    if before:
        _replace(target.with_name(target.name + ".ctxsearch-backup"), before, mode)
    _replace(target, after, mode)


def _replace(target: Path, text: str, mode: int) -> None:
    fd, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
