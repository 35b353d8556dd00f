# `make run` and `make test` need only python3 and git: everything else lands in .venv.
PY := .venv/bin/python
export PYTHONDONTWRITEBYTECODE := 1

# What the command and the daemon import on every start, compiled ahead: without bytecode that takes twice as long.
STARTED_PACKAGES := click google grpc grpc_health grpc_reflection grpc_status lance_namespace \
	lance_namespace_urllib3_client lancedb msgspec numpy platformdirs prometheus_client pyarrow pydantic rich \
	rustworkx structlog typing_extensions.py watchfiles

.PHONY: run test lint bench proto format clean

.venv/.ready: pyproject.toml uv.lock
	@test -x .venv/bin/uv || (python3 -m venv .venv && .venv/bin/python -m pip install -q "uv>=0.9,<1")
	@VIRTUAL_ENV=$(CURDIR)/.venv .venv/bin/uv sync -q --frozen --inexact --active
	@cd .venv/lib/python3*/site-packages && ../../../bin/python -m compileall -q $(STARTED_PACKAGES) || true
	@touch $@

run: .venv/.ready
	@.venv/bin/ctxsearch demo .

test: .venv/.ready
	@$(PY) -m pytest -n auto

lint: .venv/.ready
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@.venv/bin/lint-imports --no-cache
	@$(PY) proto/generate.py --check

format: .venv/.ready
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .

bench: .venv/.ready
	@$(PY) bench/run.py

proto: .venv/.ready
	@$(PY) proto/generate.py

clean:
	rm -rf .venv build dist *.egg-info
