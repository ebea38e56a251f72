"""Makes `import blockscale` and `import harness` find this checkout's modules."""

import sys
from pathlib import Path

EXECUTION = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(EXECUTION), str(EXECUTION.parents[1] / "python")]
