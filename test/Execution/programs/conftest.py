"""Makes `harness`, the modules of this folder, and the package `blockscale` importable."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXECUTION = HERE.parent
sys.path[:0] = [str(HERE), str(EXECUTION), str(EXECUTION.parents[1] / "python")]
