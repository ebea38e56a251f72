"""Arguments that do not fit: exceptions that name the argument, what was expected and what came."""

import ctypes
import struct

import numpy as np
import pytest
from arrays_on_card import CudaArray, DLPackArray
from bundles import SIZE, one_kernel, operand, pack, two

from blockscale import runtime

PACKED = {"size": {"arg": 0, "dim": 1, "packed": [2, 1]}}


@pytest.fixture
def function(fake, tmp_path):
    (tmp_path / "two.bundle").write_bytes(pack([two()]))
    return runtime.load(tmp_path / "two.bundle")["two"]


@pytest.fixture
def out(fake):
    return CudaArray(fake, "<f4", (6, 8))


def fails(function, message, *arguments, **named):
    with pytest.raises(runtime.ArgumentError) as error:
        function(*arguments, **named)
    assert str(error.value) == message


def test_number_of_arguments(fake, function, out):
    x = CudaArray(fake, "|u1", (6, 64))
    fails(function, "function 'two': expected 2 arguments, got 1", x, out=out)
    fails(function, "function 'two': expected 2 arguments, got 3", x, 1.0, out, out=out)
    fails(function, "function 'two': expected 1 results in out, got 2", x, 1.0, out=(out, out))


@pytest.mark.parametrize("shape,message", [
    ((6, 63), "expected shape (6, 64) of f8E4M3FN, got (6, 63)"),
    ((64, 6), "expected shape (64, 64) of f8E4M3FN, got (64, 6)"),
    ((64,), "expected 2 dimensions of f8E4M3FN, got shape (64,)"),
    ((), "expected 2 dimensions of f8E4M3FN, got shape ()"),
    ((2**31, 64), "expected a size of at most 2147483647 in dimension 0, got 2147483648"),
])
def test_shape(fake, function, out, shape, message):
    x = CudaArray(fake, "|u1", (1, 64))
    x.__cuda_array_interface__["shape"] = shape
    fails(function, f"argument #0: {message}", x, 1.0, out=out)


def test_type(fake, function, out):
    x = CudaArray(fake, "<f4", (6, 64))
    fails(function, "argument #0: expected elements of float8_e4m3fn or uint8 for f8E4M3FN, got float32", x, 1.0,
          out=out)
    x = CudaArray(fake, "|u1", (6, 64))
    fails(function, "result #0: expected elements of float32 for f32, got uint8", x, 1.0,
          out=CudaArray(fake, "|u1", (6, 8)))
    big = CudaArray(fake, ">f4", (6, 8))
    fails(function, "result #0: expected elements of float32 for f32, got >f4", x, 1.0, out=big)


def test_formats_are_told_apart(fake, function, out):
    """Elements of one format read as another would give wrong values."""
    right = DLPackArray(fake, "u1", (6, 64), code=(10, 8, 1))
    function(right, 1.0, out=out)
    wrong = DLPackArray(fake, "u1", (6, 64), code=(12, 8, 1))
    fails(function, "argument #0: expected elements of float8_e4m3fn or uint8 for f8E4M3FN, got float8_e5m2", wrong,
          1.0, out=out)
    unknown = DLPackArray(fake, "u1", (6, 64), code=(3, 8, 1))
    fails(function, "argument #0: expected elements of float8_e4m3fn or uint8 for f8E4M3FN, got DLPack's type "
          "(3, 8, 1)", unknown, 1.0, out=out)


class Named:
    """An array of numpy with elements of ml_dtypes, of which numpy has no code."""

    class dtype:
        name = "float8_e4m3fn"

    def __init__(self, array):
        self._array = array
        self.__array_interface__ = {**array.__array_interface__, "typestr": "<V1"}

    def __setitem__(self, index, value):
        raise NotImplementedError


def test_ml_dtypes(fake, function, out, monkeypatch):
    x = Named(np.zeros((6, 64), np.uint8))
    function(x, 1.0)
    monkeypatch.setattr(Named.dtype, "name", "float8_e5m2")
    fails(function, "argument #0: expected elements of float8_e4m3fn or uint8 for f8E4M3FN, got float8_e5m2", x, 1.0)


@pytest.mark.parametrize("strides,is_right", [
    (None, True), ((64, 1), True), ((65, 1), False), ((1, 6), False), ((64, 2), False)
])
@pytest.mark.parametrize("make", [CudaArray, DLPackArray])
def test_strides(fake, function, out, make, strides, is_right):
    x = make(fake, "|u1"[-2 if make is DLPackArray else 0 :], (6, 64), strides=strides)
    if is_right:
        function(x, 1.0, out=out)
    else:
        fails(function, "argument #0: expected an array in row-major order without gaps, got other strides", x, 1.0,
              out=out)


def test_strides_of_one_element(fake, tmp_path):
    """The stride of a dimension with one element says nothing."""
    (tmp_path / "f.bundle").write_bytes(pack([one_kernel([{"arg": 0}], [operand("u1", 1, 4)], ["i8"])]))
    runtime.load(tmp_path / "f.bundle")["f"](CudaArray(fake, "|u1", (1, 4), strides=(99, 1)), out=())


def test_strides_of_numpy(fake, function):
    fails(function, "argument #0: expected an array in row-major order without gaps, got other strides",
          np.zeros((64, 6), np.uint8).T, 1.0)


def test_alignment(fake, function, out):
    x = CudaArray(fake, "|u1", (6, 64))
    x.__cuda_array_interface__["data"] = (x.address + 8, False)
    fails(function, f"argument #0: expected an address that is a multiple of 16, got {x.address + 8:#x}", x, 1.0,
          out=out)
    x.__cuda_array_interface__["data"] = (x.address + 16, False)
    function(x, 1.0, out=out)


def test_results_have_memory_of_their_own(fake, tmp_path):
    operands = [operand("u1", 64), operand("u1", 64), operand("u1", 32)]
    made = one_kernel([{"arg": 0}, {"result": 0}, {"result": 1}], operands, ["i8"] * 3)
    (tmp_path / "f.bundle").write_bytes(pack([made]))
    function = runtime.load(tmp_path / "f.bundle")["f"]
    memory = fake.allocate(512)

    def at(offset, size):
        array = CudaArray(fake, "|u1", (size,))
        array.__cuda_array_interface__["data"] = (memory + offset, False)
        return array

    message = "result #{}: expected memory of its own, got what it shares with {}".format
    fails(function, message(0, "argument #0"), at(0, 64), out=(at(48, 64), at(128, 32)))
    fails(function, message(0, "argument #0"), at(64, 64), out=(at(16, 64), at(128, 32)))
    fails(function, message(1, "result #0"), at(0, 64), out=(at(64, 64), at(112, 32)))
    function(at(0, 64), out=(at(64, 64), at(128, 32)))


def test_read_only_results(fake, function):
    x = np.zeros((6, 64), np.uint8)
    x.flags.writeable = False
    result = np.zeros((6, 8), np.float32)
    function(x, 1.0, out=result)
    result.flags.writeable = False
    fails(function, "result #0: expected an array that can be written, got a read-only one", x, 1.0, out=result)


def test_what_is_no_array(fake, function, out):
    fails(function, "argument #0: expected a number, a tensor of torch, or an object with __cuda_array_interface__, "
          "__dlpack__ or __array_interface__, got list", [1], 1.0, out=out)
    x = CudaArray(fake, "|u1", (6, 64))
    fails(function, "result #0: expected an array, got a number", x, 1.0, out=1)
    fails(function, "argument #0: expected memory of a CUDA device (DLPack's type 2 or 13), got type 1",
          DLPackArray(fake, "u1", (6, 64), device_type=1), 1.0, out=out)
    fails(function, "argument #0: __cuda_array_interface__: expected memory of a CUDA device, got address 0x8",
          CudaArray(fake, "|u1", (6, 64), data=(8, False)), 1.0, out=out)


def test_number_in_place_of_an_array(fake, tmp_path):
    (tmp_path / "f.bundle").write_bytes(pack([one_kernel([{"arg": 0}], [operand("u1", 4)], ["i8"])]))
    fails(runtime.load(tmp_path / "f.bundle")["f"],
          "argument #0: expected an array of shape (4,) of i8, got a number", 3, out=())


def test_size_of_a_number(fake, function, out):
    fails(function, "argument #0: expected an array with the requested size, got a number", 1, 1.0, out=out)


def test_devices(fake, function, out):
    x = DLPackArray(fake, "u1", (6, 64))
    x._tensor.device_id = 1
    other = CudaArray(fake, "<f4", ())
    (argument, one) = (x, other)
    fails(function, "argument #1: expected an array on CUDA device 1, as argument #0 is, got one on 0", argument, one,
          out=out)
    result = DLPackArray(fake, "f4", (6, 8))
    result._tensor.device_id = 1
    fails(function, "result #0: expected an array on CUDA device 0, got one on 1", CudaArray(fake, "|u1", (6, 64)),
          1.0, out=result)


def test_results_on_the_host(fake, function):
    x = CudaArray(fake, "|u1", (6, 64))
    fails(function, "result #0: expected an array on CUDA device 0, as arguments are, got one in the memory of the "
          "host", x, 1.0, out=np.zeros((6, 8), np.float32))
    fails(function, "function 'two': expected out=, as no argument is of torch or numpy, got none", x, 1.0)


@pytest.mark.parametrize("type,dtype,value,bits", [
    ("f32", "f4", 1, "0x3f800000"), ("f64", "f8", -2.0, "0xc000000000000000"), ("f16", "f2", 1.5, "0x3e00"),
    ("bf16", "u2", 1.00390625, "0x3f80"), ("bf16", "u2", 1.01171875, "0x3f82"), ("bf16", "u2", float("nan"), "0x7fc0"),
    ("bf16", "u2", struct.unpack("<d", b"\xff" * 8)[0], "0xffff"),
    ("bf16", "u2", float("-inf"), "0xff80"), ("i8", "i1", -1, "0xff"), ("i1", "u1", True, "0x1"),
    ("i32", "i4", -2, "0xfffffffe"), ("i32", "i4", 2**32 - 1, "0xffffffff"), ("index", "i8", 5, "0x5"),
])
def test_numbers(fake, tmp_path, type, dtype, value, bits):
    (tmp_path / "f.bundle").write_bytes(pack([one_kernel([{"arg": 0}], [operand(dtype)], [type])]))
    runtime.load(tmp_path / "f.bundle")["f"](value, out=())
    assert fake.launches()[0].endswith(f" {bits};")


@pytest.mark.parametrize("type,dtype,value,message", [
    ("i32", "i4", 2**32, "expected a number from -2147483648 to 4294967295 for i32, got 4294967296"),
    ("i8", "i1", -129, "expected a number from -128 to 255 for i8, got -129"),
    ("i1", "u1", 2, "expected a number from 0 to 1 for i1, got 2"),
    ("i32", "i4", 1.5, "expected an integer for i32, got 1.5"),
    ("f32", "f4", 1e39, "expected a number that f32 can hold, got 1e+39"),
    ("f16", "f2", 65520.0, "expected a number that f16 can hold, got 65520.0"),
    ("bf16", "u2", 1e39, "expected a number that bf16 can hold, got 1e+39"),
])
def test_numbers_that_do_not_fit(fake, tmp_path, type, dtype, value, message):
    (tmp_path / "f.bundle").write_bytes(pack([one_kernel([{"arg": 0}], [operand(dtype)], [type])]))
    fails(runtime.load(tmp_path / "f.bundle")["f"], f"argument #0: {message}", value, out=())


def test_rank_0(fake, tmp_path):
    """A tensor without dimensions is an array, not a number: what the kernel has decides."""
    made = one_kernel([{"arg": 0}], [operand("f4")], ["f32"])
    made["images"][0].data = b"// fake f: 8\n"
    (tmp_path / "f.bundle").write_bytes(pack([made]))
    function = runtime.load(tmp_path / "f.bundle")["f"]
    function(CudaArray(fake, "<f4", ()), out=())
    assert fake.launches()[0].endswith("buffer of 68 at 0;")
    with pytest.raises(runtime.ImageError, match=r"expected parameters of \[4\] bytes, .* got code that has \[8\]"):
        function(1.0, out=())


def packed_function(tmp_path):
    made = one_kernel(
        [{"arg": 0}, PACKED, {"result": 0}],
        [operand("u1", SIZE, PACKED, packed=[2, 1]), operand("u1", SIZE, PACKED, packed=[2, 1])], ["f4E2M1FN"] * 2,
    )
    (tmp_path / "f.bundle").write_bytes(pack([made]))
    return runtime.load(tmp_path / "f.bundle")["f"]


def test_codes_that_are_not_packed(fake, tmp_path):
    """They show in another operand whose size follows from theirs, or in one that is static."""
    static = one_kernel([{"arg": 0}, {"result": 0}], [operand("u1", 6, 64, packed=[2, 1]), operand("f4", 6)], ["f4E2M1FN", "f32"])
    follows = one_kernel(
        [{"arg": 0}, PACKED, {"result": 0}], [operand("u1", SIZE, PACKED, packed=[2, 1]), operand("f4", SIZE, PACKED)],
        ["f4E2M1FN", "f32"],
    )
    for made, out, where in (
        (static, (6,), "argument #0: expected shape (6, 32) of f4E2M1FN, 2 in 1 byte, got (6, 64)"),
        (follows, (6, 64), "result #0: expected shape (6, 128) of f32, got (6, 64)"),
    ):
        (tmp_path / "f.bundle").write_bytes(pack([made]))
        function = runtime.load(tmp_path / "f.bundle")["f"]
        result = CudaArray(fake, "<f4", out)
        function(CudaArray(fake, "|u1", (6, 32)), out=result)
        fails(function, f"{where}; argument #0 has one element per byte, expected 2 in 1 along the last dimension, as "
              "blockscale.pack makes them", CudaArray(fake, "|u1", (6, 64)), out=result)
    with pytest.raises(runtime.ArgumentError) as error:  # no packing is so
        function(CudaArray(fake, "|u1", (6, 32)), out=CudaArray(fake, "<f4", (6, 60)))
    assert "pack" not in str(error.value)


def both_unpacked(scales, formats=((2, 1), (2, 1))):
    """Two packed arguments of dynamic sizes, and scales with `scales` columns for them."""
    def columns(arg, format):
        return {"size": {"arg": arg, "dim": 1, "packed": list(format)}}

    x, y = (columns(i, format) for i, format in enumerate(formats))
    packed = [operand("u1", SIZE, size, packed=list(format)) for size, format in zip((x, y), formats)]
    return one_kernel(
        [{"arg": 0}, {"arg": 1}, {"arg": 2}, {"result": 0}],
        [*packed, operand("u1", SIZE, scales(x, y)), operand("f4", 1)],
        ["f4E2M1FN" if format == (2, 1) else "f6E2M3FN" for format in formats] + ["f8E8M0FNU", "f32"],
    )


def test_codes_of_several_arguments_that_are_not_packed(fake, tmp_path):
    def columns(x, y):
        return {"floordiv": [{"add": [x, y]}, 64]}

    for formats, unpacked, packed, sizes in (
        (((2, 1), (2, 1)), 64, 32, "2 in 1"), (((2, 1), (4, 3)), 192, 144, "2 in 1 and 4 in 3"),
    ):
        (tmp_path / "f.bundle").write_bytes(pack([both_unpacked(columns, formats)]))
        function = runtime.load(tmp_path / "f.bundle")["f"]
        out, scales = CudaArray(fake, "<f4", (1,)), CudaArray(fake, "|u1", (4, 1 + unpacked // 64))
        function(CudaArray(fake, "|u1", (4, 32)), CudaArray(fake, "|u1", (4, packed)), scales, out=out)
        with pytest.raises(runtime.ArgumentError) as error:
            function(CudaArray(fake, "|u1", (4, 64)), CudaArray(fake, "|u1", (4, unpacked)), scales, out=out)
        assert str(error.value).endswith(
            f"; arguments #0 and #1 have one element per byte, expected {sizes} along the last dimension, as "
            "blockscale.pack makes them"
        )
    with pytest.raises(runtime.ArgumentError) as error:  # no packing is so
        function(CudaArray(fake, "|u1", (4, 64)), CudaArray(fake, "|u1", (4, unpacked)), CudaArray(fake, "|u1", (4, 9)), out=out)
    assert "pack" not in str(error.value)


def test_packed(fake, tmp_path):
    """The array of fp4 is M x K/2; sizes count elements."""
    function = packed_function(tmp_path)
    for code in ((1, 8, 1), (17, 4, 2)):
        function(DLPackArray(fake, "u1", (6, 32), code=code), out=CudaArray(fake, "|u1", (6, 32)))
        assert "0x40;" in fake.launches()[0]
    fails(function, "result #0: expected shape (6, 32) of f4E2M1FN, 2 in 1 byte, got (6, 64); result #0 has one element per "
          "byte, expected 2 in 1 along the last dimension, as blockscale.pack makes them",
          CudaArray(fake, "|u1", (6, 32)), out=CudaArray(fake, "|u1", (6, 64)))


def test_packed_rows_end_on_a_byte(fake, tmp_path):
    (tmp_path / "f.bundle").write_bytes(pack([
        one_kernel([{"arg": 0}], [operand("u1", 4, 5, packed=[2, 1])], ["f4E2M1FN"])
    ]))
    fails(runtime.load(tmp_path / "f.bundle")["f"], "argument #0: expected rows that end on a byte when packed, got 5 "
          "elements, of which 2 are in 1 bytes", CudaArray(fake, "|u1", (4, 2)), out=())


def test_results_are_checked_each_time(fake, function, out):
    x = CudaArray(fake, "|u1", (6, 64))
    function(x, 1.0, out=out)
    fails(function, "result #0: expected shape (6, 8) of f32, got (6, 7)", x, 1.0, out=CudaArray(fake, "<f4", (6, 7)))


def test_elements_apart_are_not_packed(fake, tmp_path):
    """fp6 of ml_dtypes has a byte for each code."""
    made = one_kernel([{"arg": 0}], [operand("u1", 4, 8, packed=[4, 3])], ["f6E2M3FN"])
    (tmp_path / "f.bundle").write_bytes(pack([made]))
    function = runtime.load(tmp_path / "f.bundle")["f"]
    function(CudaArray(fake, "|u1", (4, 6)), out=())
    fails(function, "argument #0: expected elements of uint8 for f6E2M3FN, 4 in 3 bytes, got float6_e2m3fn",
          DLPackArray(fake, "u1", (4, 6), code=(15, 6, 1)), out=())


class Stream:
    def __init__(self, **fields):
        self.__dict__.update(fields)


@pytest.mark.parametrize("stream,handle", [
    (5, 5), (Stream(cuda_stream=6), 6), (Stream(ptr=7), 7), (Stream(__cuda_stream__=lambda: (0, 8)), 8),
    (Stream(__cuda_stream__=(0, 9)), 9),
])
def test_streams(fake, function, out, stream, handle):
    function(CudaArray(fake, "|u1", (6, 64)), 1.0, out=out, stream=stream)
    assert f" on {handle} " in fake.launches()[0]


def test_what_is_no_stream(fake, function, out):
    with pytest.raises(runtime.ArgumentError, match="^stream: expected an integer, .*, got 'main'$"):
        function(CudaArray(fake, "|u1", (6, 64)), 1.0, out=out, stream="main")


def test_grid(fake, tmp_path):
    made = one_kernel([{"arg": 0}], [operand("u1", SIZE)], ["i8"], grid=({"add": [SIZE, -5]}, 1, 1))
    (tmp_path / "f.bundle").write_bytes(pack([made]))
    fails(runtime.load(tmp_path / "f.bundle")["f"], "expected 0 to 2147483647 blocks in dimension 0 of the grid, "
          "got -1", CudaArray(fake, "|u1", (4,)), out=())


def test_workspace_offsets(fake, tmp_path):
    made = one_kernel([{"workspace": SIZE}], [operand("u1", SIZE)], ["i8"], workspace=100)
    (tmp_path / "f.bundle").write_bytes(pack([made]))
    function = runtime.load(tmp_path / "f.bundle")["f"]
    function(CudaArray(fake, "|u1", (100,)), out=())
    fails(function, "parameter #0 of kernel 'f': expected an offset from 0 to 100 into the workspace, got 101",
          CudaArray(fake, "|u1", (101,)), out=())


def test_no_driver(fake, function, monkeypatch):
    from blockscale.runtime import driver

    monkeypatch.setattr(driver, "LIBRARY", "libnone.so.1")
    with pytest.raises(runtime.DriverError, match="^cannot open the CUDA driver libnone.so.1: "):
        function(np.zeros((6, 64), np.uint8), 1.0)


def test_no_card(fake, function):
    fake.set(FAIL="cuInit=100")
    with pytest.raises(runtime.DriverError, match="^cannot start the CUDA driver: "):
        function(np.zeros((6, 64), np.uint8), 1.0)
    # It is tried again.
    fake.set(FAIL=None)
    function(np.zeros((6, 64), np.uint8), 1.0)


def test_old_driver(fake, function, monkeypatch):
    from blockscale.runtime import driver

    monkeypatch.setitem(driver.SIGNATURES, "cuNone", (ctypes.c_int,))
    with pytest.raises(runtime.DriverError, match="expected a CUDA driver of CUDA 11.4 or later, got one without "
                       "cuNone"):
        function(np.zeros((6, 64), np.uint8), 1.0)


def test_no_rows(fake, function):
    """A kernel whose grid is empty is not launched; the one behind it is."""
    function(CudaArray(fake, "|u1", (0, 64)), 1.0, out=CudaArray(fake, "<f4", (0, 8)))
    assert [launch.split()[1] for launch in fake.launches()] == ["second"]


def test_checks(fake, tmp_path):
    """What sizes have to be is checked before anything is launched, also of numbers that a size depends on."""
    made = one_kernel([{"arg": 0}], [operand("u1", SIZE), operand("i8")], ["i8", "index"], grid=({"value": {"arg": 1}}, 1, 1))
    made["launch"]["checks"] = [
        {"condition": {"eq": [SIZE, {"mul": [{"value": {"arg": 1}}, 2]}]},
         "message": "ERROR: Runtime op verification failed\n^ expected twice as many"},
    ]
    (tmp_path / "f.bundle").write_bytes(pack([made]))
    function = runtime.load(tmp_path / "f.bundle")["f"]
    function(CudaArray(fake, "|u1", (8,)), 4, out=())
    function(CudaArray(fake, "|u1", (6,)), 3, out=())
    grids = [launch.split()[4] for launch in fake.launches()]
    assert grids == ["4,1,1", "3,1,1"]
    fails(function, "check failed at run time:\n^ expected twice as many", CudaArray(fake, "|u1", (8,)), 3, out=())
