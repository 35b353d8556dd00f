"""Where settings come from, and what is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from ctxsearch.daemon.freshness import FreshnessRules
from ctxsearch.daemon.settings import SOCKET_PATH_LIMIT, BadSettingError, Settings, default_runtime_dir, read_settings
from ctxsearch.graph.freshness import Thresholds


def test_command_line_wins_over_environment_wins_over_file(environ: dict[str, str]) -> None:
    Path(environ["CTXSEARCH_CONFIG"]).write_text("metrics_port = 1\ndebounce_ms = 2\nparse_workers = 3\n")
    environ |= {"CTXSEARCH_DEBOUNCE_MS": "20", "CTXSEARCH_PARSE_WORKERS": "30"}
    settings = read_settings(environ, {"parse_workers": 300, "listen": None})
    assert (settings.metrics_port, settings.debounce_ms, settings.parse_workers) == (1, 20, 300)


@pytest.mark.parametrize(("value", "meant"), [("yes", True), ("off", False), ("1", True), ("False", False)])
def test_switches_are_read_as_words(environ: dict[str, str], value: str, meant: bool) -> None:
    assert read_settings(environ | {"CTXSEARCH_WATCH": value}, {}).watch is meant


def test_a_wrong_value_names_source_and_setting(environ: dict[str, str]) -> None:
    with pytest.raises(BadSettingError, match="CTXSEARCH_METRICS_PORT: metrics_port must be int, not 'many'"):
        read_settings(environ | {"CTXSEARCH_METRICS_PORT": "many"}, {})


def test_an_unknown_setting_in_the_file_is_refused(environ: dict[str, str]) -> None:
    Path(environ["CTXSEARCH_CONFIG"]).write_text("metric_port = 1\n")
    with pytest.raises(BadSettingError, match="unknown setting 'metric_port'"):
        read_settings(environ, {})


def test_limits_must_be_positive(environ: dict[str, str]) -> None:
    with pytest.raises(BadSettingError, match="max_request_bytes must be at least 1"):
        read_settings(environ | {"CTXSEARCH_MAX_REQUEST_BYTES": "0"}, {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("idle_timeout_seconds", "nan"),
        ("idle_timeout_seconds", "inf"),
        ("idle_timeout_seconds", "-1"),
        ("reconcile_seconds", "0"),
        ("debounce_ms", "-5"),
        ("worker_idle_seconds", "nan"),
        ("memory_budget_mb", "0"),
        ("metrics_port", "70000"),
        ("max_request_bytes", "99999999999999"),
        ("parse_workers", "-1"),
        ("indexing_niceness", "-5"),
        ("log_level", "loud"),
        ("freshness_confidence", "nan"),
        ("freshness_quiet_files", "0"),
    ],
)
def test_a_value_that_a_daemon_could_not_live_with_is_refused(environ: dict[str, str], name: str, value: str) -> None:
    with pytest.raises(BadSettingError, match=f"{name} must be .*, not '?{value}"):
        read_settings(environ | {f"CTXSEARCH_{name.upper()}": value}, {})


def test_the_token_comes_from_a_file_and_is_never_shown(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret-token\n")
    settings = read_settings(environ | {"CTXSEARCH_TOKEN_FILE": str(tmp_path / "token")}, {})
    assert settings.token == "s3cret-token"
    assert "s3cret" not in repr(settings)


def test_an_empty_token_file_does_not_mean_that_no_token_is_needed(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "token").write_text("\n")
    with pytest.raises(BadSettingError, match="is empty"):
        read_settings(environ | {"CTXSEARCH_TOKEN_FILE": str(tmp_path / "token")}, {})


def test_a_long_runtime_directory_is_not_used_for_the_socket(environ: dict[str, str], tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    chosen = default_runtime_dir({"XDG_RUNTIME_DIR": str(deep)})
    assert not chosen.is_relative_to(deep)
    with pytest.raises(BadSettingError, match="shorter"):
        read_settings(environ | {"CTXSEARCH_RUNTIME_DIR": str(deep)}, {})


def test_every_data_directory_has_a_short_socket_of_its_own(environ: dict[str, str], tmp_path: Path) -> None:
    one = read_settings(environ | {"CTXSEARCH_DATA_DIR": str(tmp_path / ("a" * 200))}, {})
    two = read_settings(environ | {"CTXSEARCH_DATA_DIR": str(tmp_path / ("b" * 200))}, {})
    assert one.socket_path != two.socket_path
    assert len(str(one.socket_path)) <= SOCKET_PATH_LIMIT


def test_freshness_settings_are_the_thresholds_by_name_and_default() -> None:
    defaults = dataclasses.asdict(Thresholds())
    kept = {field.name: field.default for field in dataclasses.fields(Settings)}
    assert {name: kept[f"freshness_{name}"] for name in defaults} == defaults


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FRESHNESS_CLOCK", "sundial"),
        ("FRESHNESS_CONFIDENCE", "1.5"),
        ("FRESHNESS_RISKY_FIXES", "0"),
        ("FRESHNESS_OLD_DAYS", "-1"),
        ("FRESHNESS_FRESH_DAYS", "366"),
        ("FRESHNESS_FRESH_COMMITS", "501"),
    ],
)
def test_freshness_settings_that_make_no_sense_are_refused(environ: dict[str, str], name: str, value: str) -> None:
    with pytest.raises(BadSettingError, match=name.lower()):
        read_settings({**environ, f"CTXSEARCH_{name}": value}, {})


def test_freshness_rules_follow_the_settings(environ: dict[str, str]) -> None:
    wall = FreshnessRules.of(read_settings({**environ, "CTXSEARCH_FRESHNESS_CLOCK": "wall"}, {}), lambda: 7.0)
    assert wall.clock is not None
    assert wall.clock() == 7.0
    own = FreshnessRules.of(read_settings({**environ, "CTXSEARCH_FRESHNESS_OLD_DAYS": "90"}, {}), lambda: 7.0)
    assert (own.clock, own.thresholds.old_days) == (None, 90)
    assert own.looking_closely()["old_days"] == 90
    assert wall.looking_closely()["old_days"] == 0
