"""What the driver is asked for: kernels in order, with their extents, parameters, workspace and attributes."""

import ctypes
import threading
import time

import numpy as np
import pytest
from arrays_on_card import CudaArray, DLPackArray
from bundles import SIZE, TWO, entry, info, kernel, one_kernel, operand, pack, two

from blockscale import runtime
from blockscale.runtime.driver import get_driver


def load(tmp_path, *entries):
    path = tmp_path / "made.bundle"
    path.write_bytes(pack(entries))
    return runtime.load(path)


def test_order_and_parameters(fake, tmp_path):
    """Both kernels, with a workspace, a cluster, dynamic shared memory and an early start."""
    x, out = CudaArray(fake, "|u1", (6, 64)), CudaArray(fake, "<f4", (6, 8))
    assert load(tmp_path, two())["two"](x, 1.5, out=out, stream=7) is out
    assert fake.trace() == [
        "load first",
        "attribute 8 of second is 65536",
        "load second",
        "launch first on 7 2,2,1 32,1,1 1,1,1 shared 0: buffer of 448 at 0; buffer of 600 at 256; 0x6;",
        "launch second on 7 1,1,1 128,1,1 2,1,1 programmatic shared 65536: buffer of 256 at 0; buffer of 600 at 0; "
        "0x3fc00000;",
    ]


def test_cached_launch(fake, tmp_path):
    """The second launch loads nothing and has the other addresses and numbers."""
    function = load(tmp_path, two())["two"]
    arrays = [(CudaArray(fake, "|u1", (6, 64)), CudaArray(fake, "<f4", (6, 8))) for _ in range(2)]
    for (x, out), number in zip(arrays, (1, 2)):
        before = (x.bytes(), out.bytes())
        fake.trace()
        function(x, float(number), out=out, stream=7)
        lines = fake.trace()
        assert len(lines) == (5 if number == 1 else 2), lines
        assert f"0x{0x3F800000 if number == 1 else 0x40000000:x};" in lines[-1]
        # The fake kernels add 1 to what their first parameter points to.
        assert (x.bytes(), out.bytes()) == tuple([(byte + 1) % 256 for byte in each] for each in before)


def test_shapes_have_plans_of_their_own(fake, tmp_path):
    function = load(tmp_path, two())["two"]
    for rows in (6, 9, 6):
        x, out = CudaArray(fake, "|u1", (rows, 64)), CudaArray(fake, "<f4", (rows, 8))
        function(x, 1.0, out=out)
        first = fake.launches()[0]
        assert f" {-(-rows // 4)},2,1 " in first and f" {hex(rows)};" in first, first


FEW = {"lt": [SIZE, 8]}


def alternatives(**changes):
    """f(x: tensor<?x16xi8>): one kernel for less than 8 rows; two, with a workspace, for more."""
    above, many = {"add": [SIZE, -7]}, {"eq": [FEW, 0]}
    tensor = {"of": {"arg": 0}, "dtype": "u1", "sizes": [above, 16], "strides": [16], "box": [8, 16], "swizzle": "none"}
    kernels = [
        kernel("few", [{"arg": 0}], condition=FEW),
        kernel("fill", [{"workspace": {"mul": [above, 16]}}, {"tensor_map": tensor}], [above, 1, 1], condition=many,
               programmatic=True),
        kernel("many", [{"arg": 0}], condition=many, programmatic=True),
    ]
    made = info(kernels, [operand("u1", SIZE, 16)], {"select": [FEW, 0, {"mul": [above, 256]}]})
    return entry("f", {**made, "version": 2, **changes}, ["i8"])


def test_alternatives(fake, tmp_path):
    """Kernels that are not chosen are left out, and need not fit."""
    function = load(tmp_path, alternatives())["f"]
    for rows, names in ((7, ["few"]), (8, ["fill", "many"]), (3, ["few"]), (7, ["few"])):
        x = CudaArray(fake, "|u1", (rows, 16))
        fake.trace()
        function(x, out=())
        lines = fake.trace()
        assert [line.split()[1] for line in lines if line.startswith("launch ")] == names
    assert lines[-1].startswith("launch few on 0 1,1,1 32,1,1 1,1,1 shared 0: buffer of ")
    # The first one that is launched may start before what is in front of the function has ended.
    x = CudaArray(fake, "|u1", (9, 16))
    function(x, out=())
    first, second = fake.launches()
    assert first == ("launch fill on 0 2,1,1 32,1,1 1,1,1 programmatic shared 0: buffer of 512 at 32; "
                     "map of type 0, swizzle 0, fill 0, dims 16/0/16/1 2/16/8/1;")
    assert second == "launch many on 0 1,1,1 32,1,1 1,1,1 programmatic shared 0: buffer of 208 at 0;"


def test_alternatives_that_do_not_fit(fake, tmp_path):
    kernels = alternatives()["launch"]["kernels"]
    for condition, message in (
        ({"lt": [SIZE, 9]}, r"expected 0 to 2147483647 blocks in dimension 0 of the grid, got -4"),
        ({"rem": [1, {"add": [SIZE, -3]}]},
         r"condition of kernel 'fill': expected a positive divisor of rem, got operands 1 and 0"),
    ):
        function = load(tmp_path, alternatives(kernels=[kernels[0], {**kernels[1], "condition": condition}]))["f"]
        with pytest.raises(runtime.ArgumentError, match=message):
            function(CudaArray(fake, "|u1", (3, 16)), out=())


@pytest.mark.parametrize("number,bits", [(0.0, "0x0;"), (-0.0, "0x80000000;")])
def test_zeros_have_signs(fake, tmp_path, number, bits):
    function = load(tmp_path, two())["two"]
    x, out = CudaArray(fake, "|u1", (6, 64)), CudaArray(fake, "<f4", (6, 8))
    function(x, -number, out=out)
    fake.trace()
    function(x, number, out=out)
    assert fake.launches()[-1].endswith(bits)


def test_numpy_is_copied(fake, tmp_path):
    x = np.zeros((6, 64), np.uint8)
    out = load(tmp_path, two())["two"](x, 1.0)
    assert out.shape == (6, 8) and out.dtype == np.float32
    # 0x55 is what the fake driver allocates, to which the second kernel adds 1.
    assert set(out.view(np.uint8).ravel()) == {0x56} and not x.any()
    lines = fake.trace()
    assert [line.split()[0] for line in lines] == "load attribute load copy launch launch copy wait".split()
    assert "copy in of 384 on 0" in lines and "copy out of 192 on 0" in lines


def test_numpy_without_elements(fake, tmp_path):
    made = one_kernel([{"arg": 0}, {"result": 0}], [operand("u1", SIZE), operand("u1", SIZE)], ["i8", "i8"])
    assert load(tmp_path, made)["f"](np.zeros(0, np.uint8)).shape == (0,)


def test_plans_of_numpy_are_not_kept(fake, tmp_path):
    """Another card may be current the next time."""
    function = load(tmp_path, two())["two"]
    function(np.zeros((6, 64), np.uint8), 1.0)
    assert not function._plans


def test_numpy_out(fake, tmp_path):
    out = np.zeros((6, 8), np.float32)
    assert load(tmp_path, two())["two"](np.zeros((6, 64), np.uint8), np.float32(1), out=out, stream=3) is out
    assert set(out.view(np.uint8).ravel()) == {0x56}
    assert "wait for on 3" in fake.trace()


def test_numpy_frees_what_it_took(fake, tmp_path):
    function = load(tmp_path, two())["two"]
    function.prepare((6, 64), None)
    function(np.zeros((6, 64), np.uint8), 1.0)
    before = fake.memory()
    function(np.zeros((6, 64), np.uint8), 1.0)
    assert fake.memory() == before


def test_copies_that_fail(fake, tmp_path):
    fake.set(FAIL="cuStreamSynchronize=700")
    with pytest.raises(runtime.DriverError, match=r"execution failed: an illegal memory access was encountered "
                       r"\(CUDA_ERROR_ILLEGAL_ADDRESS, 700\)"):
        load(tmp_path, two())["two"](np.zeros((6, 64), np.uint8), 1.0)


def test_dlpack(fake, tmp_path):
    """Asked for the stream of the launch; 0, which DLPack does not have, is 1 there."""
    x, out = DLPackArray(fake, "u1", (6, 64), offset=16), DLPackArray(fake, "f4", (6, 8))
    function = load(tmp_path, two())["two"]
    function(x, 1.0, out=out, stream=7)
    function(x, 1.0, out=out)
    assert x.streams == [7, 1] and out.streams == [7, 1]
    assert "buffer of 400 at 16;" in fake.launches()[0]


def test_dlpack_without_dimensions(fake, tmp_path):
    """Shape and strides are null."""
    array = DLPackArray(fake, "f4", ())
    array._tensor.shape = None
    made = one_kernel([{"arg": 0}], [operand("f4")], ["f32"])
    made["images"][0].data = b"// fake f: 8\n"
    load(tmp_path, made)["f"](array, out=())
    assert "buffer of 4 at 0;" in fake.launches()[0]


def test_producers_stream(fake, tmp_path):
    """What comes on another stream is waited for."""
    x = CudaArray(fake, "|u1", (6, 64), stream=5)
    out = CudaArray(fake, "<f4", (6, 8), stream=7)
    load(tmp_path, two())["two"](x, 1.0, out=out, stream=7)
    lines = fake.trace()
    assert lines[:2] == ["event on 5", "stream waits on 7"] and lines.count("event on 7") == 0


def test_unused_context_stays(fake, tmp_path):
    """Somebody else's context is current again behind a launch; without one, the card's becomes it."""
    function = load(tmp_path, two())["two"]
    x, out = CudaArray(fake, "|u1", (6, 64)), CudaArray(fake, "<f4", (6, 8))
    function(x, 1.0, out=out)
    assert "push context" not in fake.trace()
    current = ctypes.c_void_p()
    fake.library.cuCtxGetCurrent(ctypes.byref(current))
    assert current.value
    fake.library.cuCtxPushCurrent_v2(ctypes.c_void_p(0x1234))
    fake.trace()
    function(x, 1.0, out=out)
    lines = fake.trace()
    assert (lines[0], lines[-1]) == ("push context", "pop context") and len(lines) == 4
    fake.library.cuCtxGetCurrent(ctypes.byref(current))
    assert current.value == 0x1234
    fake.library.cuCtxPopCurrent_v2(ctypes.byref(current))


def test_workspaces_by_stream(fake, tmp_path):
    """Streams share none; one grows when a launch needs more."""
    function = load(tmp_path, two())["two"]

    def workspace(rows, stream):
        x, out = CudaArray(fake, "|u1", (rows, 64)), CudaArray(fake, "<f4", (rows, 8))
        function(x, 1.0, out=out, stream=stream)
        fake.trace()
        [ready] = [each for each in function._plans.values() if each.plan.buffer_shapes[0] == (rows, 64)]
        return ready.plan._workspace_address

    one, other = workspace(6, 1), workspace(6, 7)
    assert one != other
    assert workspace(6, 1) == one and workspace(5, 1) == one and workspace(6, 7) == other
    assert workspace(6, 1) == one
    for rows, size in ((60, 6000), (61, 9000), (90, 9000), (6, 9000)):
        x, out = CudaArray(fake, "|u1", (rows, 64)), CudaArray(fake, "<f4", (rows, 8))
        function(x, 1.0, out=out, stream=7)
        assert f"buffer of {size} at 0;" in fake.launches()[1]


def test_too_old_for_attributes(fake, tmp_path, monkeypatch):
    function = load(tmp_path, two())["two"]
    monkeypatch.setitem(get_driver().functions, "cuLaunchKernelEx", None)
    x, out = CudaArray(fake, "|u1", (6, 64)), CudaArray(fake, "<f4", (6, 8))
    with pytest.raises(runtime.DriverError, match="'second' with a cluster: expected a driver of CUDA 11.8 or later, "
                       "got CUDA 12.4"):
        function(x, 1.0, out=out)
    kernels = [dict(each, cluster=[1, 1, 1]) for each in TWO["kernels"]]
    load(tmp_path, two(kernels=kernels))["two"](x, 1.0, out=out, stream=7)
    assert [line.split(" shared")[0] for line in fake.launches()] == [
        "launch first on 7 2,2,1 32,1,1 1,1,1", "launch second on 7 1,1,1 128,1,1 1,1,1",
    ]


def test_threads(fake, tmp_path, monkeypatch):
    """A plan holds the addresses of one launch at a time: those of two threads do not mix."""
    made = one_kernel([{"arg": 0}, {"result": 0}], [operand("u1", 16), operand("u1", 16)], ["i8", "i8"])
    function = load(tmp_path, made)["f"]
    functions = get_driver().functions
    real = functions["cuLaunchKernelEx"]

    def launch_late(*arguments):
        # Others may run now, as they may while a driver is busy.
        time.sleep(1e-4)
        return real(*arguments)

    monkeypatch.setitem(functions, "cuLaunchKernelEx", launch_late)

    def launch(stream, offset):
        x, out = CudaArray(fake, "|u1", (16,)), CudaArray(fake, "|u1", (16,))
        for array in (x, out):
            array.__cuda_array_interface__["data"] = (array.address + offset, False)
        for _ in range(20):
            function(x, out=out, stream=stream)

    threads = [threading.Thread(target=launch, args=(i + 1, 16 * i)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = fake.launches()
    assert [sum(f"launch f on {stream} " in line for line in lines) for stream in (1, 2, 3)] == [20, 20, 20]
    for line in lines:
        stream = int(line.split()[3])
        assert line.count(f" at {16 * (stream - 1)};") == 2, line


@pytest.mark.parametrize("name", ["cuLaunchKernelEx", "cuMemAlloc", "cuModuleLoadDataEx", "cuFuncSetAttribute"])
def test_calls_that_fail(fake, tmp_path, name):
    fake.set(FAIL=f"{name}=999")
    x = CudaArray(fake, "|u1", (6, 64)) if name != "cuMemAlloc" else np.zeros((6, 64), np.uint8)
    out = CudaArray(fake, "<f4", (6, 8)) if name != "cuMemAlloc" else None
    with pytest.raises(runtime.DriverError, match=r"cannot .*\(unknown error, 999\)"):
        load(tmp_path, two())["two"](x, 1.0, out=out)


def test_struct_and_numbers(fake, tmp_path):
    fields = [
        {"at": 0, "param": {"result": 0}}, {"at": 8, "param": SIZE}, {"at": 12, "param": {"i32": -2}},
        {"at": 16, "param": {"i64": {"add": [SIZE, 3]}}}, {"at": 24, "param": {"arg": 0, "offset": 16}},
    ]
    params = [{"struct": {"size": 40, "fields": fields}}, {"f32": 1.5}, {"i32": 4294967295}, {"arg": 1}]
    made = one_kernel(params, [operand("u1", SIZE), operand("i8"), operand("u1", SIZE)], ["i8", "index", "i8"])
    x, out = CudaArray(fake, "|u1", (64,)), CudaArray(fake, "|u1", (64,))
    load(tmp_path, made)["f"](x, -1, out=out)
    assert fake.launches() == [
        "launch f on 0 1,1,1 32,1,1 1,1,1 shared 0: struct of 40, 0: buffer of 128 at 0, "
        "8: 0xfffffffe00000040, 16: 0x43, 24: buffer of 128 at 16; 0x3fc00000; 0xffffffff; 0xffffffffffffffff;"
    ]


MAP = {
    "of": {"arg": 0}, "dtype": "u2", "sizes": [SIZE, {"mul": [2, 32]}], "strides": [128], "box": [128, 64],
    "element_strides": [1, 1], "swizzle": "128", "fill": "zero", "l2": "256",
}


def map_bundle(tmp_path, **changes):
    operands = [operand("u1", SIZE, 128), operand("u1", SIZE, 128)]
    return load(tmp_path, one_kernel([{"tensor_map": {**MAP, **changes}}, {"result": 0}], operands, ["i8", "i8"]))


def test_tensor_map(fake, tmp_path):
    """Encoded once for an address; a second address has one of its own."""
    function = map_bundle(tmp_path)["f"]
    arrays = [CudaArray(fake, "|u1", (6, 128)) for _ in range(2)]
    out = CudaArray(fake, "|u1", (6, 128))
    for x in (arrays[0], arrays[1], arrays[0]):
        function(x, out=out)
        [line] = fake.launches()
        assert "map of type 1, swizzle 3, fill 0, dims 64/0/64/1 6/128/128/1, l2 3;" in line
    [ready] = function._plans.values()
    [slot] = ready.plan._slots[0]
    assert sorted(slot._kept) == sorted(array.address for array in arrays)


def test_tensor_map_of_three_dimensions(fake, tmp_path):
    """The driver has the innermost dimension first."""
    changes = {"dtype": "u1", "sizes": [2, 3, 64], "strides": [192, 64], "box": [1, 2, 16], "swizzle": "none",
               "element_strides": [3, 2, 1], "fill": "zero", "l2": "none"}
    x, out = CudaArray(fake, "|u1", (3, 128)), CudaArray(fake, "|u1", (3, 128))
    map_bundle(tmp_path, **changes)["f"](x, out=out)
    assert "dims 64/0/16/1 3/64/2/2 2/192/1/3;" in fake.launches()[0]


def test_tensor_map_of_workspace(fake, tmp_path):
    params = [{"tensor_map": {**MAP, "of": {"workspace": 256}}}, {"result": 0}]
    operands = [operand("u1", SIZE, 128), operand("u1", SIZE, 128)]
    made = one_kernel(params, operands, ["i8", "i8"], workspace=2048)
    x, out = CudaArray(fake, "|u1", (6, 128)), CudaArray(fake, "|u1", (6, 128))
    load(tmp_path, made)["f"](x, out=out)
    assert ", l2 3, at 256;" in fake.launches()[0]


@pytest.mark.parametrize("changes,message", [
    ({"strides": [136]},
     "expected a stride of a tensor map that is a multiple of 16 and less than 2^40 bytes, got 136"),
    ({"sizes": [{"mul": [SIZE, 2]}, 64]}, "expected a tensor of at most 768 bytes, as its memory has, got 1536"),
    ({"of": {"arg": 0, "offset": 8}}, "expected an offset of a tensor that is a multiple of 16, got 8"),
    ({"of": {"arg": 0, "offset": 769}}, "expected an offset from 0 to 768 into argument #0, got 769"),
    ({"sizes": [{"add": [SIZE, -6]}, 64]}, "expected a size from 1 to 2^32 of a tensor map, got 0"),
])
def test_tensor_map_that_does_not_fit(fake, tmp_path, changes, message):
    x, out = CudaArray(fake, "|u1", (6, 128)), CudaArray(fake, "|u1", (6, 128))
    with pytest.raises(runtime.ArgumentError) as error:
        map_bundle(tmp_path, **changes)["f"](x, out=out)
    assert str(error.value) == f"parameter #0 of kernel 'f': {message}"


def test_tensor_map_of_an_old_driver(fake, tmp_path, monkeypatch):
    monkeypatch.setitem(get_driver().functions, "cuTensorMapEncodeTiled", None)
    x, out = CudaArray(fake, "|u1", (6, 128)), CudaArray(fake, "|u1", (6, 128))
    with pytest.raises(runtime.DriverError, match="expected a driver of CUDA 12.0 or later, got CUDA 12.4"):
        map_bundle(tmp_path)["f"](x, out=out)


def test_results_of_two(fake, tmp_path):
    params = [{"arg": 0}, {"result": 1}, {"result": 0}]
    made = one_kernel(params, [operand("u1", SIZE), operand("u1", 2), operand("f4", 3)], ["i8", "i8", "f32"])
    results = load(tmp_path, made)["f"](np.zeros(4, np.uint8))
    assert [each.shape for each in results] == [(2,), (3,)]
    # Parameter #n adds n + 1.
    assert set(results[0]) == {0x55 + 3} and set(results[1].view(np.uint8)) == {0x55 + 2}


def test_no_arguments(fake, tmp_path):
    made = one_kernel([{"result": 0}], [operand("u1", 2)], ["i8"])
    out = CudaArray(fake, "|u1", (2,))
    load(tmp_path, made)["f"](out=out)
    assert out.bytes() == [0x56, 0x56]


def test_kernels_parameters_are_checked(fake, tmp_path):
    made = one_kernel([{"arg": 0}, {"result": 0}, {"i32": 1}], [operand("u1", 16), operand("u1", 16)], ["i8", "i8"])
    made["images"][0].data = b"// fake f: 8 8 8\n.target sm_90a\n"
    with pytest.raises(runtime.ImageError, match=r"kernel 'f': expected parameters of \[8, 8, 4\] bytes, .* "
                       r"got code that has \[8, 8, 8\]"):
        load(tmp_path, made)["f"](CudaArray(fake, "|u1", (16,)), out=CudaArray(fake, "|u1", (16,)))


def test_kernel_that_is_missing(fake, tmp_path):
    made = one_kernel([{"arg": 0}], [operand("u1", 16)], ["i8"])
    made["images"][0].data = b"// fake g: 8\n"
    with pytest.raises(runtime.ImageError, match="expected a kernel 'f' in the code, got none"):
        load(tmp_path, made)["f"](CudaArray(fake, "|u1", (16,)), out=())


def test_launch_info_of_several(fake, tmp_path):
    bundle = load(tmp_path, two(), two(target="sm_120a"), one_kernel([{"arg": 0}], [operand("u1", 4)], ["i8"]))
    assert list(bundle) == ["two", "f"] and len(bundle) == 2 and "f" in bundle and "g" not in bundle
    assert bundle["two"].targets == ["sm_90a", "sm_120a"]
    assert bundle["two"].launch_info("sm_120a")["target"] == "sm_120a"
    with pytest.raises(runtime.MissingFunctionError, match="^'.*made.bundle': expected one of two f, got 'g'$"):
        bundle["g"]
    with pytest.raises(KeyError):
        bundle["g"]


def test_info_is_used(fake, tmp_path):
    """Several kernels of one name are launched as often."""
    kernels = [kernel("f", [{"arg": 0}]), kernel("f", [{"arg": 0}], grid=(2, 1, 1))]
    from bundles import entry

    made = entry("f", info(kernels, [operand("u1", 16)]), ["i8"])
    load(tmp_path, made)["f"](CudaArray(fake, "|u1", (16,)), out=())
    assert [line.split()[4] for line in fake.launches()] == ["1,1,1", "2,1,1"]
