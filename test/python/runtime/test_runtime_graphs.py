"""While a graph is captured, nothing is allocated or loaded: what is needed is there before, or that is an error."""

import numpy as np
import pytest
from arrays_on_card import CudaArray
from bundles import pack, two

from blockscale import runtime


@pytest.fixture
def function(fake, tmp_path):
    (tmp_path / "two.bundle").write_bytes(pack([two()]))
    return runtime.load(tmp_path / "two.bundle")["two"]


def arrays(fake, rows=6):
    return CudaArray(fake, "|u1", (rows, 64)), CudaArray(fake, "<f4", (rows, 8))


def workspace_of(function):
    [ready] = function._plans.values()
    return ready.plan._workspace_address


def test_code_is_not_loaded(fake, function):
    x, out = arrays(fake)
    fake.set(CAPTURE="1")
    with pytest.raises(runtime.CaptureError, match="^function 'two': expected code that was loaded before the graph "
                       "is captured"):
        function(x, 1.0, out=out)
    assert fake.trace() == []


def test_workspace_is_not_allocated(fake, function):
    """Even behind a launch: its workspace is one of a stream, and the graph may be replayed beside that."""
    x, out = arrays(fake)
    function(x, 1.0, out=out)
    fake.trace()
    fake.set(CAPTURE="1")
    with pytest.raises(runtime.CaptureError, match="^expected a workspace of 600 bytes that was allocated before"):
        function(x, 1.0, out=out)
    assert fake.trace() == []


def test_workspace_of_the_caller_or_of_the_runtime(fake, function):
    """A function that returns None leaves it to the runtime."""
    x, out = arrays(fake)
    asked = []
    function(x, 1.0, out=out, workspace=asked.append)
    own = workspace_of(function)
    function(x, 1.0, out=out)
    assert asked == [600] and own == workspace_of(function)


def test_prepared(fake, function):
    """Shapes that were not seen before can be captured, of as many graphs as were prepared."""
    x, out = arrays(fake)
    function.prepare(x.__cuda_array_interface__["shape"], None)
    before = fake.memory()
    fake.trace()
    fake.set(CAPTURE="1")
    function(x, 1.0, out=out)
    first = workspace_of(function)
    function(x, 1.0, out=out)
    assert workspace_of(function) == first
    assert [line.split()[0] for line in fake.trace()] == ["launch"] * 4
    assert fake.memory() == before
    fake.set(CAPTURE="2")
    with pytest.raises(runtime.CaptureError):
        function(x, 1.0, out=out)
    fake.set(CAPTURE=None)
    function(x, 1.0, out=out)
    assert workspace_of(function) != first


def test_graphs_and_branches_share_nothing(fake, function):
    x, out = arrays(fake)
    function.prepare((6, 64), None, graphs=3)
    seen = set()
    for capture, stream in (("1", 5), ("1", 6), ("2", 5)):
        fake.set(CAPTURE=capture)
        function(x, 1.0, out=out, stream=stream)
        seen.add(workspace_of(function))
    assert len(seen) == 3


def test_larger_in_the_same_graph(fake, function):
    """A workspace that is too small stays, and the next one is taken."""
    for rows in (6, 9):
        function.prepare((rows, 64), None)
    fake.set(CAPTURE="1")
    for rows in (6, 9, 6):
        x, out = arrays(fake, rows)
        function(x, 1.0, out=out)
        assert f"buffer of {rows * 100} at 0;" in fake.launches()[1]


def test_prepared_for_another_size(fake, function):
    function.prepare((6, 64), None)
    fake.set(CAPTURE="1")
    x, out = arrays(fake, rows=7)
    with pytest.raises(runtime.CaptureError, match="700 bytes"):
        function(x, 1.0, out=out)
    x, out = arrays(fake, rows=5)
    function(x, 1.0, out=out)


def test_numpy_is_not_copied(fake, function):
    function.prepare((6, 64), None)
    fake.set(CAPTURE="1")
    with pytest.raises(runtime.CaptureError, match="got one of numpy, which would have to be copied"):
        function(np.zeros((6, 64), np.uint8), 1.0)


def test_prepare_checks_shapes(fake, function):
    for shapes, message in (
        (((6, 64),), "function 'two': expected 2 arguments, got 1"),
        (((6, 63), None), "argument #0: expected shape (6, 64) of f8E4M3FN, got (6, 63)"),
        (((6, 64), (1,)), "argument #1: expected shape () of f32, got (1,)"),
        ((None, None), "argument #0: expected an array with the requested size, got a number"),
    ):
        with pytest.raises(runtime.ArgumentError) as error:
            function.prepare(*shapes)
        assert str(error.value) == message
    function.prepare(np.zeros((6, 64)), None)
