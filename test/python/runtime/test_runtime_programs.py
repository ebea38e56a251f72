"""The programs and this package take the same files: bundles of blockscale-compile, and those made by hand."""

import json
import os
import random
import shutil
import struct
import subprocess
import zlib

import numpy as np
import pytest
from bundles import SIZE, Image, entry, info, kernel, operand, pack, ptx, two
from paths import BUILD, FAKE

from blockscale import runtime
from blockscale.runtime.bundle_file import parse_bundle

PROGRAM = """
func.func @product(%x: tensor<?x64xf4E2M1FN>, %sx: tensor<?x4xf8E4M3FN>, %y: tensor<64x32xf4E2M1FN>,
                   %sy: tensor<4x32xf8E4M3FN>, %acc: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %acc {block_size = 16}
     : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>, tensor<64x32xf4E2M1FN>, tensor<4x32xf8E4M3FN>, tensor<?x32xf32>
  return %d : tensor<?x32xf32>
}
func.func @quantized(%x: tensor<?x64xbf16>, %g: f32) -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) {
  %c, %s = blockscale.quantize %x tensor_scale(%g) {block_size = 16 : i64}
         : tensor<?x64xbf16>, f32 to tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return %c, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
}
"""
CHIPS = ["sm_80", "sm_90a", "sm_100f", "sm_120a"]


def run(program, *flags, code=0, **environment):
    path = BUILD / "bin" / program
    if not path.exists():
        pytest.skip(f"needs {program}")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(FAKE.parent), **environment}
    done = subprocess.run([path, *map(str, flags)], capture_output=True, text=True, env=environment)
    assert done.returncode == code, f"{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "program.mlir").write_text(PROGRAM)
    run("blockscale-compile", folder / "program.mlir", f"--target={','.join(CHIPS)}",
        f"--bundle={folder / 'program.bundle'}")
    return folder


def test_compiled_bundle(compiled):
    bundle = runtime.load(compiled / "program.bundle")
    assert list(bundle) == ["product", "quantized"]
    for name, function in bundle.items():
        assert function.targets == CHIPS
        for target in CHIPS:
            infos = compiled / "info.json"
            text = compiled / "one.ptx"
            run("blockscale-compile", compiled / "program.mlir", f"--target={target}", f"--entry={name}",
                f"--launch-info={infos}", "-o", text)
            assert function.launch_info(target) == json.loads(infos.read_text())
            [each] = [each for each in function._entries if each.info.target == target]
            assert each.images[0].read() == text.read_bytes()
            assert f".version {each.images[0].ptx_version}\n".encode() in text.read_bytes()
    assert [operand.type for operand in bundle["quantized"]._entries[0].info.operands] == [
        "bf16", "f32", "f4E2M1FN", "f8E4M3FN"
    ]


@pytest.mark.parametrize("capability", ["80", "89", "90", "100", "103", "120"])
def test_compiled_bundle_runs(fake, compiled, capability):
    """As the fake driver runs it: parameters fit the kernels, which it reads from the PTX."""
    fake.set(CAPABILITY=capability)
    bundle = runtime.load(compiled / "program.bundle")
    codes, scales = bundle["quantized"](np.zeros((6, 64), np.uint16), 1.0)
    assert (codes.shape, scales.shape) == ((6, 32), (6, 4))
    arguments = [np.zeros(shape, np.uint8) for shape in ((6, 32), (6, 4), (64, 16), (4, 32))]
    assert bundle["product"](*arguments, np.zeros((6, 32), np.float32)).shape == (6, 32)
    assert len(fake.launches()) >= 2


@pytest.mark.parametrize("chip", CHIPS)
def test_simulator_runs_it(compiled, tmp_path, chip):
    """Ones times ones, right on all chips."""
    ones = {"x": (7, 32), "y": (64, 16)}
    for name, shape in ones.items():
        np.save(tmp_path / f"{name}.npy", np.full(shape, 0x22, np.uint8))
    np.save(tmp_path / "sx.npy", np.full((7, 4), 0x38, np.uint8))
    np.save(tmp_path / "sy.npy", np.full((4, 32), 0x40, np.uint8))
    np.save(tmp_path / "acc.npy", np.ones((7, 32), np.float32))
    run("blockscale-sim", compiled / "program.bundle", "--entry=product", f"--target={chip}",
        *(f"in:{tmp_path / name}.npy" for name in ("x", "sx", "y", "sy", "acc")), f"out:{tmp_path}/r.npy:f4:7x32")
    assert set(np.load(tmp_path / "r.npy").ravel()) == {64 * 2 + 1}


# Made by hand, launched by blockscale-launch.

LAUNCH = info([kernel("f", [{"arg": 0}])], [operand("u1", 4)])


def launch(tmp_path, data, code=0, **environment):
    (tmp_path / "f.bundle").write_bytes(data)
    np.save(tmp_path / "x.npy", np.zeros(4, np.uint8))
    said = run("blockscale-launch", tmp_path / "f.bundle", f"inout:{tmp_path / 'x.npy'}", code=code, **environment)
    assert code or set(np.load(tmp_path / "x.npy")) == {1}
    return said.replace(f"error: '{tmp_path / 'f.bundle'}': ", "").rstrip("\n")


@pytest.mark.parametrize("level", range(10))
@pytest.mark.parametrize("strategy", [zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED])
def test_all_that_zlib_writes(tmp_path, monkeypatch, level, strategy):
    draw = random.Random(level)
    words = ["".join(draw.choices("abc \n.,%;", k=draw.randrange(1, 300))) for _ in range(50)]
    text = ptx(LAUNCH, "") + "".join("// " + "".join(draw.choices(words)).replace("\n", "\n// ") for _ in range(300)) \
        .encode() + b"\n"
    compressor = zlib.compressobj(level, zlib.DEFLATED, draw.randrange(9, 16), draw.randrange(1, 10), strategy)
    stored = compressor.compress(text) + compressor.flush()
    data = pack([entry("f", LAUNCH, ["i8"], [Image(stored, compression="none")])],
                lambda header: header["entries"][0]["images"][0].update(compression="zlib", size=len(text)))
    [read] = parse_bundle(data)
    assert read.images[0].read() == text
    launch(tmp_path, data)


def test_both_say_the_same(tmp_path):
    """Of damaged files."""
    data = pack([two()])
    [size] = struct.unpack_from("<Q", data, 8)
    changed = [
        data[:8], data[:-16], data + b"\0", data[:24] + b" " + data[25:], data[:20] + b"\1" + data[21:],
        data[:-40] + bytes([data[-40] ^ 1]) + data[-39:],
    ]
    for change in (
        lambda header: header.update(version=2), lambda header: header.update(producer=""),
        lambda header: header.update(entries=[]), lambda header: header.pop("bytes"),
        lambda header: header["entries"][0]["images"][0].update(crc32=1),
        lambda header: header["entries"][0]["images"][0].update(kind="fatbin"),
        lambda header: header["entries"][0]["images"][0].update(offset=1 << 30),
        lambda header: header["entries"][0]["images"][0].update(offset=8),
        lambda header: header["entries"][0]["images"][0].update(compression="none"),
        lambda header: header["entries"][0]["images"][0].pop("size"),
        lambda header: header["entries"][0]["images"].append(header["entries"][0]["images"][0]),
        lambda header: header["entries"].append(header["entries"][0]),
        lambda header: header["entries"][0]["launch"].update(version=3),
        lambda header: header["entries"][0]["launch"]["kernels"][1].update(condition=1),
        lambda header: header["entries"][0]["launch"].update(workspace={"add": [{"select": [1, 2, 3]}, 256]}),
    ):
        changed.append(pack([two()], change))
    for each in changed:
        with pytest.raises(runtime.BundleError) as error:
            parse_bundle(each)
        assert launch(tmp_path, each, code=1) == str(error.value)


@pytest.mark.parametrize("chips,expected", [
    (["sm_80", "sm_90a"], "sm_90a"), (["sm_80", "sm_100f"], "sm_80"), (["sm_90", "sm_90a"], "sm_90a"),
])
def test_both_choose_the_same(fake, tmp_path, chips, expected):
    entries = [entry("f", {**LAUNCH, "target": chip, "kernels": [{**LAUNCH["kernels"][0], "name": chip}]}, ["i8"])
               for chip in chips]
    launch(tmp_path, pack(entries))
    [line] = fake.launches()
    runtime.load(tmp_path / "f.bundle")["f"](np.zeros(4, np.uint8), out=())
    [same] = fake.launches()
    assert line.split()[1] == same.split()[1] == expected


def test_cubins(compiled, fake):
    if not shutil.which("ptxas") and not os.path.exists("/usr/local/cuda/bin/ptxas"):
        pytest.skip("needs ptxas")
    run("blockscale-compile", compiled / "program.mlir", "--target=sm_80,sm_90a", "--emit=cubin", "--entry=quantized",
        f"--bundle={compiled / 'cubin.bundle'}")
    bundle = runtime.load(compiled / "cubin.bundle")
    assert list(bundle) == ["quantized"]
    for each in bundle["quantized"]._entries:
        assert [image.kind for image in each.images] == ["ptx", "cubin"]
        assert each.images[1].read().startswith(b"\x7fELF")
    assert SIZE
