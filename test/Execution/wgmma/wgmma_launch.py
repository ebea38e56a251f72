#!/usr/bin/python3
"""Launches the kernels of wgmma with a program, and compares what two programs made of them.

usage: wgmma_launch.py run FOLDER --launcher=PROGRAM [--only=TEXT] [-- FLAG...]
       wgmma_launch.py compare FOLDER FOLDER

As ../kernels/launch.py, for a card of sm_90.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import conftest  # noqa: E402, F401
import launch  # noqa: E402
from wgmma_config import all_configs  # noqa: E402
from wgmma_kernels import case, stages  # noqa: E402


def all_cases():
    yield stages()
    for config in all_configs():
        yield case(config)


if __name__ == "__main__":
    launch.all_cases = all_cases
    sys.exit(launch.dispatch(__doc__, launch.run_all, launch.compare))
