#!/usr/bin/python3
"""mma_scaled.mlir from Python: compiled for sm_120a by the programs of the build, and executed in the simulator.

usage: from_python.py
"""

import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "python"))

import blockscale  # noqa: E402

kernel = blockscale.compile(FOLDER / "mma_scaled.mlir", target="sm_120a")
print(kernel.run())
[launch] = kernel.launch_info["kernels"]
print(f"{kernel.entry} for {kernel.target}: {launch['grid']} blocks of {launch['block']} threads")
