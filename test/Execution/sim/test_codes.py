"""Products on sm_90a whose codes of y are converted on their way to wgmma, in registers."""

import json
import subprocess

import blockscale
import numpy as np
import pytest
from harness import RUN

CHECKS = ["--check=race,proxy,strict"]
PRODUCT = """
func.func @main(%x: tensor<{m}x{k}x{x}>, %xs: tensor<{m}x{blocks}x{scale}>,
                %y: tensor<{n}x{k}x{y}>, %ys: tensor<{n}x{blocks}x{scale}>) -> tensor<{m}x{n}xf32> {{
  %acc = arith.constant dense<0.0> : tensor<{m}x{n}xf32>
  %ye = tensor.empty() : tensor<{k}x{n}x{y}>
  %yk = linalg.transpose ins(%y : tensor<{n}x{k}x{y}>) outs(%ye : tensor<{k}x{n}x{y}>) permutation = [1, 0]
  %se = tensor.empty() : tensor<{blocks}x{n}x{scale}>
  %sk = linalg.transpose ins(%ys : tensor<{n}x{blocks}x{scale}>) outs(%se : tensor<{blocks}x{n}x{scale}>)
        permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yk, %sk, %acc
       : tensor<{m}x{k}x{x}>, tensor<{m}x{blocks}x{scale}>, tensor<{k}x{n}x{y}>, tensor<{blocks}x{n}x{scale}>,
         tensor<{m}x{n}xf32>
  return %d : tensor<{m}x{n}xf32>
}}
"""
E8M0, UE4M3 = ("f8E8M0FNU", 32), ("f8E4M3FN", 16)


def finite_codes(element, rng, shape):
    codes = np.arange(1 << {"f8": 8, "f6": 6, "f4": 4}[element[:2]], dtype=np.uint8)
    return rng.choice(codes[np.isfinite(blockscale.decode(codes, element))], shape)


class Product:
    """x of M x K times y, stored as N x K."""

    def __init__(self, m, n, k, x_type, y_type, scales=E8M0, near=3):
        scale, block = scales
        rng = np.random.default_rng(m * n + k)
        self.types = dict(x_type=x_type, y_type=y_type, scale_type=scale)
        self.sizes = dict(m=m, n=n, k=k, blocks=k // block, x=x_type, y=y_type, scale=scale)
        self.x, self.y = finite_codes(x_type, rng, (m, k)), finite_codes(y_type, rng, (n, k))
        low, high = (127 - near, 127 + near) if scale == "f8E8M0FNU" else (0x30, 0x48)
        self.xs = rng.integers(low, high, (m, k // block), dtype=np.uint8, endpoint=True)
        self.ys = rng.integers(low, high, (n, k // block), dtype=np.uint8, endpoint=True)

    def run(self, folder, schedule, flags=()):
        """The result is right; whether it was computed anew."""
        (folder / "p.mlir").write_text(PRODUCT.format(**self.sizes))
        for i, array in enumerate([self.x, self.xs, self.y, self.ys]):
            np.save(folder / f"{i}.npy", array)
        done = subprocess.run(
            [RUN, "p.mlir", "--device=sim", "--target=sm_90a", "--stats", *CHECKS, f"--schedule={schedule}", *flags,
             *(f"{i}.npy" for i in range(4)), "-o", "d.npy"], cwd=folder, capture_output=True, text=True, check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr, done.stderr
        statistics = json.loads(done.stderr[done.stderr.index("{\n"):])
        names = [kernel["name"] for kernel in statistics["kernels"]]
        assert sum("__decode" in name for name in names) == 1
        [exact] = [kernel for kernel in statistics["kernels"] if "__exact" in kernel["name"]]
        zero = np.zeros((self.sizes["m"], self.sizes["n"]), np.float32)
        blockscale.compare(
            np.load(folder / "d.npy"), self.x, self.xs, self.y.T, self.ys.T, zero, **self.types)
        return exact["multiply_adds"] != 0


def schedule_text(m, n, k, stages=2, splits=1):
    text = f"tile={m}x{n}x{k},stages={stages},accumulators=1,persistent=0,exchanged=1"
    return text + (f",splits={splits}" if splits != 1 else "")


# x, y, scales; sizes of the product; the tile.
FORMATS = [
    ("f8E4M3FN", "f8E4M3FN", E8M0), ("f4E2M1FN", "f4E2M1FN", E8M0), ("f4E2M1FN", "f4E2M1FN", UE4M3),
    ("f8E4M3FN", "f4E2M1FN", E8M0), ("f6E3M2FN", "f8E5M2", E8M0), ("f8E5M2", "f6E2M3FN", E8M0),
    ("f4E2M1FN", "f6E3M2FN", E8M0),
]


@pytest.mark.parametrize("types", FORMATS, ids=lambda types: f"{types[0]}-{types[1]}-{types[2][0]}")
def test_formats(types, tmp_path):
    box = 128 if types[1].startswith("f4") else 64
    product = Product(16, 128, 16 * box, *types)
    assert not product.run(tmp_path, schedule_text(64, 16, 8 * box))
