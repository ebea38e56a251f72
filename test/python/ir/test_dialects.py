"""Builders of MLIR's dialects, and programs that are made of them: compiled, run and held against numpy."""

import re

import blockscale
import numpy as np
import pytest
from blockscale import ir
from blockscale.dialects import arith, func, linalg, math, scf, tensor
from blockscale.dialects import blockscale as bs
from blockscale.gpu_code import compile_module


@pytest.fixture(autouse=True)
def module():
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            yield module


def types(*texts):
    return [ir.Type.parse(text) for text in texts]


def test_every_builder_of_scalars(module):
    @func.FuncOp.from_py_func(*types("f32", "f32", "i32", "i32", "i1"))
    def f(x, y, a, b, c):
        for name in arith._BINARY:
            getattr(arith, name)(*((x, y) if name.endswith("f") else (a, b)))
        for name in math._UNARY:
            getattr(math, name)(x)
        for name in math._BINARY:
            getattr(math, name)(x, y)
        math.fma(x, y, x)
        arith.negf(x)
        arith.select(c, x, y)
        for predicate in arith._CMPF:
            assert f"arith.cmpf {predicate}, " in str(arith.cmpf(predicate, x, y).owner)
        for predicate in arith._CMPI:
            assert f"arith.cmpi {predicate}, " in str(arith.cmpi(predicate, a, b).owner)
        for name, kind, value in (
            ("extf", "f64", x), ("truncf", "bf16", x), ("bitcast", "i32", x), ("extsi", "i64", a), ("extui", "i64", a),
            ("trunci", "i8", a), ("sitofp", "f32", a), ("uitofp", "f32", a), ("fptosi", "i32", x), ("fptoui", "i32", x),
            ("index_cast", "index", a), ("index_castui", "index", a),
        ):
            assert str(getattr(arith, name)(ir.Type.parse(kind), value).type) == kind

    assert module.operation.verify() and str(ir.Module.parse(str(module))) == str(module)
    with pytest.raises(ValueError, match="predicate: expected one of false, oeq, .*, got 'lt'"):
        arith.cmpf("lt", *f.arguments[:2], ip=False)
    with pytest.raises(TypeError, match="exp: expected 1 operands, got 2"):
        math.exp(*f.arguments[:2], ip=False)


def test_constants(module):
    for kind, value, text in (
        ("f32", 1.5, "1.500000e+00 : f32"), ("index", 3, "3 : index"), ("i1", True, "true"), ("i8", 255, "-1 : i8"),
        ("tensor<2xi8>", b"\1\2", "dense<[1, 2]> : tensor<2xi8>"),
        ("vector<2xf32>", np.float32(2).tobytes(), "dense<2.000000e+00>"),
        ("f32", ir.Attribute.parse("2.0 : f32"), "2.000000e+00 : f32"),
    ):
        made = arith.constant(ir.Type.parse(kind), value)
        assert f"arith.constant {text}" in str(made.owner) and made.owner.verify()


def test_tensors_and_loops(module):
    @func.FuncOp.from_py_func(*types("tensor<?x32xf32>", "tensor<4x8xf32>", "index"))
    def f(x, y, n):
        rows = tensor.dim(x, 0)
        e = tensor.empty([rows, 16], ir.F32Type.get())
        part = tensor.extract_slice(x, [0, n], [rows, 16])
        assert str(part.type) == "tensor<?x16xf32>"
        added = linalg.add(part, part, outs=[e])
        x = tensor.insert_slice(added, x, [0, 16], [rows, 16])
        wide = tensor.expand_shape(ir.Type.parse("tensor<?x4x8xf32>"), x, [[0], [1, 2]], [rows, 4, 8])
        flat = tensor.collapse_shape(ir.Type.parse("tensor<?x32xf32>"), wide, [[0], [1, 2]])
        padded = tensor.pad(
            ir.Type.parse("tensor<5x9xf32>"), y, [0, 0], [1, 1], arith.constant(ir.F32Type.get(), 0.0))
        tensor.cast(ir.Type.parse("tensor<?x?xf32>"), padded)
        zero = arith.constant(ir.IndexType.get(), 0)
        value = tensor.extract(y, [zero, zero])
        one = arith.constant(ir.IndexType.get(), 1)
        total = scf.for_(zero, n, one, lambda i, sum: arith.addf(sum, value), [value])
        pair = scf.for_(zero, n, one, lambda i, a, b: (b, a), [value, total])
        positive = arith.cmpf("ogt", total, value)
        chosen = scf.if_(positive, lambda: pair[0], lambda: math.exp(total), [ir.F32Type.get()])
        scf.if_(positive, lambda: None)
        return flat, tensor.splat(ir.Type.parse("tensor<3xf32>"), chosen)

    assert [str(kind) for kind in f.type.results] == ["tensor<?x32xf32>", "tensor<3xf32>"]
    assert module.operation.verify() and str(ir.Module.parse(str(module))) == str(module)


def test_every_builder_of_linalg(module):
    shapes = {"matmul": ((4, 8), (8, 2), (4, 2)), "batch_matmul": ((3, 4, 8), (3, 8, 2), (3, 4, 2)),
              "matvec": ((4, 8), (8,), (4,)), "vecmat": ((4,), (4, 8), (8,)), "dot": ((4,), (4,), ())}
    f32 = ir.F32Type.get()
    for name, count in linalg._NAMED.items():
        of = shapes.get(name, ((),) * (name == "fill") + ((4, 8),) * (count + (name != "fill")))
        kinds = [f32 if name == "fill" and i == 0 else ir.RankedTensorType.get(shape, f32) for i, shape in enumerate(of)]

        @func.FuncOp.from_py_func(*kinds, name=name)
        def f(*operands):
            return getattr(linalg, name)(*operands[:-1], outs=[operands[-1]])

    @func.FuncOp.from_py_func(*types("tensor<4x8xf32>", "tensor<8x4xf32>", "tensor<4xf32>"), name="others")
    def g(x, t, v):
        linalg.transpose(x, outs=[t], permutation=[1, 0])
        linalg.broadcast(v, outs=[x], dimensions=[1])
        linalg.reduce(x, outs=[v], dimensions=[1], body=arith.addf)
        linalg.map(x, outs=[x], body=lambda a, out: math.exp(a))
        return linalg.generic([x, v], [x], ["(i, j) -> (i, j)", "(i, j) -> (i)", ir.AffineMap.get_identity(2)],
                              ["parallel", "parallel"], lambda a, b, out: arith.mulf(a, b))

    assert module.operation.verify() and str(ir.Module.parse(str(module))) == str(module)
    with pytest.raises(TypeError, match="matmul: expected 2 operands, got 1"):
        linalg.matmul(g.arguments[0], outs=[g.arguments[0]], ip=False)


def test_functions(module):
    callee = func.func("callee", types("f32"), types("f32"), visibility="private")
    assert callee.is_external and callee.name == "callee"
    with pytest.raises(ValueError, match="the function 'callee' has no body"):
        callee.entry_block

    @func.FuncOp.from_py_func(*types("f32"), results=types("f32"), name="caller")
    def f(x, func_op):
        assert func_op.name == "caller"
        return func.call(types("f32"), "callee", [x])

    with pytest.raises(ValueError, match="'caller' has an entry block already"):
        f.add_entry_block()
    assert module.operation.verify() and "call @callee(%arg0) : (f32) -> f32" in str(module)


def make_layer(module):
    """exp(quantized x times y, plus a bias for each column)."""

    arguments = types("tensor<?x64xf32>", "tensor<64x8xf4E2M1FN>", "tensor<2x8xf8E8M0FNU>", "tensor<8xf32>")

    @func.FuncOp.from_py_func(*arguments)
    def main(x, y, y_scale, bias):
        rows, f32 = tensor.dim(x, 0), ir.F32Type.get()
        empty = tensor.empty([rows, 8], f32)
        acc = linalg.broadcast(bias, outs=[empty], dimensions=[0])
        elements, scales = bs.quantize(x, ir.Float8E4M3FNType.get())
        product = bs.mma_scaled(elements, scales, y, y_scale, acc)
        return linalg.exp(product, outs=[empty])

    assert module.operation.verify()
    return str(module)


@pytest.mark.parametrize("target", ["cpu", "sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_a_layer(module, target):
    text = make_layer(module)
    rng = np.random.default_rng(1)
    x, bias = rng.normal(size=(20, 64)).astype("f4"), rng.normal(size=8).astype("f4")
    codes, scales = blockscale.quantize(rng.normal(size=(8, 64)).astype("f4") / 8, "mxfp4")
    x_codes, x_scales = blockscale.quantize(x, "mxfp8")
    sums = blockscale.mma_scaled(
        x_codes, x_scales, codes.T, scales.T, np.tile(bias, (20, 1)), x_type="mxfp8", y_type="mxfp4")
    kernel = blockscale.compile(text, target=target)
    got = kernel.run(x, np.ascontiguousarray(codes.T), np.ascontiguousarray(scales.T), bias)
    np.testing.assert_allclose(got, np.exp(sums), rtol=1e-5)
    if target != "cpu":
        assert re.sub("<text>", "", compile_module(module, target).code) == kernel.ptx
