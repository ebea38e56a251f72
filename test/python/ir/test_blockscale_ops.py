"""Builders of the tile level: each op of the dialect's own tests is built again from its operands and attributes; and
each error of the verifiers is an exception.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from blockscale import ir
from blockscale.dialects import blockscale as bs
from blockscale.dialects import func
from blockscale.passmanager import PassManager

DIALECT = Path(__file__).resolve().parents[2] / "Dialect"
OPS = [*DIALECT.glob("*-ops.mlir"), *DIALECT.glob("documentation*.mlir"), DIALECT / "grouped-scale-blocks.mlir"]
# Tiling is a pass.
INVALID = sorted(path for path in DIALECT.glob("*-invalid.mlir") if path.stem != "tiling-invalid")


def parts(path):
    return re.split(r"^// -----.*\n", path.read_text(), flags=re.MULTILINE)


def named_operands(op, *names):
    """Operands by name, None for those that are left out."""
    counts = [1] * len(names)
    if "operandSegmentSizes" in op.attributes:
        counts = list(map(int, re.findall(r"-?\d+", str(op.attributes["operandSegmentSizes"]).partition(":")[2])))
    elif len(op.operands) < len(names):
        counts = [1] * len(op.operands) + [0] * (len(names) - len(op.operands))
    operands = iter(op.operands)
    return {name: next(operands) if count else None for name, count in zip(names, counts)}


def number(op, name):
    return op.attributes[name].value if name in op.attributes else None


def given(op, *names):
    return {name: op.attributes[name] for name in names if name in op.attributes}


def product(op):
    return dict(block_size=number(op, "block_size"), **given(op, "x_scale_block", "y_scale_block", "accumulate"))


def element(result):
    return ir.ShapedType(result.type).element_type


def sizes(op):
    dynamic = iter(list(op.operands)[1:])
    shape = ir.ShapedType(op.result.type).shape
    return [next(dynamic) if size == ir.ShapedType.get_dynamic_size() else size for size in shape]


GROUPS = ("rows", "group_scale", "bias")
# How each op is built again; `ip` is False: in no block.
REBUILD = {
    "mma_scaled": lambda op: bs.mma_scaled(
        **named_operands(op, "x", "x_scale", "y", "y_scale", "acc"), **product(op), ip=False),
    "grouped_mma_scaled": lambda op: bs.grouped_mma_scaled(
        **named_operands(op, "x", "x_scale", "y", "y_scale", "offsets", "acc", *GROUPS), **product(op),
        legal_groups="legal_groups" in op.attributes, ip=False),
    "grouped_matmul": lambda op: bs.grouped_matmul(
        **named_operands(op, "x", "y", "offsets", "acc", *GROUPS), legal_groups="legal_groups" in op.attributes,
        ip=False),
    "sparse_mma_scaled": lambda op: bs.sparse_mma_scaled(
        **named_operands(op, "x", "metadata", "x_scale", "y", "y_scale", "acc"), **given(op, "granularity"),
        block_size=number(op, "block_size"), ip=False),
    "quantize": lambda op: bs.quantize(
        **named_operands(op, "x", "tensor_scale"), element_type=element(op.results[0]),
        scale_type=element(op.results[1]), block_size=number(op, "block_size"), **given(op, "scale_block", "rule"), amax=len(op.results) == 3,
        pad="pad" in op.attributes, ip=False),
    "dequantize": lambda op: bs.dequantize(
        **named_operands(op, "elements", "scales", "tensor_scale"), result_type=element(op.result),
        block_size=number(op, "block_size"), **given(op, "scale_block"), ip=False),
    "rebase": lambda op: bs.rebase(*op.operands, number(op, "block_size"), ip=False),
    "swizzle_scales": lambda op: bs.swizzle_scales(*op.operands, ip=False),
    "unswizzle_scales": lambda op: bs.unswizzle_scales(op.operands[0], sizes(op), ip=False),
    "swizzle_group_scales": lambda op: bs.swizzle_group_scales(
        **named_operands(op, "source", "offsets", "rows"), ip=False),
    "route": lambda op: bs.route(op.operands[0], number(op, "top_k"), op.attributes["scoring"], ip=False),
    "sort_routes": lambda op: bs.sort_routes(
        *op.operands, num_groups=max(ir.ShapedType(op.results[0].type).shape[0], 0), ip=False),
    "combine_rows": lambda op: bs.combine_rows(*op.operands, element(op.result), ip=False),
    "sparsify": lambda op: bs.sparsify(op.operands[0], op.attributes["granularity"], ip=False),
    "compress": lambda op: bs.compress(op.operands[0], op.attributes["granularity"], ip=False),
    "decompress": lambda op: bs.decompress(*op.operands, op.attributes["granularity"], ip=False),
    "tile_metadata": lambda op: bs.tile_metadata(op.operands[0], ip=False),
    "untile_metadata": lambda op: bs.untile_metadata(op.operands[0], sizes(op), ip=False),
}
# Of the level, but of no program that somebody writes: passes make them.
OF_PASSES = {"launch", "pack", "promoted_matmul", "unpack"}


def of_tile_level(module):
    found = []
    module.operation.walk(lambda op: found.append(op) if op.name[len("blockscale."):] in REBUILD else None)
    return found


# Builders leave out what follows from the shapes, and what only passes set.
LEFT_OUT = {"operandSegmentSizes", "block_size", "legal_metadata"}


def shown(op):
    attributes = {name: str(value) for name, value in op.attributes.items() if name not in LEFT_OUT}
    attributes = {name: value for name, value in attributes.items() if "." not in name}
    return op.name, attributes, list(op.operands), [result.type for result in op.results]


def test_every_op_is_built_again():
    built = Counter()
    for path in OPS:
        for part in parts(path):
            with ir.Context(), ir.Location.unknown():
                for op in of_tile_level(ir.Module.parse(part)):
                    name = op.name[len("blockscale."):]
                    made = REBUILD[name](op)
                    made = (made[0] if isinstance(made, tuple) else made).owner
                    assert made.verify() and shown(made) == shown(op), (path, made, op)
                    assert number(made, "block_size") in (None, number(op, "block_size")) or name == "quantize"
                    built[name] += 1
    assert set(built) == set(REBUILD), set(REBUILD) - set(built)
    assert min(built.values()) >= 1 and built["mma_scaled"] > 10


def test_all_ops_of_the_level():
    text = (DIALECT / "op-levels.test").read_text()
    named = set(re.findall(r"tile blockscale\.(\w+)", text))
    assert named - OF_PASSES <= set(REBUILD) and all(hasattr(bs, name) for name in REBUILD)
    assert not OF_PASSES & set(REBUILD)


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_errors_are_exceptions(path):
    """What the tests of the dialect expect of blockscale-opt, of parsing, which verifies."""
    expected = re.compile(r"expected-error(-re)?\s*(?:@[-+\w]*)?\s*\{\{(.*?)\}\}")
    checked = 0
    for part in parts(path):
        messages = expected.findall(part)
        if not messages:
            continue
        with ir.Context():
            with pytest.raises(ir.MLIRError) as caught:
                ir.Module.parse(part)
        said = "\n".join(str(error) for error in caught.value.error_diagnostics)
        for is_regex, message in messages:
            if not is_regex:
                assert message in said, part
                checked += 1
    assert checked


@pytest.fixture
def block():
    """Of a function of several arguments."""
    with ir.Context(), ir.Location.unknown():
        types = map(ir.Type.parse, (
            "tensor<16x64xf8E4M3FN>", "tensor<16x2xf8E8M0FNU>", "tensor<64x8xf4E2M1FN>", "tensor<2x8xf8E8M0FNU>",
            "tensor<16x8xf32>", "f32", "tensor<16x64xf32>", "index",
        ))
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("f", (list(types), []))
        with ir.InsertionPoint(function.add_entry_block()):
            yield function.entry_block


def test_what_no_op_can_be_made_of(block):
    x, x_scale, y, y_scale, acc, scalar, values, index = block.arguments
    f8, i8 = ir.Float8E4M3FNType.get(), ir.IntegerType.get_signless(8)
    for build, message in (
        (lambda: bs.mma_scaled(x, x_scale, y, y_scale, acc, x_scale_block=(3, 32)), "expected a scale for 1, 128 or all"),
        (lambda: bs.mma_scaled(x, x_scale, y, y_scale, acc, accumulate=5), "chunk"),
        (lambda: bs.mma_scaled(x, x_scale, y, y_scale, acc, accumulate=ir.UnitAttr.get()),
         "expected #blockscale.accumulate, got unit"),
        (lambda: bs.quantize(scalar, f8), "expected x to be a ranked tensor or a vector, got 'f32'"),
        (lambda: bs.quantize(values, i8), "expected a type of elements, got 'i8'"),
        (lambda: bs.quantize(values, f8, rule="nope"), "Unable to parse attribute '#blockscale.scale_rule<nope>'"),
        (lambda: bs.dequantize(scalar, x_scale), "expected elements to be a ranked tensor"),
        (lambda: bs.rebase(values, x_scale, 32), "expected elements to be a ranked tensor of fp8, fp6 or fp4"),
        (lambda: bs.swizzle_scales(scalar), "expected scales of rank 2 or 3"),
        (lambda: bs.unswizzle_scales(scalar, [1, 2]), "expected source to be a ranked tensor"),
        (lambda: bs.swizzle_group_scales(scalar, x), "expected source to be a ranked tensor"),
        (lambda: bs.route(values, -5), "invalid tensor dimension size"),
        (lambda: bs.compress(scalar, "2:4"), "expected source to be a ranked tensor"),
        (lambda: bs.compress(x, ir.UnitAttr.get()), "expected #blockscale.granularity, got unit"),
        (lambda: bs.decompress(scalar, x, "pairs"), "expected elements to be a ranked tensor"),
        (lambda: bs.tile_metadata(index), "expected source to be a ranked tensor"),
        (lambda: bs.untile_metadata(index, [1, 2]), "expected source to be a ranked tensor"),
        (lambda: bs.combine_rows(x, x, x, ir.Type.parse("none")), "expected a type of elements, got 'none'"),
    ):
        with pytest.raises(ir.MLIRError, match=re.escape(message)):
            build()
    with pytest.raises(TypeError, match="x: expected a Value, got int"):
        bs.mma_scaled(3, x_scale, y, y_scale, acc)
    assert len(block.operations) == 0


def test_what_the_verifier_refuses(block):
    """Operands of any type make an op, which `verify` refuses."""
    x, x_scale, y, y_scale, acc, scalar, values, index = block.arguments
    for made in (
        bs.mma_scaled(scalar, index, scalar, scalar, scalar), bs.mma_scaled(values, x_scale, y, y_scale, acc),
        bs.mma_scaled(x, x_scale, y, y_scale, acc, block_size=16), bs.grouped_matmul(scalar, x, y, acc, rows=index),
        bs.sparse_mma_scaled(x, scalar, x_scale, y, y_scale, acc, granularity="2:4"),
        bs.combine_rows(scalar, index, x, ir.F32Type.get()),
        bs.sparsify(scalar, "pairs"), bs.sort_routes(scalar, index)[0], bs.route(scalar, 2)[0],
        bs.dequantize(x, scalar), bs.quantize(x, ir.Float8E4M3FNType.get())[0],
    ):
        with pytest.raises(ir.MLIRError, match="Verification failed:\nerror: .*blockscale."):
            made.owner.verify()


def test_bufferization_names_what_comes_before_it():
    """Of each op, where it is the first one that bufferization meets; on vectors, there is nothing to bufferize."""
    named = set()
    for path in OPS:
        for part in parts(path):
            with ir.Context():
                for function in ir.Module.parse(part).body.operations:
                    alone = ir.Module.parse(str(function))
                    if "tensor<" not in str(alone) or not of_tile_level(alone):
                        continue
                    try:
                        PassManager.parse("builtin.module(one-shot-bufferize)").run(alone)
                    except ir.MLIRError as error:
                        said = str(error)
                        assert "run blockscale-decompose before bufferization" in said
                        named.update(re.findall(r"'blockscale.(\w+)' op cannot be bufferized", said))
    assert named == set(REBUILD)
