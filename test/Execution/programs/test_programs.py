"""Programs whose operands are made inside, of dynamic sizes, reshaped: the CPU and every chip agree.

More of them: sweep.py.
"""

import numpy as np
import outcomes
import pytest
from harness import Program
from made_inside import Case

COUNT = 50
TARGETS = tuple(outcomes.TARGETS)


@pytest.mark.parametrize("number", range(COUNT))
def test_made_inside(number, tmp_path, request):
    """Of each two programs next to each other, one is for every second target, and one for the others."""
    case = Case(number)
    targets = TARGETS if request.config.getoption("--exhaustive") else TARGETS[number % 2::2]
    found = outcomes.compare(tmp_path, case, targets)
    assert set(found.values()) == {"same"}, (found, case.steps)


class Tokens:
    """What frontends make of a linear layer: batch and tokens are one dimension for the product, and two for the sum."""

    tolerance = 0.0

    def __init__(self, batch, tokens, element):
        rng = np.random.default_rng([batch, tokens])
        p = self.p = Program()
        codes = rng.integers(0, 8, (batch, tokens, 64), np.uint8)
        scales = rng.integers(126, 129, (batch, tokens, 2), np.uint8)
        x = p.arg(codes, element, (None, None, 64))
        x_scale = p.arg(scales, "f8E8M0FNU", (None, None, 2))
        y = p.arg(rng.integers(0, 8, (64, 24), np.uint8), "f8E4M3FN")
        y_scale = p.arg(rng.integers(126, 129, (2, 24), np.uint8), "f8E8M0FNU")
        added = p.arg(np.float32(rng.integers(-8, 9, (batch, tokens, 24))), "f32", (None, None, 24))
        sizes = [p.dim(x, 0), p.dim(x, 1)]

        def collapse(value):
            shape = (None, value.shape[-1])
            kind = value._replace(shape=shape).type
            return p.op(f"tensor.collapse_shape {value.name} [[0, 1], [2]] : {value.type} into {kind}", shape, value.element)

        rows, row_scales = collapse(x), collapse(x_scale)
        m = p.dim(rows, 0)
        init = p.op(f"tensor.empty({m}) : tensor<?x24xf32>", (None, 24), "f32")
        zero = p.op("arith.constant 0.0 : f32").name
        acc = p.op(
            f"linalg.fill ins({zero} : f32) outs({init.name} : {init.type}) -> {init.type}", init.shape, "f32"
        )
        d = p.mma(rows, row_scales, y, y_scale, acc, 32)
        e = p.op(
            f"tensor.expand_shape {d.name} [[0, 1], [2]] output_shape [{sizes[0]}, {sizes[1]}, 24] : {d.type} into "
            f"{added.type}", added.shape, "f32",
        )
        p.result(p.op(f"arith.addf {e.name}, {added.name} : {e.type}", e.shape, "f32"))
        self.row = type("Row", (), {"x": element, "y": "f8E4M3FN"})


@pytest.mark.parametrize("element", ["f8E5M2", "f4E2M1FN"])
@pytest.mark.parametrize("sizes", [(2, 3), (1, 1), (5, 29), (0, 3), (3, 0)], ids=str)
def test_tokens(sizes, element, tmp_path):
    """Also of no batch or no tokens, for which nothing is launched."""
    case = Tokens(*sizes, element)
    found = outcomes.compare(tmp_path, case, TARGETS[:-1])
    assert set(found.values()) == {"same"}, found
    assert np.load(tmp_path / "cpu.npy").shape == (*sizes, 24)


@pytest.mark.parametrize("target", ["", "sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_sizes_that_do_not_fit(target, tmp_path):
    """A quotient that leaves a remainder is an error, and no other memory is read."""
    p = Program()
    x = p.arg(np.arange(6, dtype="f4"), "f32", (None,))
    n = p.scalar(np.int64(4), "index")
    m = p.op(f"arith.divui {p.dim(x, 0)}, {n.name} : index").name
    p.result(p.op(
        f"tensor.expand_shape {x.name} [[0, 1]] output_shape [{n.name}, {m}] : {x.type} into tensor<?x?xf32>",
        (None, None), "f32",
    ))
    case = type("Plain", (), {"p": p})
    outcomes.write(tmp_path, case)
    result, done = outcomes.run(tmp_path, case, ["--device=sim", f"--target={target}"] if target else [], "out")
    assert result is None and done.returncode == 1
    assert "expected sizes that multiply to that of dimension 0 of the source" in done.stderr


@pytest.mark.parametrize("target", ["", "sm_80", "sm_120a"])
@pytest.mark.parametrize("width", [2, 3, 4, 5, 6, 7, 12, 24])
def test_integers_between_ops(width, target, tmp_path):
    """Values of any width go through memory in whole bytes."""
    p = Program()
    kind = "i32" if width > 8 else "i8"
    x = p.arg(np.arange(-16, 16, dtype=f"i{int(kind[1:]) // 8}").reshape(4, 8) * 7, kind)
    narrow = p.op(f"arith.trunci {x.name} : {x.type} to tensor<4x8xi{width}>", x.shape, f"i{width}")
    init = p.op(f"tensor.empty() : tensor<8x4xi{width}>", (8, 4), f"i{width}")
    turned = p.op(
        f"linalg.transpose ins({narrow.name} : {narrow.type}) outs({init.name} : {init.type}) permutation = [1, 0]",
        (8, 4), f"i{width}",
    )
    p.result(p.op(f"arith.extui {turned.name} : {turned.type} to tensor<8x4x{kind}>", (8, 4), kind))
    case = type("Plain", (), {"p": p})
    outcomes.write(tmp_path, case)
    result, done = outcomes.run(tmp_path, case, ["--device=sim", f"--target={target}"] if target else [], "out")
    assert result is not None, done.stderr
    np.testing.assert_array_equal(result, (p.arrays[0] & ((1 << width) - 1)).T)
