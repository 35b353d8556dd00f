"""MCP with the real client of the `mcp` package: over stdio, over HTTP, and into agents' configuration."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from daemon_project import Served
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from ctxsearch.daemon.agents import AGENTS, AgentConfigError, config_path, install, merge_json, merge_toml
from ctxsearch.daemon.mcp import CHARS_PER_TOKEN, node_text, within_budget
from ctxsearch.v1 import graph_pb2, node_pb2

TOOLS = {"search_context", "get_node", "callers", "dependencies", "impact", "index_status"}


def environment(served: Served) -> dict[str, str]:
    return {
        "CTXSEARCH_DATA_DIR": str(served.settings.data_dir),
        "CTXSEARCH_RUNTIME_DIR": str(served.settings.runtime_dir),
        "CTXSEARCH_CONFIG": str(served.settings.data_dir / "config.toml"),
    }


def stdio(served: Served) -> StdioServerParameters:
    command = ["-P", "-m", "ctxsearch.daemon.cli", "mcp"]
    return StdioServerParameters(command=sys.executable, args=command, env=environment(served), cwd=served.root)


def text_of(result: Any) -> str:
    return "\n".join(part.text for part in result.content)


def test_an_agent_searches_and_walks_the_graph_over_stdio(served: Served) -> None:
    async def talk() -> None:
        async with Client(stdio(served)) as client:
            tools = (await client.list_tools()).tools
            assert {tool.name for tool in tools} == TOOLS
            assert all(tool.description and len(tool.description) > 60 for tool in tools)
            found = text_of(await client.call_tool("search_context", {"query": "reduce a price", "k": 3}))
            assert "shop/pricing.py:" in found
            assert "\x1b" not in found
            node = text_of(await client.call_tool("get_node", {"symbol": "apply_discount"}))
            assert "never below zero" in node
            callers = text_of(await client.call_tool("callers", {"symbol": "apply_discount", "depth": 2}))
            assert "place_order" in callers
            needs = text_of(await client.call_tool("dependencies", {"symbol": "place_order"}))
            assert "total_price" in needs
            hit = text_of(await client.call_tool("impact", {"symbol": "apply_discount"}))
            assert "test_apply_discount" in hit
            assert "shop: idle" in text_of(await client.call_tool("index_status", {}))
            wide = await client.call_tool("search_context", {"query": "price", "expand": "callers", "paths": ["shop/"]})
            assert "tests/" not in text_of(wide)

    anyio.run(talk)


def test_answers_stay_within_the_budget_and_say_what_they_left_out(served: Served) -> None:
    async def talk() -> None:
        async with Client(stdio(served)) as client:
            small = text_of(await client.call_tool("search_context", {"query": "price", "k": 20, "max_tokens": 150}))
            large = text_of(await client.call_tool("search_context", {"query": "price", "k": 20}))
            assert len(small) < len(large)
            assert len(small) <= 150 * CHARS_PER_TOKEN

    anyio.run(talk)


def test_errors_are_sentences_an_agent_can_act_on(served: Served) -> None:
    async def talk() -> None:
        async with Client(stdio(served)) as client:
            missing = await client.call_tool("callers", {"symbol": "aply_discount"})
            assert missing.is_error
            assert "apply_discount" in text_of(missing)
            unknown = await client.call_tool("index_status", {"repository": "nope"})
            assert "no repository 'nope'" in text_of(unknown)
            wrong = await client.call_tool("search_context", {"query": ""})
            assert wrong.is_error
            assert "text" in text_of(wrong)

    anyio.run(talk)


def test_an_argument_that_no_tool_has_is_refused_with_those_that_it_has(served: Served) -> None:
    async def talk() -> None:
        async with Client(stdio(served)) as client:
            wrong = await client.call_tool("search_context", {"query": "price", "max_results": 3})
            assert wrong.is_error
            assert "unknown argument 'max_results'; search_context takes query, k, mode" in text_of(wrong)
            for tool in TOOLS:
                refused = await client.call_tool(tool, {"symbol_name": "x"})
                assert refused.is_error
                assert f"unknown argument 'symbol_name'; {tool} takes" in text_of(refused)

    anyio.run(talk)


def test_nodes_and_files_are_resources(served: Served) -> None:
    async def talk() -> None:
        async with Client(stdio(served)) as client:
            templates = {t.uri_template for t in (await client.list_resource_templates()).resource_templates}
            assert len(templates) == 2
            outline = await client.read_resource("ctxsearch://shop/file/shop/pricing.py")
            assert "apply_discount" in outline.contents[0].text  # type: ignore[union-attr]
            assert "\x1b" not in outline.contents[0].text  # type: ignore[union-attr]
            with pytest.raises(MCPError, match="no repository 'nope'"):
                await client.read_resource("ctxsearch://nope/file/a.py")

    anyio.run(talk)


@pytest.fixture
def http(served: Served) -> Iterator[tuple[str, str]]:
    """A server on a free port of loopback: its address and its token."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "ctxsearch.daemon.cli", "mcp", "--http", "0"],
        cwd=served.root,
        env=os.environ | environment(served) | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    url = process.stdout.readline().removeprefix("url: ").strip()
    token = process.stdout.readline().removeprefix("token: ").strip()
    yield url, token
    process.kill()
    process.wait()
    process.stdout.close()


def test_http_answers_with_the_token_and_refuses_everything_else(http: tuple[str, str]) -> None:
    url, token = http
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", url)

    async def talk() -> None:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as web,
            Client(streamable_http_client(url, http_client=web)) as client,  # type: ignore[arg-type]
        ):
            assert "shop" in text_of(await client.call_tool("index_status", {}))

    anyio.run(talk)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    right = accept | {"Authorization": f"Bearer {token}"}
    for headers, status in (
        (accept, 401),
        (accept | {"Authorization": "Bearer wrong"}, 401),
        (right | {"Host": "evil.example"}, 421),
        (right | {"Origin": "http://evil.example"}, 403),
    ):
        assert httpx2.post(url, json=body, headers=headers, timeout=30).status_code == status


def test_a_node_whose_file_changed_since_is_marked_for_an_agent() -> None:
    node = node_pb2.Node(name="settle", path="shop/till.py", start_line=3, changed_on_disk=True)
    assert (
        within_budget(node_text(graph_pb2.GetNodeResponse(node=node)), 100).split("\n")[0].endswith("  changed on disk")
    )


def test_a_budget_cuts_whole_lines() -> None:
    cut = within_budget(["a" * 100] * 10, 100)
    assert cut.splitlines()[:2] == ["a" * 100] * 2
    assert len(cut) <= 100 * CHARS_PER_TOKEN, "the note of what was left out counts too"
    assert "8 more lines" in cut
    assert within_budget(["short"], 100) == "short"


def test_what_is_said_of_an_answer_as_a_whole_is_not_cut_first() -> None:
    cut = within_budget(["a" * 100] * 10, 100, ["3 files changed", "\x1b[33m2 texts were cut\x1b[0m"])
    assert cut.splitlines()[-3:] == [
        "... 8 more lines; raise max_tokens or narrow the question",
        "3 files changed",
        "2 texts were cut",
    ]
    assert len(cut) <= 100 * CHARS_PER_TOKEN
    long = within_budget(["a" * 100] * 10, 100, ["b" * 300])
    assert long.splitlines()[0] == "a" * 100, "notes leave room for what was found"
    assert "9 more lines" in long
    assert within_budget(["short"], 100, ["note"]) == "short\nnote"


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_installing_adds_our_server_and_keeps_the_rest(agent: Any, tmp_path: Path) -> None:
    path = config_path(agent, tmp_path / "home", tmp_path / "project")
    path.parent.mkdir(parents=True)
    before = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "o"\n' if agent.toml else '{"theme": "dark"}'
    path.write_text(before)
    written, changed = install(agent, tmp_path / "home", tmp_path / "project")
    assert (written, changed) == (path, True)
    config = tomllib.loads(path.read_text()) if agent.toml else json.loads(path.read_text())
    entry = config[agent.key]["ctxsearch"]
    assert entry["args"][-2:] == ["mcp", "--yes"]
    assert config.get("theme") == "dark" or config["mcp_servers"]["other"] == {"command": "o"}
    assert not agent.toml or path.read_text().startswith("# mine\n")
    assert path.with_name(path.name + ".ctxsearch-backup").read_text() == before
    assert install(agent, tmp_path / "home", tmp_path / "project") == (path, False)


def test_a_file_that_is_not_understood_is_left_alone(tmp_path: Path) -> None:
    agent = next(agent for agent in AGENTS if agent.name == "cursor")
    for text in ('{"a": 1, // comment\n}', "[1, 2]", '{"mcpServers": []}'):
        with pytest.raises(AgentConfigError, match="by hand"):
            merge_json(text, agent, tmp_path / "x")
    with pytest.raises(AgentConfigError, match="by hand"):
        merge_toml("not = = toml", tmp_path / "x")
    with pytest.raises(AgentConfigError, match="by hand"):
        merge_toml('mcp_servers = { ctxsearch = { command = "x" } }\n', tmp_path / "x")


def test_an_old_entry_of_ours_is_replaced_in_place(tmp_path: Path) -> None:
    before = '[mcp_servers.ctxsearch]\ncommand = "old"\nargs = []\n\n[other]\nx = 1\n'
    after = tomllib.loads(merge_toml(before, tmp_path / "x"))
    assert after["other"] == {"x": 1}
    assert after["mcp_servers"]["ctxsearch"]["command"] != "old"
