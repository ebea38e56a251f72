"""Files: a bundle is whole and as docs/Bundle.md says, or it is refused."""

import ast
import json
import random
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from bundles import SIZE, Image, entry, info, kernel, one_kernel, operand, pack, ptx, two

from blockscale import runtime
from blockscale.runtime.bundle_file import Objects, parse_bundle

PACKAGE = Path(runtime.__file__).resolve().parent
LAUNCH = info([kernel("f", [{"arg": 0}])], [operand("u1", SIZE)])


def fails(message, data):
    with pytest.raises(runtime.BundleError) as error:
        parse_bundle(data)
    assert str(error.value) == message


@pytest.mark.parametrize("compression", ["none", "zlib"])
def test_images(compression):
    images = [Image(b"some text", compression=compression), Image(b"\x7fELF\0\0", "cubin", compression=compression)]
    [read] = parse_bundle(pack([entry("f", LAUNCH, ["i8"], images)]))
    assert [image.read() for image in read.images] == [b"some text", b"\x7fELF\0\0"]
    assert [(image.kind, image.ptx_version) for image in read.images] == [("ptx", "8.7"), ("cubin", "8.7")]
    assert read.launch_info == LAUNCH


def test_most_rows():
    """Bundles say for how many rows a function is, older ones and others do not."""
    entries = [entry(name, LAUNCH, ["i8"], [Image(b"some text")]) for name in ("few", "many")]
    entries[0]["most_rows"] = 16
    assert [each.most_rows for each in parse_bundle(pack(entries))] == [16, None]
    for wrong, got in ((0, "0"), (True, "true"), ("16", "'16'"), (None, "null")):
        entries[0]["most_rows"] = wrong
        fails(f"$.entries[0].most_rows: expected an integer from 1 to {2**53}, got {got}", pack(entries))


def test_every_truncation():
    """No first part of a bundle is a bundle."""
    data = pack([two()])
    for size in range(len(data)):
        with pytest.raises(runtime.BundleError):
            parse_bundle(data[:size])


def test_every_byte_is_checked():
    """A changed byte is an error, but for those between parts, which nothing reads."""
    data = pack([two(), one_kernel([{"arg": 0}], [operand("u1", 4)], ["i8"])])
    [header] = struct.unpack_from("<Q", data, 8)
    images = [image for each in json.loads(data[24 : 24 + header])["entries"] for image in each["images"]]
    read = set(range(24 + header))
    for image in images:
        read |= set(range(image["offset"], image["offset"] + image["bytes"]))
    draw = random.Random(1)
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= draw.randrange(1, 256)
        if at in read:
            with pytest.raises(runtime.BundleError):
                parse_bundle(bytes(changed))
        else:
            parse_bundle(bytes(changed))


def test_message_has_the_path(tmp_path):
    (tmp_path / "a.bundle").write_bytes(b"text")
    with pytest.raises(runtime.BundleError) as error:
        runtime.load(tmp_path / "a.bundle")
    assert str(error.value) == (
        rf"'{tmp_path}/a.bundle': expected a bundle, which starts with b'\x89BSCALE\n', got b'text'"
    )
    with pytest.raises(FileNotFoundError):
        runtime.load(tmp_path / "b.bundle")


def test_beginnings():
    data = pack([two()])
    [size] = struct.unpack_from("<Q", data, 8)
    fails("truncated bundle: expected at least 24 bytes, got 8", data[:8])
    fails(f"truncated bundle: expected at least {24 + size} bytes, got 100", data[:100])
    fails(f"truncated bundle: expected {len(data)} bytes, got {len(data) - 16}", data[:-16])
    fails(f"damaged bundle: expected {len(data)} bytes, got {len(data) + 1}", data + b"\0")
    fails("expected the header's checksum, got another: the file is damaged", data[:24] + b" " + data[25:])
    fails("expected the header's checksum, got another: the file is damaged",
          data[:20] + b"\1" + data[21:])
    fails("truncated bundle: expected at least 18446744073709551639 bytes, got " + str(len(data)),
          data[:8] + b"\xff" * 8 + data[16:])


def test_damaged_image():
    data = bytearray(pack([two()]))
    data[data.index(zlib.compress(ptx(two()["launch"])))] ^= 1
    fails("$.entries[0].images[0]: expected the image's checksum, got another: the file is damaged", bytes(data))


@pytest.mark.parametrize("text,message", [
    (b"[", "expected a header of JSON: Expecting value: line 1 column 2 (char 1)"),
    (b"\xff", "expected a header of JSON: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    (b"[]", "$: expected an object with a field 'version', got an array of 0"),
    (b'{"version": NaN}', "expected a header of JSON: expected JSON, got NaN"),
    (b'{"version": 1, "version": 1}', "expected a header of JSON: expected each name of an object once, got version "
     "version"),
    (b'{"version": 2, "more": 1}', "expected a bundle of version 1, got one of version 2"),
    (b'{"version": "1"}', "$.version: expected an integer from 1 to 9007199254740992, got '1'"),
    (b'{"version": 1}', "$: expected a field 'producer', got none"),
])
def test_json(text, message):
    fails(message, pack([two()], change_text=lambda _: text))


@pytest.mark.parametrize("depth", [500, 100000])
def test_deep_json(depth):
    """Too deep for the parser, and for what reads expressions behind it."""
    workspace = b'{"add": [1, ' * depth + b'1' + b"]}" * depth
    with pytest.raises(runtime.BundleError, match="^expected JSON that is nested less deeply$"):
        parse_bundle(pack([two()], change_text=lambda text: text.replace(
            b'"workspace": {"mul": [{"size": {"arg": 0, "dim": 0}}, 100]}', b'"workspace": ' + workspace)))


def change(*path, to):
    """Sets a field of the header; `to` may be a function of what is there."""
    def apply(header):
        *way, last = path
        for step in way:
            header = header[step]
        header[last] = to(header[last]) if callable(to) else to

    return apply


IMAGE = ("entries", 0, "images", 0)
WHERE = "$.entries[0].images[0]"
LAUNCHES = ("entries", 0, "launch")
BIG = "9007199254740992"


@pytest.mark.parametrize("changed,message", [
    (lambda header: header.update(more=1),
     "$: expected the fields version producer bytes entries, got 'more'"),
    (change("producer", to=""), "$.producer: expected a string that is not empty, got ''"),
    (change("bytes", to=-1), f"$.bytes: expected an integer from 0 to {BIG}, got -1"),
    (change("entries", to=[]), "$.entries: expected an array of at least 1, got an array of 0"),
    (change("entries", to={}), "$.entries: expected an array, got an object of 0"),
    (change("entries", 0, "function", to=None), "$.entries[0].function: expected a string that is not empty, got null"),
    (change("entries", to=lambda entries: entries * 2),
     "$.entries: expected one entry for function 'two' and sm_90a, got an array of 2"),
    (change("entries", 0, "types", to=["f32"] * 2),
     "$.entries[0].launch.operands: expected an array of 2, got an array of 3"),
    (change("entries", 0, "images", to=[]), "$.entries[0].images: expected an array of at least 1, got an array of 0"),
    (change("entries", 0, "images", to=lambda images: images * 2),
     "$.entries[0].images: expected at most one image of a kind, got an array of 2"),
    (change(*IMAGE, "kind", to="fatbin"), f"{WHERE}.kind: expected one of ptx cubin, got 'fatbin'"),
    (change(*IMAGE, "compression", to="zstd"), f"{WHERE}.compression: expected one of none zlib, got 'zstd'"),
    (change(*IMAGE, "offset", to=lambda offset: offset + 8), None),
    (change(*IMAGE, "offset", to=1 << 30), None),
    (change(*IMAGE, "offset", to=-16), f"{WHERE}.offset: expected an integer from 0 to {BIG}, got -16"),
    (change(*IMAGE, "bytes", to=1 << 52), None),
    (change(*IMAGE, "crc32", to=True), f"{WHERE}.crc32: expected an integer from 0 to 4294967295, got true"),
    (change(*IMAGE, "bytes", to=1.5), f"{WHERE}.bytes: expected an integer from 0 to {BIG}, got 1.5"),
    (change(*IMAGE, "size", to=0), f"{WHERE}.size: expected an integer from 1 to 268435456, got 0"),
    (change(*IMAGE, "size", to=1 << 29), f"{WHERE}.size: expected an integer from 1 to 268435456, got {1 << 29}"),
    (change(*IMAGE, "crc32", to=lambda crc: crc ^ 1),
     f"{WHERE}: expected the image's checksum, got another: the file is damaged"),
    (change(*IMAGE, "compression", to="none"), None),
    (change(*LAUNCHES, "version", to=3), "$.entries[0].launch.version: expected 1 or 2, got 3"),
    (change(*LAUNCHES, to={"version": 3, "new": []}), "$.entries[0].launch.version: expected 1 or 2, got 3"),
    (change(*LAUNCHES, "version", to=True), "$.entries[0].launch.version: expected 1 or 2, got true"),
    (change(*LAUNCHES, "version", to=1.0), "$.entries[0].launch.version: expected 1 or 2, got 1.0"),
    (change(*LAUNCHES, to=lambda launch: {name: launch[name] for name in launch if name != "version"}),
     "$.entries[0].launch: expected a field 'version', got none"),
    (change(*LAUNCHES, "kernels", 1, "condition", to=1),
     "$.entries[0].launch.kernels[1].condition: expected version 2 for condition, got 1"),
    (change(*LAUNCHES, "kernels", 0, "grid", 1, to={"add": [{"select": [1, 2, 3]}, 1]}),
     "$.entries[0].launch.kernels[0].grid[1].add[0].select: expected version 2 for select, got 1"),
    (change(*LAUNCHES, "operands", 2, "shape", 1, to={"select": [1, 8, 8]}),
     "$.entries[0].launch.operands[2].shape[1].select: expected version 2 for select, got 1"),
    (change(*LAUNCHES, "kernels", to=[]), "$.entries[0].launch.kernels: expected an array of at least 1, got an array "
     "of 0"),
    (change(*LAUNCHES, "kernels", 0, "grid", to=[1, 1]),
     "$.entries[0].launch.kernels[0].grid: expected an array of 3, got an array of 2"),
    (change(*LAUNCHES, "kernels", 0, "block", to=[0, 1, 1]),
     "$.entries[0].launch.kernels[0].block[0]: expected an integer from 1 to 2147483647, got 0"),
    (change(*LAUNCHES, "kernels", 0, "programmatic", to=1),
     "$.entries[0].launch.kernels[0].programmatic: expected true or false, got 1"),
    (change(*LAUNCHES, "kernels", 0, "params", 0, to={"arg": 5}),
     "$.entries[0].launch.operands: expected operands of at least 6 arguments and 1 results, as kernels have, got an "
     "array of 3"),
    (change(*LAUNCHES, "kernels", 0, "params", 0, to={"argument": 5}),
     "$.entries[0].launch.kernels[0].params[0]: expected the fields arg result size workspace tensor_map i32 i64 f32 "
     "struct offset, got 'argument'"),
    (change(*LAUNCHES, "kernels", 0, "params", 0, to={"i32": 1, "offset": 1}),
     "$.entries[0].launch.kernels[0].params[0]: expected no offset with i32, got an object of 2"),
    (change(*LAUNCHES, "kernels", 0, "params", 0, to={"f32": 1e39}),
     "$.entries[0].launch.kernels[0].params[0].f32: expected a number that f32 can hold, got 1e+39"),
    (change(*LAUNCHES, "operands", 0, "dtype", to="f3"),
     "$.entries[0].launch.operands[0].dtype: expected one of u1 i1 u2 i2 f2 u4 i4 f4 u8 i8 f8, got 'f3'"),
])
def test_header(changed, message):
    if message:
        fails(message, pack([two()], changed))
        return
    with pytest.raises(runtime.BundleError, match=r"^\$\.entries\[0\]\.images\[0\]"):
        parse_bundle(pack([two()], changed))


def of_struct(**fields):
    return change(*LAUNCHES, "kernels", 0, "params", 0, to={"struct": fields})


@pytest.mark.parametrize("fields", [
    {}, {"size": 8, "bytes": "00"}, {"size": 0}, {"bytes": "0"}, {"bytes": "0g"}, {"bytes": " 0"},
    {"size": 8, "fields": [{"at": 8, "param": {"i32": 1}}]}, {"size": 8, "fields": [{"at": 4, "param": {"arg": 0}}]},
    {"size": 16, "fields": [{"at": 6, "param": {"i32": 1}}, {"at": 8, "param": {"i32": 1}}]},
    {"size": 16, "fields": [{"at": 14, "param": {"i32": 1}}]},
    {"size": 16, "fields": [{"at": 0, "param": {"struct": {"size": 4}}}]},
])
def test_structs(fields):
    with pytest.raises(runtime.BundleError, match=r"^\$\.entries\[0\]\.launch\.kernels\[0\]\.params\[0\]\.struct"):
        parse_bundle(pack([two()], of_struct(**fields)))


MAP = {"of": {"arg": 0}, "dtype": "u1", "sizes": [6, 64], "strides": [64], "box": [6, 64], "swizzle": "none"}


@pytest.mark.parametrize("field,value", [
    ("of", {"i32": 1}), ("dtype", "u3"), ("sizes", [64]), ("strides", [64, 1]), ("box", [6, 257]), ("box", [1] * 6),
    ("box", []), ("swizzle", "16"), ("fill", "one"), ("l2", "512"), ("element_strides", [1, 9]), ("more", 1),
])
def test_tensor_maps(field, value):
    def apply(to):
        return pack([two()], change(*LAUNCHES, "kernels", 0, "params", 0, to={"tensor_map": to}))

    parse_bundle(apply(MAP))
    with pytest.raises(runtime.BundleError, match=r"params\[0\]\.tensor_map"):
        parse_bundle(apply({**MAP, field: value}))


def test_compressed_data():
    def with_data(stored, size):
        def apply(header):
            image = header["entries"][0]["images"][0]
            image.update(compression="zlib", size=size)

        [read] = parse_bundle(pack([entry("f", LAUNCH, ["i8"], [Image(stored, compression="none")])], apply))
        with pytest.raises(runtime.BundleError, match=r"^\$\.entries\[0\]\.images\[0\]: expected "):
            read.images[0].read()

    with_data(b"no data of zlib", 15)
    with_data(zlib.compress(b"text"), 3)
    with_data(zlib.compress(b"text"), 5)
    with_data(zlib.compress(b"text")[:-1], 4)
    with_data(zlib.compress(b"text") + b"\0", 4)


def test_functions_are_alike(tmp_path):
    other = info([kernel("f", [{"arg": 0}])], [operand("u2", SIZE)], target="sm_120a")
    (tmp_path / "f.bundle").write_bytes(pack([entry("f", LAUNCH, ["i8"]), entry("f", other, ["bf16"])]))
    with pytest.raises(runtime.BundleError, match="function 'f': expected the same arguments and results for sm_120a "
                       "as for sm_90a"):
        runtime.load(tmp_path / "f.bundle")


# The card's choice.


def of_chips(*chips):
    """An entry of "f" for each chip; "sm_90a cubin ptx" has those images, "sm_90a" has PTX."""
    made = []
    for chip in chips:
        target, *kinds = chip.split()
        launch = {**LAUNCH, "target": target}
        images = [Image(ptx(launch, kind), kind) for kind in kinds or ["ptx"]]
        made.append(entry("f", launch, ["i8"], images))
    return made


@pytest.mark.parametrize("capability,chips,expected", [
    ("90", ["sm_80", "sm_90a", "sm_100a"], "sm_90a ptx"),
    ("90", ["sm_90a", "sm_90"], "sm_90a ptx"),
    ("90", ["sm_90", "sm_90a"], "sm_90a ptx"),
    ("90", ["sm_90a ptx cubin", "sm_90"], "sm_90a cubin"),
    ("90", ["sm_80 cubin ptx"], "sm_80 ptx"),
    ("90", ["sm_80", "sm_89"], "sm_89 ptx"),
    ("89", ["sm_80", "sm_86", "sm_90a"], "sm_86 ptx"),
    ("103", ["sm_100a", "sm_90", "sm_100f"], "sm_100f ptx"),
    ("103", ["sm_103f", "sm_103a", "sm_100f"], "sm_103a ptx"),
    ("121", ["sm_120f", "sm_120a", "sm_100f"], "sm_120f ptx"),
    ("120", ["sm_121f", "sm_90a", "sm_90"], "sm_90 ptx"),
    ("110", ["sm_100f", "sm_80"], "sm_80 ptx"),
    ("103", ["sm_103", "sm_100f"], "sm_103 ptx"),
])
def test_choice(capability, chips, expected):
    from blockscale.runtime.chips import choose

    chosen, image = choose(parse_bundle(pack(of_chips(*chips))), int(capability))
    assert f"{chosen.info.target} {image.kind}" == expected
    assert f"// {image.kind}\n".encode() in image.read() and f".target {chosen.info.target}".encode() in image.read()


@pytest.mark.parametrize("capability,chips,there", [
    ("80", ["sm_90a", "sm_100f ptx cubin"], "sm_90a (ptx), sm_100f (ptx and cubin)"),
    ("103", ["sm_100a"], "sm_100a (ptx)"),
    ("90", ["sm_80 cubin"], "sm_80 (cubin)"),
    ("100", ["sm_103f"], "sm_103f (ptx)"),
    ("90", ["gfx90a"], "gfx90a (ptx)"),
])
def test_no_choice(fake, tmp_path, capability, chips, there):
    import numpy as np

    fake.set(CAPABILITY=capability)
    (tmp_path / "f.bundle").write_bytes(pack(of_chips(*chips)))
    with pytest.raises(runtime.ImageError) as error:
        runtime.load(tmp_path / "f.bundle")["f"](np.zeros(4, np.uint8), out=())
    assert str(error.value) == f"function 'f': expected code that runs on the card's sm_{capability}, got {there}"


def test_refused_by_the_driver(fake, tmp_path, monkeypatch):
    import numpy as np

    (tmp_path / "f.bundle").write_bytes(pack(of_chips("sm_90a")))
    (tmp_path / "log").write_text("info: x\nptxas in, line 3; error   : Unknown symbol\n")
    function = runtime.load(tmp_path / "f.bundle")["f"]
    for status, log, message in (
        ("222", None, "expected a PTX version that the driver's CUDA 12.4 knows, got .version 8.7"),
        ("218", str(tmp_path / "log"), "cannot compile the PTX: ptxas in, line 3; error   : Unknown symbol"),
        ("209", None, "expected code that runs on the card's sm_90, got ptx for sm_90a"),
    ):
        fake.set(FAIL=f"cuModuleLoadDataEx={status}", JIT_LOG=log)
        with pytest.raises(runtime.ImageError) as error:
            function(np.zeros(4, np.uint8), out=())
        assert str(error.value) == message


# Importing.


def python(code, *flags):
    return subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, check=True,
                          env={"PYTHONPATH": str(PACKAGE.parents[1])}).stdout


def test_import_needs_no_numpy():
    python("import blockscale.runtime, sys; assert not {'numpy', 'torch'} & sys.modules.keys()")


def test_load_needs_no_driver_and_no_numpy(tmp_path):
    (tmp_path / "f.bundle").write_bytes(pack([two()]))
    python(f"import sys, blockscale.runtime as r; r.load({str(tmp_path / 'f.bundle')!r})['two']; "
           "assert 'numpy' not in sys.modules")


def test_import_is_fast():
    """60 ms are for a machine that does nothing else: the best of several counts."""
    code = "import time; t = time.perf_counter(); import blockscale.runtime; print(time.perf_counter() - t)"
    assert min(float(python(code, "-S")) for _ in range(10)) < 0.06


def test_names_of_the_package():
    """Looked up lazily, all names are there."""
    python("import blockscale; [getattr(blockscale, n) for n in blockscale.__all__]; blockscale.runtime.load; "
           "assert set(blockscale.__all__) < set(dir(blockscale)); from blockscale import *; mma_scaled")
    with pytest.raises(subprocess.CalledProcessError):
        python("import blockscale; blockscale.none")


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_syntax_of_python_3_9(path):
    ast.parse(path.read_text(), feature_version=(3, 9))


def test_equal_objects_are_one():
    """Those that Python takes for equal, though JSON does not, stay what they are."""
    different = [
        '{"add": [1, 2]}', '{"add": [1.0, 2]}', '{"add": [true, 2]}', '{"add": ["1", 2]}', '{"add": [[1], 2]}',
        '{"add": [[1, 2]]}', '{"add": [1, [2]]}', '{"add": 1}', '{"add": "1"}', '{"add": [null, 2]}', '{"mul": [1, 2]}',
        '{"add": [{"mul": [1, 2]}, 2]}', '{"add": {"mul": [1, 2]}}', '{"add": [], "mul": []}', '{"add": [1], "mul": 2}',
    ]
    text = f"[{', '.join(different + different)}]"
    made = json.loads(text, object_pairs_hook=Objects())
    assert repr(made) == repr(json.loads(text))
    half = len(different)
    assert all(one is other for one, other in zip(made[:half], made[half:]))
    assert len({id(each) for each in made}) == half
