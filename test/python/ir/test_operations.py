"""Operations: building, walking, changing, and wrappers of what is gone."""

import pytest
from blockscale import ir
from blockscale.passmanager import PassManager

PROGRAM = """
func.func @f(%x: f32, %c: i1) -> f32 {
  %0 = arith.addf %x, %x : f32
  %1 = scf.if %c -> f32 {
    %2 = arith.mulf %0, %x : f32
    scf.yield %2 : f32
  } else {
    scf.yield %0 : f32
  }
  return %1 : f32
}
"""
INVALID = "the operation has been invalidated"


@pytest.fixture
def module():
    with ir.Context(), ir.Location.unknown():
        yield ir.Module.parse(PROGRAM)


def body(module):
    return module.body.operations[0].regions[0].blocks[0]


def test_reading(module):
    function = module.body.operations[0]
    add, branch, end = body(module).operations
    assert [op.name for op in (function, add, branch, end)] == ["func.func", "arith.addf", "scf.if", "func.return"]
    assert add.parent is function and function.parent is module.operation and module.operation.parent is None
    assert add.block == body(module) == branch.block and body(module).owner is function
    assert add.operands[0] == body(module).arguments[0] == add.operands[-1] and len(add.operands) == 2
    assert add.result.get_name() == "%0" and str(add.result.type) == "f32" and add.result.owner is add
    uses = sorted((use.owner.name, use.operand_number) for use in add.result.uses)
    assert uses == [("arith.mulf", 0), ("scf.yield", 0)]
    assert [len(region.blocks) for region in branch.regions] == [1, 1] and body(module).terminator is end
    assert add.operands[0].arg_number == 0 and branch.results[0].result_number == 0
    for sequence in (add.operands, add.results, branch.regions, body(module).arguments):
        with pytest.raises(IndexError, match="expected an index below"):
            sequence[7]
    with pytest.raises(ValueError, match="expected one result of func.return, got 0"):
        end.result


def test_round_trip(module):
    text = str(module)
    assert str(ir.Module.parse(text)) == text
    assert str(ir.Module.parse(module.operation.get_asm(print_generic_op_form=True))) == text
    assert 'loc("-":3:' in module.operation.get_asm(enable_debug_info=True)
    copy = module.operation.clone(ip=False)
    assert str(copy) == text and copy is not module.operation and copy.verify()


def test_walk(module):
    names = []
    module.operation.walk(lambda op: names.append(op.name))
    assert names == [
        "arith.addf", "arith.mulf", "scf.yield", "scf.yield", "scf.if", "func.return", "func.func", "builtin.module",
    ]
    names.clear()
    module.operation.walk(lambda op: names.append(op.name) or op.name != "arith.mulf")
    assert names == ["arith.addf", "arith.mulf"]
    with pytest.raises(ZeroDivisionError):
        module.operation.walk(lambda op: 1 / 0)


def test_create(module):
    x = body(module).arguments[0]
    end = body(module).terminator
    made = ir.Operation.create("arith.negf", operands=[x], infer_type=True, ip=ir.InsertionPoint(end))
    assert made.parent is end.parent and body(module).operations[-2] is made and made.verify()
    end.operands[0] = made.result
    assert module.operation.verify() and "return %2 : f32" in str(module)
    with ir.InsertionPoint.at_block_begin(body(module)) as point:
        assert ir.InsertionPoint.current is point
        zero = ir.FloatAttr.get(x.type, 0.0)
        first = ir.Operation.create("arith.constant", results=[x.type], attributes={"value": zero})
    assert body(module).operations[0] is first
    with pytest.raises(ValueError, match="no insertion point is set"):
        ir.InsertionPoint.current
    with pytest.raises(ValueError, match="expected a registered operation, got 'nope.nope'"):
        ir.Operation.create("nope.nope")
    with pytest.raises(ir.MLIRError, match="Cannot create arith.addf"):
        ir.Operation.create("arith.addf", operands=[], infer_type=True)
    with pytest.raises(TypeError, match="expected a Value, got int"):
        ir.Operation.create("arith.negf", operands=[3], results=[x.type])
    module.context.allow_unregistered_dialects = True
    assert ir.Operation.create("nope.nope").name == "nope.nope"


def test_attributes(module):
    attributes = module.body.operations[0].attributes
    assert set(attributes) == {"sym_name", "function_type"} and len(attributes) == 2
    attributes["blockscale.note"] = ir.UnitAttr.get()
    assert "blockscale.note" in attributes and "attributes {blockscale.note}" in str(module)
    del attributes["blockscale.note"]
    for action in (lambda: attributes["nope"], lambda: attributes.__delitem__("nope")):
        with pytest.raises(KeyError, match="nope"):
            action()
    with pytest.raises(TypeError, match="attribute 'a': expected an Attribute, got str"):
        attributes["a"] = "b"


def test_moving_and_erasing(module):
    add, branch, end = body(module).operations
    with pytest.raises(ValueError, match="cannot erase arith.addf: a result of it has uses"):
        add.erase()
    inner = branch.regions[0].blocks[0].operations[0]
    inner_result = inner.result
    with pytest.raises(ValueError, match="cannot insert scf.if into itself"):
        branch.move_before(inner)
    branch.results[0].replace_all_uses_with(add.result)
    branch.erase()
    for use in (lambda: branch.name, lambda: inner.name, lambda: inner_result.type, lambda: branch.regions[0]):
        with pytest.raises(RuntimeError, match=INVALID):
            use()
    assert str(branch) == "<invalidated operation>" == repr(inner)
    end.move_before(add)
    assert body(module).operations == [end, add]
    end.detach_from_parent()
    assert end.parent is None and body(module).operations == [add]
    with pytest.raises(ValueError, match="is in no block"):
        end.detach_from_parent()
    body(module).append(end)
    with pytest.raises(ValueError, match="is in a block already"):
        body(module).append(end)
    assert module.operation.verify()
    other = ir.Operation.parse("func.func private @g()", context=ir.Context())
    with pytest.raises(ValueError, match="of another context"):
        module.body.append(other)


def test_passes_invalidate(module):
    """A pass may free any operation; the one that it runs on stays."""
    add = body(module).operations[0]
    PassManager.parse("builtin.module(canonicalize)").run(module)
    with pytest.raises(RuntimeError, match=INVALID):
        add.name
    assert module.operation.name == "builtin.module" and body(module).operations[0].name == "arith.addf"


def test_a_new_operation_at_an_old_address():
    """The wrapper of an operation that is gone is not that of the one that gets its memory."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        for _ in range(50):
            one = ir.Operation.parse("func.func private @f()")
            module.body.append(one)
            assert one.name == "func.func"
            one.erase()
        assert len(module.body.operations) == 0


def test_what_is_of_another_context(module):
    """MLIR would take it for memory of its own."""
    with ir.Context(), ir.Location.unknown():
        f32, note = ir.F32Type.get(), ir.UnitAttr.get()
        other = ir.Operation.create("arith.constant", [f32], attributes={"value": ir.FloatAttr.get(f32, 0.0)})
    x = body(module).arguments[0]
    for build in (
        lambda: ir.Operation.create("arith.negf", [x.type], [other.result], ip=False),
        lambda: ir.Operation.create("arith.negf", [f32], [x], ip=False),
        lambda: ir.Operation.create("arith.negf", [x.type], [x], {"note": note}, ip=False),
        lambda: body(module).operations[0].operands.__setitem__(0, other.result),
        lambda: body(module).operations[0].attributes.__setitem__("note", note),
        lambda: x.replace_all_uses_with(other.result),
    ):
        with pytest.raises(ValueError, match="another context|expected a value of type f32"):
            build()


def test_users_outside(module):
    """Operations in no block that use values of one that is erased, or on which a pass runs, go with it."""
    x = body(module).arguments[0]
    copy = module.operation.clone(ip=False)
    user = ir.Operation.create("arith.negf", [x.type], [x], ip=False)
    second = ir.Operation.create("arith.addf", [x.type], [user.result, x], ip=False)
    PassManager.parse("builtin.module(canonicalize)").run(module)
    for gone in (lambda: user.name, lambda: second.name):
        with pytest.raises(RuntimeError, match=INVALID):
            gone()
    assert copy.verify() and "arith.addf" in str(copy)
    x = body(module).arguments[0]
    user = ir.Operation.create("arith.negf", [x.type], [x], ip=False)
    module.body.operations[0].erase()
    with pytest.raises(RuntimeError, match=INVALID):
        user.operands
        user.name


def test_a_value_of_what_is_in_no_block(module):
    """It stays, though its wrapper goes, while somebody uses it; the verifier refuses that."""
    x = body(module).arguments[0]
    user = ir.Operation.create("arith.negf", [x.type], [x], ip=False)
    made = ir.Operation.create("arith.negf", [x.type], [user.result], ip=ir.InsertionPoint(body(module).terminator))
    del user
    assert made.operands[0].owner.name == "arith.negf"
    made.erase()
    assert module.operation.verify()
