"""Makes `harness`, the modules of this folder, of ../cuda, ../sim and ../sparse, and the package `blockscale` importable."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXECUTION = HERE.parent
sys.path[:0] = [str(HERE), str(EXECUTION), str(EXECUTION.parents[1] / "python")]
# Behind, because they have a conftest of their own.
sys.path += [str(EXECUTION / folder) for folder in ("cuda", "sim", "sparse")]
