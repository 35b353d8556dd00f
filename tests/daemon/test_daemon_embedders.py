"""Other embedding models than the bundled one, as a user turns them on: by settings of the daemon."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemon_project import add_and_wait, cli, names, refresh, search, wait_until_free
from embedding_endpoint import KEY, Endpoint, running_endpoint

from ctxsearch.daemon import client
from ctxsearch.daemon.cli_repositories import follow
from ctxsearch.daemon.client import DaemonError
from ctxsearch.daemon.layout import KEPT_VECTORS
from ctxsearch.daemon.session import Session
from ctxsearch.daemon.settings import BadSettingError, Settings, read_settings
from ctxsearch.v1 import repository_pb2, search_pb2

ONNX = Path(__file__).parents[2] / "fixtures" / "onnx"
SEMANTIC = search_pb2.SEARCH_MODE_SEMANTIC


@pytest.fixture
def endpoint(environ: dict[str, str], tmp_path: Path) -> Iterator[Endpoint]:
    """A running endpoint that the settings name."""
    (tmp_path / "key").write_text(f"{KEY}\n")
    with running_endpoint() as made:
        environ |= {
            "CTXSEARCH_EMBEDDER": "openai",
            "CTXSEARCH_EMBEDDER_URL": made.url,
            "CTXSEARCH_EMBEDDER_MODEL": "m",
            "CTXSEARCH_EMBEDDER_DIMENSION": "32",
            "CTXSEARCH_EMBEDDER_KEY_FILE": str(tmp_path / "key"),
        }
        yield made


@pytest.fixture
def onnx(environ: dict[str, str], tmp_path: Path) -> Path:
    """A model's directory that the settings name."""
    environ |= {"CTXSEARCH_EMBEDDER": "onnx", "CTXSEARCH_EMBEDDER_PATH": str(tmp_path / "tiny")}
    return Path(shutil.copytree(ONNX, tmp_path / "tiny"))


def _model(session: Session) -> str:
    found = client.probe(session.settings)
    assert found is not None
    with found:
        model: str = found.info.embedding_model
    return model


def _errors(session: Session, name: str) -> str:
    """What went wrong, as soon as something did."""
    progress = next(one for one in follow(session, name) if one.errors)
    return " ".join(progress.errors)


def test_a_local_onnx_model_embeds_what_is_indexed_and_asked(onnx: Path, session: Session, project: Path) -> None:
    name = add_and_wait(session, project)
    assert _model(session).startswith("onnx-tiny-")
    response = search(session, "list of items", name, mode=SEMANTIC)
    assert names(response)
    assert not response.degraded
    assert response.results[0].signals[0].rank == 1


def test_another_model_embeds_again_and_is_never_mixed_with_the_one_before(
    settings: Settings, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.closing(Session(settings, project)) as session:
        name = add_and_wait(session, project)
        assert _model(session).startswith("static-")
    client.stop(settings, 5.0)
    wait_until_free(settings)
    for key, value in {"CTXSEARCH_EMBEDDER": "onnx", "CTXSEARCH_EMBEDDER_PATH": str(ONNX)}.items():
        monkeypatch.setenv(key, value)
    with contextlib.closing(Session(settings, project)) as session:
        refresh(session, name)
        add_and_wait(session, project)
        response = search(session, "list of items", name, mode=SEMANTIC)
        assert _model(session).startswith("onnx-")
        assert names(response)
        assert not response.degraded


def test_an_endpoint_embeds_every_passage_once_and_its_silence_degrades_in_the_open(
    endpoint: Endpoint, session: Session, project: Path
) -> None:
    name = add_and_wait(session, project)
    assert names(search(session, "price discount", name, mode=SEMANTIC))
    passages = [text for text in endpoint.asked if text != "price discount"]
    assert len(set(passages)) == len(passages) > 5
    assert not any("hunterzebra" in text or KEY in text for text in passages), "secrets go nowhere"
    endpoint.answers += [503] * 100
    response = search(session, "apply_discount", name)
    assert response.degraded
    assert names(response)[0] == "apply_discount"
    assert "status 503" in " ".join(response.warnings)
    assert KEY not in str(response)


def test_vectors_outlive_the_index_that_they_were_made_for(
    endpoint: Endpoint, session: Session, settings: Settings, project: Path
) -> None:
    name = add_and_wait(session, project)
    before = len(endpoint.asked)
    assert list(settings.repositories_dir.glob(f"*/{KEPT_VECTORS}"))
    request = repository_pb2.RefreshRequest(repository=name, full=True)
    request.max_wait.FromSeconds(120)
    assert session.repository("Refresh", request, timeout=150).completed
    add_and_wait(session, project)
    assert names(search(session, "price discount", name, mode=SEMANTIC))
    assert len(endpoint.asked) == before + 1, "nothing but the question"


def test_an_endpoint_that_is_down_costs_meaning_alone_and_the_next_refresh_heals(
    endpoint: Endpoint, session: Session, project: Path
) -> None:
    endpoint.answers += [401] * 1000
    name = add_and_wait(session, project, complete=False)
    response = search(session, "apply_discount", name)
    assert names(response)[0] == "apply_discount"
    assert response.degraded
    errors = _errors(session, name)
    assert errors.startswith("embedding endpoint ")
    assert errors.endswith("status 401")
    assert KEY not in errors
    told = search(session, "apply_discount", name).warnings
    reason = f"{name} was not embedded: {errors}; run `ctxsearch doctor`"
    assert reason in told
    with pytest.raises(DaemonError, match=re.escape(reason)):
        search(session, "apply_discount", name, mode=SEMANTIC)
    endpoint.answers.clear()
    refresh(session, name)
    add_and_wait(session, project)
    response = search(session, "price discount", name, mode=SEMANTIC)
    assert names(response)
    assert not response.warnings


def test_a_model_that_is_gone_costs_meaning_alone_and_doctor_says_what_is_missing(
    onnx: Path, settings: Settings, session: Session, project: Path
) -> None:
    (onnx / "tokenizer.json").unlink()
    name = add_and_wait(session, project, complete=False)
    response = search(session, "apply_discount", name)
    assert names(response)[0] == "apply_discount"
    assert response.degraded
    assert _model(session) == ""
    assert "no tokenizer.json" in _errors(session, name)
    done = cli(settings, project, "doctor")
    assert done.returncode != 0
    assert "no tokenizer.json" in done.stdout


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"EMBEDDER": "nope"}, "embedder must be one of bundled, onnx, openai, not 'nope'"),
        ({"VECTOR": "nope"}, "vector must be one of lancedb, not 'nope'"),
        ({"FULL_TEXT": "nope"}, "full_text must be one of tantivy, not 'nope'"),
        ({"EMBEDDER": "onnx"}, "needs embedder_path"),
        ({"EMBEDDER": "onnx", "EMBEDDER_PATH": "models/x"}, "absolute path"),
        ({"EMBEDDER": "openai"}, "needs embedder_url"),
        ({"EMBEDDER": "openai", "EMBEDDER_URL": "ftp://x"}, "needs embedder_url"),
        ({"EMBEDDER": "openai", "EMBEDDER_URL": "https://example.org/v1"}, "embedder_model and embedder_dimension"),
        (
            {
                "EMBEDDER": "openai",
                "EMBEDDER_URL": "http://example.org/v1",
                "EMBEDDER_MODEL": "m",
                "EMBEDDER_DIMENSION": "8",
            },
            r"beyond loopback \(example.org\) needs https, or allow_remote",
        ),
        ({"EMBEDDER_DIMENSION": "-1"}, "embedder_dimension must be at least 0"),
        ({"EMBEDDER": "openai", "EMBEDDER_URL": "http://[::1/v1"}, "needs embedder_url"),
        ({"EMBEDDER": "openai", "EMBEDDER_URL": "http://127.0.0.1:abc/v1"}, "needs embedder_url"),
        ({"EMBEDDER": "openai", "EMBEDDER_URL": "http://127.0.0.1:99999/v1"}, "needs embedder_url"),
        ({"EMBEDDER": "openai", "EMBEDDER_URL": "http://127.0.0.1/v1?x=1"}, "needs embedder_url"),
        ({"EMBEDDER": "openai", "EMBEDDER_URL": "http://127.0.0.1/v 1"}, "needs embedder_url"),
        ({"EMBEDDER": "openai", "EMBEDDER_URL": "http://ada:pw@127.0.0.1/v1"}, "must not hold a user or a password"),
        ({"EMBEDDER_KEY": "sk-\x07abc"}, r"embedder_key \(hidden\) must be"),
    ],
)
def test_settings_that_no_embedder_could_be_made_of_are_refused(
    environ: dict[str, str], values: dict[str, str], message: str
) -> None:
    with pytest.raises(BadSettingError, match=message):
        read_settings({**environ, **{f"CTXSEARCH_{name}": value for name, value in values.items()}}, {})


def test_the_key_is_read_from_its_file_and_never_shown(endpoint: Endpoint, environ: dict[str, str]) -> None:
    settings = read_settings(environ, {})
    assert settings.providers.options.key == KEY
    assert (
        read_settings(
            {**environ, "CTXSEARCH_EMBEDDER_KEY": "sk-x\r\n"} | {"CTXSEARCH_EMBEDDER_KEY_FILE": ""}, {}
        ).embedder_key
        == "sk-x"
    )
    assert KEY not in repr(settings)
    assert KEY not in repr(settings.providers)
