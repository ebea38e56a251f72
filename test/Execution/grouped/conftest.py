"""Makes `harness` and the package `blockscale` importable."""

import sys
from pathlib import Path

EXECUTION = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(EXECUTION), str(EXECUTION.parents[1] / "python")]
