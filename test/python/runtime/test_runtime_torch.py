"""Tensors of torch (a stand-in): used where they are, on torch's current stream."""

import sys

import pytest
from bundles import SIZE, one_kernel, operand, pack, two
from fake_torch import make_torch

from blockscale import runtime
from blockscale.runtime import arrays


@pytest.fixture
def torch(fake, monkeypatch):
    torch = make_torch(fake)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(arrays, "READERS", dict(arrays.READERS))
    monkeypatch.setattr("blockscale.runtime.kernel.READERS", arrays.READERS)
    return torch


@pytest.fixture
def load(tmp_path):
    def load(*entries):
        (tmp_path / "made.bundle").write_bytes(pack(entries))
        return runtime.load(tmp_path / "made.bundle")[entries[0]["function"]]

    return load


def test_torch_in_torch_out(fake, torch, load):
    x = torch.Tensor((6, 64), torch.float8_e4m3fn)
    out = load(two())(x, 1.0)
    assert isinstance(out, torch.Tensor) and out.shape == (6, 8) and out.dtype is torch.float32
    lines = fake.trace()
    assert not any("copy" in line for line in lines)
    assert [line for line in lines if line.startswith("launch")] == [
        "launch first on 11 2,2,1 32,1,1 1,1,1 shared 0: buffer of 384 at 0; buffer of 600 at 256; 0x6;",
        "launch second on 11 1,1,1 128,1,1 2,1,1 programmatic shared 65536: buffer of 192 at 0; buffer of 600 at 0; "
        "0x3f800000;",
    ]


def test_current_stream(fake, torch, load):
    function, x = load(two()), torch.Tensor((6, 64), torch.uint8)
    function(x, 1.0)
    torch.streams[0] = 12
    function(x, 1.0)
    del torch._C._cuda_getCurrentRawStream
    function(x, 1.0)
    function(x, 1.0, stream=5)
    assert [line.split()[3] for line in fake.launches()[::2]] == ["11", "12", "13", "5"]


def test_subclasses(fake, torch, load):
    load(two())(torch.Parameter((6, 64), torch.float8_e4m3fn), 1.0)


@pytest.mark.parametrize("make,message", [
    (lambda torch: torch.Tensor((6, 64), torch.float8_e4m3fn, device=-1),
     "argument #0: expected a tensor on a CUDA device, got one on the CPU"),
    (lambda torch: torch.Tensor((6, 64), torch.float8_e5m2),
     "argument #0: expected elements of float8_e4m3fn or uint8 for f8E4M3FN, got float8_e5m2"),
    (lambda torch: torch.Tensor((6, 64), torch.float8_e4m3fn, strides=(1, 6)),
     "argument #0: expected an array in row-major order without gaps, got other strides"),
    (lambda torch: torch.Tensor((6, 65), torch.uint8),
     "argument #0: expected shape (6, 64) of f8E4M3FN, got (6, 65)"),
])
def test_tensors_that_do_not_fit(fake, torch, load, make, message):
    function = load(two())
    for _ in range(2):
        with pytest.raises(runtime.ArgumentError) as error:
            function(make(torch), 1.0)
        assert str(error.value) == message
    assert fake.launches() == []


@pytest.mark.parametrize("type,dtype,fields,shape,expected", [
    ("f8E8M0FNU", "u1", {}, (4, 8), "float8_e8m0fnu"),
    ("f4E2M1FN", "u1", {"packed": [2, 1]}, (4, 4), "float4_e2m1fn_x2"),
    ("f6E2M3FN", "u1", {}, (4, 8), "uint8"),
    ("bf16", "u2", {}, (4, 8), "bfloat16"),
    ("index", "i8", {}, (4, 8), "int64"),
])
def test_types_of_results(fake, torch, load, type, dtype, fields, shape, expected):
    made = one_kernel([{"arg": 0}, {"result": 0}], [operand("u1", SIZE), operand(dtype, 4, 8, **fields)],
                      ["i8", type])
    out = load(made)(torch.Tensor((16,), torch.uint8))
    assert (out.shape, out.dtype.name) == (shape, expected)


def test_float4_is_packed(fake, torch, load):
    """M x K/2, as torch has it."""
    size = {"size": {"arg": 0, "dim": 1, "packed": [2, 1]}}
    made = one_kernel([{"arg": 0}, size], [operand("u1", SIZE, size, packed=[2, 1])], ["f4E2M1FN"])
    function = load(made)
    function(torch.Tensor((6, 32), torch.float4_e2m1fn_x2), out=())
    function(torch.Tensor((6, 32), torch.uint8), out=())
    assert [line.split()[-1] for line in fake.launches()] == ["0x40;", "0x40;"]


def test_workspace_of_torch(fake, torch, load):
    """Asked for at each call, in place of the runtime's own."""
    function, x, given = load(two()), torch.Tensor((6, 64), torch.uint8), []

    def workspace(size):
        given.append(torch.Tensor((size,), torch.uint8))
        return given[-1]

    out = torch.Tensor((6, 8), torch.float32)
    for _ in range(2):
        function(x, 1.0, out=out, workspace=workspace)
    assert [each.size_in_bytes for each in given] == [600, 600]
    lines = fake.trace()
    assert [line for line in lines if line.startswith("launch first")] == [
        "launch first on 11 2,2,1 32,1,1 1,1,1 shared 0: buffer of 384 at 0; buffer of 600 at 256; 0x6;"
    ] * 2
    assert function.on(0).device.workspaces._streams == {}


@pytest.mark.parametrize("make,message", [
    (lambda torch, size: 4096, "workspace: expected an array on the card, got int"),
    (lambda torch, size: torch.Tensor((size,), torch.uint8, device=-1),
     "workspace: expected memory of CUDA device 0 at a multiple of 256, got "),
])
def test_workspaces_that_do_not_fit(fake, torch, load, make, message):
    with pytest.raises(runtime.ArgumentError) as error:
        load(two())(torch.Tensor((6, 64), torch.uint8), 1.0, workspace=lambda size: make(torch, size))
    assert str(error.value).startswith(message)
    assert fake.launches() == []


def test_torch_is_not_needed_for_others(fake, torch, load):
    """A tensor decides where results are; without one, they are numpy's."""
    import numpy as np

    function = load(two())
    assert isinstance(function(np.zeros((6, 64), np.uint8), 1.0), np.ndarray)


def test_torch_that_is_being_imported(fake, load, monkeypatch):
    """By another thread: there is no Tensor yet, and so no argument can be one."""
    import types

    import numpy as np

    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    assert isinstance(load(two())(np.zeros((6, 64), np.uint8), 1.0), np.ndarray)
