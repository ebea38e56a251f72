"""Makes `import blockscale` find the package of this checkout, and the oracles of execution tests.

The programs of the compiler are those of <build>/bin, <build> taken from the environment variable
BLOCKSCALE_BUILD (default: `build` in this checkout); the cache is a folder of the tests.
"""

import os
import sys
from pathlib import Path

import pytest

TEST = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("BLOCKSCALE_BUILD", TEST.parent / "build"))
sys.path[:0] = [str(TEST.parent / "python"), str(TEST / "Execution")]
os.environ["BLOCKSCALE_BIN"] = str(BUILD / "bin")


@pytest.fixture(scope="session", autouse=True)
def cache_of_tests(tmp_path_factory):
    os.environ["BLOCKSCALE_CACHE"] = str(tmp_path_factory.mktemp("cache"))
