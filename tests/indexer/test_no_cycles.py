"""Parsing and resolving leave no reference cycles behind: their processes run without the cycle collector."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures" / "graph"

# In a process of its own: whatever else runs in this one leaves cycles too. The first round is for what is made once.
WORK = """
import gc, sys
from pathlib import Path
from ctxsearch.graph.facts import encode_facts
from ctxsearch.graph.resolve.portion import Portion
from ctxsearch.indexer.parse import parse
from ctxsearch.indexer.resolve_worker import _stored
from ctxsearch.indexer.spool import Spool

root = Path(sys.argv[1])
sources = {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
assert sources

def work():
    facts = {path: encode_facts(parse(path, source)) for path, source in sources.items()}
    portion = Portion(sorted(facts), facts.__getitem__, Spool())
    portion.know(portion.entries())
    list(portion.first_phase())
    for found in portion.second_phase():
        _stored(found.path, portion.language(found.path), found.graph)
    return portion  # one per process, and as old as that

before = work()
gc.collect()
gc.disable()
after = work()
gc.set_debug(gc.DEBUG_SAVEALL)
gc.collect()
for item in gc.garbage:
    print(type(item).__name__, repr(item)[:200])
"""


def test_parsing_and_resolving_leave_no_cycles() -> None:
    run = subprocess.run([sys.executable, "-P", "-c", WORK, str(FIXTURES)], capture_output=True, text=True, check=True)
    assert run.stdout == ""
