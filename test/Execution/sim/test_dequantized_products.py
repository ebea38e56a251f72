"""Products with scales on sm_90a whose operands kernels in front decode, for wgmma."""

import json
import re
import subprocess

import blockscale
import gpu_bundle
import numpy as np
import pytest
import tiers
from harness import RUN
from simulated import SIMULATOR, parts

CHECKS = ["--check=race,proxy,strict"]
# Those that every path takes, and scales at the ends of what bf16 holds.
SHARED = [
    case for case in gpu_bundle.every_case()
    if not getattr(case, "flags", ()) and not hasattr(case, "grid") and "blockscale.mma_scaled" in case.program.text()
]
EDGES = gpu_bundle.select("-edges")


def with_path(text):
    """Each product with the attribute that asks for the path: the sizes of tests would not choose it."""
    path = "blockscale.path = #blockscale.path<wgmma>"
    text, count = re.subn(
        r"(blockscale\.mma_scaled [^:{]*?) *(\{([^}]*)\} *)?:",
        lambda m: f"{m[1]} {{{m[3] + ', ' if m[3] else ''}{path}}} :", text,
    )
    assert count
    return text


def compiled(case, folder, flags=()):
    """PTX of the case, as gpu_bundle.write_case makes it."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{case.name}.mlir"
    source.write_text(with_path(case.program.text()))
    ptx = folder / f"{case.name}.ptx"
    gpu_bundle.run([gpu_bundle.COMPILE, source, "--target=sm_90a", f"--launch-info={folder / case.name}.json",
                    *flags, *getattr(case, "flags", []), "-o", ptx])
    return ptx.read_text()


@pytest.mark.parametrize("case", tiers.pairs([*SHARED, *EDGES], parts), ids=lambda case: case.name)
def test_all(case, tmp_path):
    text = compiled(case, tmp_path)
    assert "wgmma.mma_async.sync.aligned" in text and "__dequantize_operand_" in text and "__exact_recomputation_" in text
    gpu_bundle.check_case(case, tmp_path, SIMULATOR, CHECKS)


# Scale codes with which all elements are normal bf16 values: the lowest and the highest one.
WINDOWS = {
    "f8E4M3FN": (10, 246), "f8E5M2": (17, 239), "f6E3M2FN": (5, 250), "f6E2M3FN": (4, 252), "f4E2M1FN": (2, 252),
}
NAN_CODES = {"f8E4M3FN": 0xFF, "f8E5M2": 0x7E}
PRODUCT = """
func.func @main(%x: tensor<{m}x{k}x{x}>, %xs: tensor<{m}x{blocks}x{scale}>,
                %y: tensor<{k}x{n}x{y}>, %ys: tensor<{blocks}x{n}x{scale}>) -> tensor<{m}x{n}xf32> {{
  %acc = arith.constant dense<0.0> : tensor<{m}x{n}xf32>
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       : tensor<{m}x{k}x{x}>, tensor<{m}x{blocks}x{scale}>, tensor<{k}x{n}x{y}>, tensor<{blocks}x{n}x{scale}>,
         tensor<{m}x{n}xf32>
  return %d : tensor<{m}x{n}xf32>
}}
"""


class Operands:
    """16 x 64 times 64 x 24, with values that are exact in bf16."""

    def __init__(self, x_type, y_type, scale_type="f8E8M0FNU", block=32):
        rng = np.random.default_rng(5)
        self.types = dict(x_type=x_type, y_type=y_type, scale_type=scale_type)
        self.sizes = dict(m=16, n=24, k=64, blocks=64 // block, x=x_type, y=y_type, scale=scale_type)

        def codes(element, shape):
            finite = np.arange(1 << {"f8": 8, "f6": 6, "f4": 4}[element[:2]], dtype=np.uint8)
            finite = finite[np.isfinite(blockscale.decode(finite, element))]
            return rng.choice(finite, shape)

        one = 127 if scale_type == "f8E8M0FNU" else 0x38
        self.x, self.y = codes(x_type, (16, 64)), codes(y_type, (64, 24))
        self.xs = np.full((16, 64 // block), one, np.uint8)
        self.ys = np.full((64 // block, 24), one, np.uint8)

    def run(self, folder, flags=()):
        """The result is right; whether it was computed anew."""
        (folder / "p.mlir").write_text(with_path(PRODUCT.format(**self.sizes)))
        arrays = [self.x, self.xs, self.y, self.ys]
        for i, array in enumerate(arrays):
            np.save(folder / f"{i}.npy", array)
        done = subprocess.run(
            [RUN, "p.mlir", "--device=sim", "--target=sm_90a", "--stats", *CHECKS, *flags,
             *(f"{i}.npy" for i in range(4)), "-o", "d.npy"], cwd=folder, capture_output=True, text=True, check=False,
        )
        assert done.returncode == 0, done.stderr
        statistics = json.loads(done.stderr[done.stderr.index("{\n"):])
        [exact] = [kernel for kernel in statistics["kernels"] if "__exact_recomputation" in kernel["name"]]
        zero = np.zeros((16, 24), np.float32)
        blockscale.compare(np.load(folder / "d.npy"), *arrays, zero, **self.types)
        return exact["multiply_adds"] != 0


@pytest.mark.parametrize("side", ["x", "y"])
@pytest.mark.parametrize("element", WINDOWS)
def test_window(element, side, tmp_path):
    """A scale at either end is decoded; beyond that the product is computed anew, but for blocks of zeros."""
    lowest, highest = WINDOWS[element]

    def is_anew(code, is_zero=False):
        operands = Operands(element, element)
        scales, others = (operands.xs, operands.ys) if side == "x" else (operands.ys.T, operands.xs.T)
        # Products are such as f32 holds.
        scales[5, 0], others[...] = code, np.clip(254 - code, lowest, highest)
        if side == "y":
            others[...], scales[:, 1] = np.clip(254 - code, lowest, highest), 127
        if is_zero:
            (operands.x if side == "x" else operands.y.T)[5, :32] = 0
        return operands.run(tmp_path)

    assert not is_anew(lowest) and not is_anew(highest)
    assert is_anew(lowest - 1) and is_anew(highest + 1)
    assert not is_anew(lowest - 1, is_zero=True) and not is_anew(highest + 1, is_zero=True)
    assert is_anew(255, is_zero=True)


@pytest.mark.parametrize("element", NAN_CODES)
def test_special_codes(element, tmp_path):
    operands = Operands(element, "f4E2M1FN")
    assert not operands.run(tmp_path)
    operands.x[3, 40] = NAN_CODES[element]
    assert operands.run(tmp_path)
    if element == "f8E5M2":
        operands.x[3, 40] = 0x7C
        assert operands.run(tmp_path)


def test_ue4m3(tmp_path):
    """All scales are decoded, their sign is ignored, but NaN."""
    operands = Operands("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16)
    operands.xs[...] = np.delete(np.arange(128), 127)[:64].reshape(16, 4)
    operands.ys[...] = np.arange(127 - 96, 127).reshape(4, 24)
    operands.xs[2, 1] |= 0x80
    assert not operands.run(tmp_path)
    operands.ys[1, 7] = 0x7F
    assert operands.run(tmp_path)
