"""Puts the bundles of kernels into a wheel: what is not in pyproject.toml, because it lies in CMake's build tree."""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
FOLDER = Path("blockscale") / "torch"


class BuildWithKernels(build_py):
    def run(self):
        super().run()
        named = os.environ.get("BLOCKSCALE_TORCH_BUNDLE")
        bundle = Path(named) if named else ROOT / "build" / "python" / FOLDER / "kernels.bundle"
        if named and not bundle.is_file():
            raise FileNotFoundError(f"BLOCKSCALE_TORCH_BUNDLE: expected a file, got {named}")
        self.add(bundle, "kernels.bundle", "kernels (target blockscale-torch-kernels)")
        self.add(
            bundle.with_name("sparse.bundle"), "sparse.bundle",
            "kernels for sparse weights (target blockscale-torch-sparse-kernels)",
        )
        self.add(
            bundle.with_name("moe.bundle"), "moe.bundle",
            "kernels for mixtures of experts (target blockscale-torch-moe-kernels)",
        )
        self.add(
            bundle.with_name("fp8.bundle"), "fp8.bundle",
            "kernels for fp8_block and fp8_row (target blockscale-torch-fp8-kernels)",
        )

    def add(self, bundle, name, what):
        if bundle.is_file():
            shutil.copy(bundle, Path(self.build_lib) / FOLDER / name)
        else:
            self.warn(f"no {bundle}: blockscale.torch will have no {what}")


setup(cmdclass={"build_py": BuildWithKernels})
