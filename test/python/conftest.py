"""Makes `import blockscale` find the package of this checkout, and the oracles of execution tests."""

import sys
from pathlib import Path

TEST = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TEST.parent / "python"), str(TEST / "Execution")]
