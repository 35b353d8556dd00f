"""The training command's modules are scripts beside one another: their directory is where they import from."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "model"))
