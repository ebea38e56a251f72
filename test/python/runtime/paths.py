"""Where the build tree is, and the fake driver in it."""

import os
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")).resolve()
FAKE = BUILD / "test" / "FakeCuda" / "libcuda.so.1"
