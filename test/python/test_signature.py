"""What functions take and give, read from what the compiler prints."""

import pytest
from blockscale.signature import Operand, from_launch_info, from_mlir

F4 = Operand("f4", (4,))


def test_mlir():
    name, signature = from_mlir(
        "func.func private @helper(%x: f32) -> f32 {\n}\n"
        "func.func @a.b(%x: tensor<2x?xf4E2M1FN> {blockscale.packed}, %s: f32, %i: tensor<index>)"
        " -> (tensor<?x3xbf16>, i1, tensor<1x2x3xi64>) {\n",
        None,
    )
    assert name == "a.b"
    assert signature.arguments == [Operand("u1", (2, None), (2, 1)), Operand("f4", ()), Operand("i8", ())]
    assert signature.results == [Operand("u2", (None, 3)), Operand("u1", ()), Operand("i8", (1, 2, 3))]


@pytest.mark.parametrize("element, dtype", [("f8E8M0FNU", "u1"), ("f64", "f8"), ("f16", "f2"), ("i16", "i2")])
def test_element_types(element, dtype):
    _, signature = from_mlir(f"func.func @f(%x: tensor<4x{element}>) -> {element} {{", "f")
    assert signature.arguments == [Operand(dtype, (4,))]
    assert signature.results == [Operand(dtype, ())]


def test_nothing_and_one():
    assert from_mlir("func.func @f() {", None)[1] == ([], [])
    assert from_mlir("func.func @f() -> tensor<4xf32> attributes {a} {", None)[1] == ([], [F4])


def test_which_function():
    text = "func.func @f() {\n}\nfunc.func @g() -> f32 {\n}\n"
    assert from_mlir(text, "g")[0] == "g"
    with pytest.raises(ValueError, match="entry: expected a function that is the only public one, got 2"):
        from_mlir(text, None)
    with pytest.raises(ValueError, match="entry: expected a function 'h', got 0"):
        from_mlir(text, "h")


def test_launch_info():
    size = {"size": {"arg": 0, "dim": 0}}
    info = {
        "kernels": [
            {"params": [{"arg": 0}, {"workspace": 0}]},
            # The highest number of a result may be deep inside.
            {"params": [{"tensor_map": {"of": {"result": 1}, "sizes": [size]}}, {"result": 0}, size]},
        ],
        "operands": [
            {"dtype": "u1", "shape": [size, 64], "packed": [2, 1]},
            {"dtype": "i4", "shape": []},
            {"dtype": "f4", "shape": [size]},
            {"dtype": "f4", "shape": [4]},
        ],
    }
    signature = from_launch_info(info)
    assert signature.arguments == [Operand("u1", (None, 64), (2, 1)), Operand("i4", ())]
    assert signature.results == [Operand("f4", (None,)), F4]
