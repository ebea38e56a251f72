"""A sanitized library cannot be loaded into a Python that is not."""

import os
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
CACHE = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")) / "CMakeCache.txt"


@pytest.fixture(autouse=True)
def library_that_can_be_loaded():
    if CACHE.is_file() and "-fsanitize=" in CACHE.read_text():
        pytest.skip("needs a build without sanitizers")
