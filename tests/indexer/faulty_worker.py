"""A real parser process whose parser misbehaves on certain file names, as a broken grammar would."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

from ctxsearch.graph.facts import FileFacts
from ctxsearch.graph.model import NodeFlag
from ctxsearch.indexer import worker
from ctxsearch.indexer.parse import parse


def faulty_parse(path: str, source: bytes, flags: NodeFlag) -> FileFacts:
    name = path.rsplit("/", 1)[-1]
    if name == "hang.py":
        re.match(r"(a*)*b", "a" * 200)  # inside C, the interpreter locked: no exception can get in
    if name == "crash.py":
        os.kill(os.getpid(), signal.SIGSEGV)
    if name == "exit.py":
        os._exit(3)
    if name == "killed_once.py":
        mark = Path(source.decode().strip("# \n"))
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return parse(path, source, flags)


if __name__ == "__main__":
    worker.parse = faulty_parse
    worker.main()
