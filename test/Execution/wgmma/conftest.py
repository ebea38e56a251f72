"""Makes `harness`, the modules of this folder and of those beside it, and `blockscale` importable."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXECUTION = HERE.parent
sys.path[:0] = [
    str(HERE), str(EXECUTION / "kernels"), str(EXECUTION / "tcgen05"), str(EXECUTION),
    str(HERE.parents[2] / "python"),
]
