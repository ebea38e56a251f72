"""Types, attributes and affine maps, by text and by builder."""

import pytest
from blockscale import ir

FLOATS = {
    "f4E2M1FN": (ir.Float4E2M1FNType, 4), "f6E2M3FN": (ir.Float6E2M3FNType, 6), "f6E3M2FN": (ir.Float6E3M2FNType, 6),
    "f8E4M3FN": (ir.Float8E4M3FNType, 8), "f8E5M2": (ir.Float8E5M2Type, 8), "f8E8M0FNU": (ir.Float8E8M0FNUType, 8),
    "bf16": (ir.BF16Type, 16), "f16": (ir.F16Type, 16), "f32": (ir.F32Type, 32), "f64": (ir.F64Type, 64),
}


@pytest.fixture(autouse=True)
def context():
    with ir.Context() as context:
        yield context


@pytest.mark.parametrize("text", FLOATS)
def test_floats(text):
    cls, width = FLOATS[text]
    parsed = ir.Type.parse(text)
    assert type(parsed) is cls and parsed == cls.get() and parsed.width == width and str(parsed) == text
    assert ir.FloatType.isinstance(parsed) and not ir.IntegerType.isinstance(parsed)


def test_integers():
    for text, made in (("i8", ir.IntegerType.get_signless(8)), ("si16", ir.IntegerType.get_signed(16)),
                       ("ui32", ir.IntegerType.get_unsigned(32))):
        assert ir.Type.parse(text) == made and made.width == int(text.strip("siu"))
        assert [made.is_signless, made.is_signed, made.is_unsigned].index(True) == ("i", "s", "u").index(text[0])
    assert type(ir.Type.parse("index")) is ir.IndexType


def test_shaped():
    f8 = ir.Float8E4M3FNType.get()
    tensor = ir.RankedTensorType.get([2, None], f8)
    assert str(tensor) == "tensor<2x?xf8E4M3FN>" and tensor == ir.Type.parse(str(tensor))
    assert tensor.rank == 2 and tensor.shape == [2, ir.ShapedType.get_dynamic_size()]
    assert tensor.element_type == f8 and not tensor.has_static_shape and tensor.is_dynamic_dim(1)
    assert str(ir.VectorType.get([4, 8], f8)) == "vector<4x8xf8E4M3FN>"
    assert str(ir.MemRefType.get([4], ir.F32Type.get())) == "memref<4xf32>"
    layout = ir.Attribute.parse("strided<[8, 1], offset: ?>")
    assert str(ir.MemRefType.get([4, 8], ir.F32Type.get(), layout)) == "memref<4x8xf32, strided<[8, 1], offset: ?>>"
    unranked = ir.UnrankedTensorType.get(f8)
    assert not unranked.has_rank
    with pytest.raises(ValueError, match="expected a type with a rank, got tensor"):
        unranked.shape
    with pytest.raises(IndexError, match="expected a dimension below 2, got 2"):
        tensor.get_dim_size(2)


def test_functions():
    f32 = ir.F32Type.get()
    function = ir.FunctionType.get([f32, f32], [ir.IndexType.get()])
    assert str(function) == "(f32, f32) -> index" and function.inputs == [f32, f32]
    assert [type(result) for result in function.results] == [ir.IndexType]
    assert str(ir.FunctionType.get([], [])) == "() -> ()"


def test_wrong_types():
    f32 = ir.F32Type.get()
    with pytest.raises(ir.MLIRError, match="Unable to parse type 'f33x'"):
        ir.Type.parse("f33x")
    with pytest.raises(ir.MLIRError, match="invalid tensor element type"):
        ir.RankedTensorType.get([2], ir.NoneType.get())
    with pytest.raises(ValueError, match="expected sizes of at least 0, .* got -3"):
        ir.RankedTensorType.get([-3], f32)
    with pytest.raises(TypeError, match="expected integers, .* got 2.5"):
        ir.RankedTensorType.get([2.5], f32)
    with pytest.raises(TypeError, match="element_type: expected a Type, got str"):
        ir.RankedTensorType.get([2], "f32")
    with pytest.raises(ValueError, match="cannot cast f32 to IntegerType"):
        ir.IntegerType(f32)
    assert ir.FloatType(f32) is f32
    with pytest.raises(TypeError, match="context: expected a Context, got int"):
        ir.F32Type.get(3)


def test_numbers():
    i8, u8 = ir.IntegerType.get_signless(8), ir.IntegerType.get_unsigned(8)
    for kind, value in ((i8, -128), (i8, 127), (u8, 255), (ir.IndexType.get(), 5)):
        attribute = ir.IntegerAttr.get(kind, value)
        assert attribute.value == int(attribute) == value and attribute.type == kind, attribute
    assert ir.IntegerAttr.get(i8, 255).value == -1
    for kind, value in ((i8, 256), (i8, -129), (u8, 256)):
        with pytest.raises(OverflowError, match=f"expected an integer of {kind}, got {value}"):
            ir.IntegerAttr.get(kind, value)
    with pytest.raises(ValueError, match="expected an integer type or index, got f32"):
        ir.IntegerAttr.get(ir.F32Type.get(), 1)
    assert ir.FloatAttr.get(ir.F32Type.get(), 0.5).value == 0.5
    with pytest.raises(ir.MLIRError, match="Invalid attribute"):
        ir.FloatAttr.get(i8, 0.5)
    assert ir.BoolAttr.get(True).value is True and ir.Attribute.parse("false").value is False


def test_others(context):
    for attribute, text in (
        (ir.StringAttr.get("a\0b"), '"a\\00b"'), (ir.UnitAttr.get(), "unit"), (ir.FlatSymbolRefAttr.get("f"), "@f"),
        (ir.TypeAttr.get(ir.F32Type.get()), "f32"), (ir.DenseI64ArrayAttr.get([1, -2]), "array<i64: 1, -2>"),
        (ir.DenseI32ArrayAttr.get([]), "array<i32>"), (ir.ArrayAttr.get([]), "[]"),
        (ir.DictAttr.get({"b": ir.UnitAttr.get(), "a": ir.StringAttr.get("x")}), '{a = "x", b}'),
    ):
        assert str(attribute) == text and ir.Attribute.parse(text) == attribute
    assert ir.StringAttr.get("a\0b").value == "a\0b" and ir.StringAttr.get(b"\xff").value_bytes == b"\xff"
    assert ir.Attribute.parse("@a::@b").value == ["a", "b"]
    dictionary = ir.DictAttr(ir.Attribute.parse("{a = 1 : i8, b}"))
    assert list(dictionary) == ["a", "b"] and len(dictionary) == 2
    assert dictionary["a"].value == 1 and "c" not in dictionary
    array = ir.ArrayAttr(ir.Attribute.parse("[1 : i8, unit]"))
    assert [str(item) for item in array] == ["1 : i8", "unit"]
    with pytest.raises(TypeError, match="attribute 'a': expected an Attribute, got int"):
        ir.DictAttr.get({"a": 1}, context)
    with pytest.raises(ir.MLIRError, match="Unable to parse attribute"):
        ir.Attribute.parse("#nope<")


def test_dense_elements():
    kind = ir.Type.parse("tensor<2x2xf8E4M3FN>")
    assert str(ir.DenseElementsAttr.get_raw(kind, bytes([0x38, 0, 0xB8, 0x40]))) == (
        "dense<[[1.000000e+00, 0.000000e+00], [-1.000000e+00, 2.000000e+00]]> : tensor<2x2xf8E4M3FN>"
    )
    assert "dense<1.0" in str(ir.DenseElementsAttr.get_raw(kind, bytes([0x38])))
    with pytest.raises(ValueError, match="expected the bytes of all elements of tensor<2x2xf8E4M3FN>, .* got 3 bytes"):
        ir.DenseElementsAttr.get_raw(kind, bytes(3))


def test_affine():
    d0, d1 = ir.AffineExpr.get_dim(0), ir.AffineExpr.get_dim(1)
    for expr, text in (
        (d0 + d1, "d0 + d1"), (2 * d0 - 1, "d0 * 2 - 1"), (1 - d0, "-d0 + 1"),
        (d0 // 4 + d1 % 8, "d0 floordiv 4 + d1 mod 8"),
        (d0.ceildiv(2), "d0 ceildiv 2"), (ir.AffineExpr.get_symbol(0) + 3, "s0 + 3"),
    ):
        assert str(expr) == text
    map = ir.AffineMap.get(2, 0, [d1, d0])
    assert str(map) == "(d0, d1) -> (d1, d0)" and (map.n_dims, map.n_results) == (2, 2)
    assert ir.AffineMapAttr(ir.Attribute.parse("affine_map<(d0, d1) -> (d1, d0)>")).value == map
    assert str(ir.AffineMap.get_identity(2)) == "(d0, d1) -> (d0, d1)"
    with pytest.raises(TypeError):
        d0 + "1"
