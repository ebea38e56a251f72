"""Numbers of a launch: every form, and what is no expression."""

import json

import pytest

from blockscale.runtime.bundle_file import Objects
from blockscale.runtime.checks import Node
from blockscale.runtime.errors import ArgumentError, BundleError
from blockscale.runtime.expressions import Shapes, read_expression

SHAPES = Shapes([(5, 48), None, (7,)])
MULTIPROCESSORS = 132


def size(argument, dimension, **fields):
    return {"size": {"arg": argument, "dim": dimension, **fields}}


@pytest.mark.parametrize("expression,value", [
    (0, 0), (-3, -3), (2**63 - 1, 2**63 - 1),
    (size(0, 0), 5), (size(0, 1), 48), (size(2, 0), 7),
    (size(0, 1, packed=[2, 1]), 96), (size(0, 1, packed=[4, 3]), 64),
    ({"multiprocessors": 3}, 396), ({"multiprocessors": None}, 132),
    ({"add": [size(0, 0), -7]}, -2), ({"mul": [size(0, 0), size(0, 1)]}, 240),
    ({"ceildiv": [size(0, 1), 5]}, 10), ({"ceildiv": [size(0, 0), 5]}, 1), ({"ceildiv": [-7, 2]}, -3),
    ({"ceildiv": [{"arg": 0, "dim": 1}, 7]}, 7), ({"ceildiv": [{"arg": 0, "dim": 1, "packed": [2, 1]}, 64]}, 2),
    ({"min": [size(0, 0), 4]}, 4), ({"min": [size(0, 0), {"multiprocessors": 1}]}, 5),
    ({"floordiv": [size(0, 0), 2]}, 2), ({"floordiv": [-7, 4]}, -2), ({"rem": [size(0, 0), 3]}, 2), ({"rem": [-7, 4]}, 1),
    ({"eq": [size(0, 0), 5]}, 1), ({"eq": [size(0, 0), 4]}, 0), ({"lt": [4, size(0, 0)]}, 1), ({"lt": [5, size(0, 0)]}, 0),
    ({"max": [size(0, 0), 4]}, 5), ({"max": [{"mul": [{"add": [1, 2]}, 2]}, {"min": [9, 8]}]}, 8),
    ({"select": [1, 2, 3]}, 2), ({"select": [-1, 2, 3]}, 2), ({"select": [0, 2, 3]}, 3),
    ({"select": [{"lt": [size(0, 0), 5]}, size(0, 1), {"select": [{"eq": [size(0, 0), 5]}, 8, 9]}]}, 8),
    ({"select": [1, {"arg": 0, "dim": 1}, 3]}, 48),
    # Errors of what is not chosen do not count.
    ({"select": [{"lt": [size(0, 0), 5]}, {"ceildiv": [1, {"add": [size(0, 0), -5]}]}, 3]}, 3),
    ({"select": [{"eq": [size(0, 0), 5]}, 2, {"mul": [2**62, size(0, 0)]}]}, 2), ({"select": [1, 2, size(1, 0)]}, 2),
])
def test_value(expression, value):
    assert read_expression(Node(expression))(SHAPES, MULTIPROCESSORS) == value


@pytest.mark.parametrize("expression,message", [
    (size(1, 0), "argument #1: expected an array with the requested size, got a number"),
    (size(2, 1), "argument #2: expected an array of at least 2 dimensions, got shape (7,)"),
    (size(2, 0, packed=[4, 3]), "argument #2: expected a multiple of 3 bytes in dimension 0, got 7"),
    ({"ceildiv": [1, {"add": [size(0, 0), -5]}]}, "expected a positive divisor of ceildiv, got operands 1 and 0"),
    ({"select": [size(0, 0), {"rem": [1, {"add": [size(0, 0), -5]}]}, 3]},
     "expected a positive divisor of rem, got operands 1 and 0"),
    ({"select": [size(1, 0), 2, 3]}, "argument #1: expected an array with the requested size, got a number"),
    ({"mul": [2**62, size(0, 0)]}, f"expected a result of 64 bits of mul, got operands {2**62} and 5"),
    ({"add": [-(2**63), {"add": [size(0, 0), -6]}]},
     f"expected a result of 64 bits of add, got operands {-(2**63)} and -1"),
])
def test_no_value(expression, message):
    with pytest.raises(ArgumentError) as error:
        read_expression(Node(expression))(SHAPES, MULTIPROCESSORS)
    assert str(error.value) == message


@pytest.mark.parametrize("expression,message", [
    (1.5, "$: expected an integer from -9223372036854775808 to 9223372036854775807, got 1.5"),
    (2**63, f"$: expected an integer from -9223372036854775808 to 9223372036854775807, got {2**63}"),
    (True, "$: expected a number or an object of one field of size value multiprocessors add mul ceildiv floordiv rem min max eq "
     "lt select, got true"),
    ("1", "$: expected a number or an object of one field of size value multiprocessors add mul ceildiv floordiv rem min max eq "
     "lt select, got '1'"),
    ({}, "$: expected a number or an object of one field of size value multiprocessors add mul ceildiv floordiv rem min max eq "
     "lt select, got an object of 0"),
    ({"sub": [1, 2]}, "$: expected the fields size value multiprocessors add mul ceildiv floordiv rem min max eq lt select, got "
     "'sub'"),
    ({"add": [1]}, "$.add: expected an array of 2, got an array of 1"),
    ({"select": [1, 2]}, "$.select: expected an array of 3, got an array of 2"),
    ({"select": [1, 2, {"add": []}]}, "$.select[2].add: expected an array of 2, got an array of 0"),
    ({"add": [1, [2]]}, "$.add[1]: expected a number or an object of one field of size value multiprocessors add mul "
     "ceildiv floordiv rem min max eq lt select, got an array of 1"),
    ({"size": {"arg": -1, "dim": 0}}, "$.size.arg: expected an integer from 0 to 2147483647, got -1"),
    ({"size": {"arg": 0}}, "$.size: expected a field 'dim', got none"),
    ({"size": {"arg": 0, "dim": 64}}, "$.size.dim: expected an integer from 0 to 63, got 64"),
    ({"size": {"arg": 0, "dim": 0, "packed": [9, 1]}}, "$.size.packed[0]: expected an integer from 1 to 8, got 9"),
    ({"multiprocessors": 0}, "$.multiprocessors: expected an integer from 1 to 2147483647, got 0"),
])
def test_no_expression(expression, message):
    with pytest.raises(BundleError) as error:
        read_expression(Node(expression))
    assert str(error.value) == message


def test_value_of_an_argument():
    expression = read_expression(Node({"floordiv": [size(0, 0), {"value": {"arg": 1}}]}))
    assert expression.values == {1} and expression.arguments == 2
    assert expression(Shapes(SHAPES, {1: 2}), MULTIPROCESSORS) == 2
    for values in ({}, {1: 2.0}):
        with pytest.raises(ArgumentError, match="argument #1: expected an integer, got"):
            expression(Shapes(SHAPES, values), MULTIPROCESSORS)


def test_operands_of_a_select():
    """Also those that are not chosen."""
    for i in range(3):
        operands = [1, 2, 3]
        operands[i] = {"add": [size(3, 0), {"value": {"arg": 1}}]}
        expression = read_expression(Node({"select": operands}))
        assert expression.arguments == 4 and expression.values == {1}


def test_arguments():
    expression = read_expression(Node({"min": [size(0, 0), {"mul": [size(3, 1), {"multiprocessors": 1}]}]}))
    assert expression.arguments == 4 and read_expression(Node(5)).known == 5


def test_shared_parts_are_read_and_evaluated_once():
    """Or else this would take 2^60 steps."""
    expression = {"size": {"arg": 0, "dim": 1}}
    for _ in range(60):
        expression = {"min": [expression, expression]}
    assert read_expression(Node(expression))(Shapes(SHAPES), MULTIPROCESSORS) == 48


def test_equal_objects_are_one():
    a, b, c, d, e, f = json.loads(
        '[{"min": [{"x": 1}, 2]}, {"min": [{"x": 1}, 2]}, {"min": [{"x": 1}, 2.0]}, {"min": [{"x": true}, 2]},'
        ' {"max": [{"x": 1}, 2]}, {"min": [2, {"x": 1}]}]', object_pairs_hook=Objects(),
    )
    assert a is b and len({id(each) for each in (a, c, d, e, f)}) == 5
    with pytest.raises(ValueError, match="each name of an object once, got x x"):
        json.loads('{"x": 1, "x": 1}', object_pairs_hook=Objects())
