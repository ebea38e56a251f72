"""Pictures of layouts: what is drawn is where elements are.

Where they are is written here once more from the PTX ISA ("Matrix Fragments for mma.m16n8k32",
"Block Scaling", "Scale factor A layout", "Data path layout organization").
"""

import re
import xml.etree.ElementTree as ElementTree

import blockscale
import pytest
from blockscale import programs
from programs_for_tests import PRODUCT

SVG = "{http://www.w3.org/2000/svg}"
PIPELINE = "tile=128x64x128,stages=4,accumulators=2,persistent=1"


@pytest.fixture(scope="module")
def warp():
    return blockscale.compile(
        PRODUCT, target="sm_120a", schedule="tile=64x32x128,warps=2x2,stages=2"
    )


@pytest.fixture(scope="module")
def tensor():
    return blockscale.compile(PRODUCT, target="sm_100a", schedule=PIPELINE)


def grids(layout):
    [kernel] = layout.kernels
    [only] = kernel["layouts"]
    return only["grids"]


def positions(grid):
    """{(row, column): position}, of every column."""
    per_row = grid["columns"]["size"] // grid["run"]
    assert len(grid["cells"]) == per_row * grid["rows"]["size"]
    result = {}
    for number, position in enumerate(grid["cells"]):
        row, cell = divmod(number, per_row)
        for i in range(grid["run"]):
            result[row, cell * grid["run"] + i] = (*position[:-1], position[-1] + i)
    return result


# Where elements are


def test_a(warp):
    [grid] = grids(warp.show_layout("a"))
    assert grid["coordinates"] == ["lane", "register", "slot"]
    assert (grid["rows"], grid["columns"]) == ({"name": "m", "size": 16}, {"name": "k", "size": 32})
    assert positions(grid) == {
        (lane // 4 + 8 * (r % 2), 4 * (lane % 4) + slot + 16 * (r // 2)): (lane, r, slot)
        for lane in range(32) for r in range(4) for slot in range(4)
    }  # fmt: skip


def test_b(warp):
    [grid] = grids(warp.show_layout("b"))
    assert positions(grid) == {
        (lane // 4, 4 * (lane % 4) + slot + 16 * r): (lane, r, slot)
        for lane in range(32) for r in range(2) for slot in range(4)
    }  # fmt: skip


def test_accumulator(warp):
    [grid] = grids(warp.show_layout("accumulator"))
    assert grid["coordinates"] == ["lane", "register"]
    assert positions(grid) == {
        (lane // 4 + 8 * (r // 2), 2 * (lane % 4) + r % 2): (lane, r)
        for lane in range(32) for r in range(4)
    }  # fmt: skip


def test_fp4_has_slots_of_4_bits():
    text = PRODUCT.replace("f8E4M3FN", "f4E2M1FN")
    kernel = blockscale.compile(text, target="sm_120a")
    assert kernel.show_layout("a").kernels[0]["shape"] == [16, 8, 64]
    [grid] = grids(kernel.show_layout("a"))
    assert positions(grid) == {
        (lane // 4 + 8 * (r % 2), 8 * (lane % 4) + slot + 32 * (r // 2)): (lane, r, slot)
        for lane in range(32) for r in range(4) for slot in range(8)
    }  # fmt: skip


def test_scales_in_registers(warp):
    """A lane of A's pair has rows of its own, the selector picks the pair; B's picks one lane."""
    [a] = grids(warp.show_layout("scale_a"))
    assert positions(a) == {
        (lane // 4 + 8 * (lane % 2) + 16 * (lane // 2 % 2), byte): (lane, byte)
        for lane in range(32) for byte in range(4)
    }  # fmt: skip
    [b] = grids(warp.show_layout("scale_b"))
    assert positions(b) == {
        (lane // 4 + 8 * (lane % 4), byte): (lane, byte) for lane in range(32) for byte in range(4)
    }


def test_shared(warp):
    a, scale_a, b, scale_b = grids(warp.show_layout("shared"))
    assert (a["unit"], a["coordinates"]) == (16, ["byte"])
    assert positions(a) == {
        (m, c): (128 * m + 16 * (c ^ m % 8),) for m in range(64) for c in range(8)
    }
    # No two tiles have a byte together, in the order of memory.
    tiles = [sorted(position[0] for position in positions(grid).values()) for grid in (a, scale_a, b, scale_b)]
    assert all(len(set(tile)) == len(tile) for tile in tiles)
    for before, after in zip(tiles, tiles[1:]):
        assert before[-1] < after[0]


def test_scales_in_tensor_memory(tensor):
    [grid] = grids(tensor.show_layout("scale_a"))
    assert grid["coordinates"] == ["lane", "column", "byte"]
    first = positions(grid)[0, 0][1]
    assert positions(grid) == {
        (m, block): (m % 32, first + m // 32, block) for m in range(128) for block in range(4)
    }


def test_sums_in_tensor_memory(tensor):
    [grid] = grids(tensor.show_layout("accumulator"))
    assert positions(grid) == {(m, n): (m, n) for m in range(128) for n in range(64)}


def test_atoms_are_those_of_swizzle_scales(tensor):
    _, atom, *_ = grids(tensor.show_layout("shared"))
    first = positions(atom)[0, 0][0]
    import numpy as np

    numbers = np.arange(512, dtype=np.uint16).reshape(128, 4)
    for half in (0, 8):  # swizzle_scales takes bytes
        data = (numbers >> half).astype(np.uint8)
        stored = blockscale.swizzle_scales(data).reshape(-1)
        for (m, block), (byte,) in positions(atom).items():
            assert stored[byte - first] == data[m, block]


def test_regions(tensor):
    [kernel] = tensor.show_layout("tmem").kernels
    [layout] = kernel["layouts"]
    sums, *scales = layout["regions"]
    assert (sums["name"], sums["first"], sums["columns"], sums["step"]) == ("sums", 0, 64, 64)
    taken = [column for r in scales for column in range(r["first"], r["first"] + r["columns"])]
    assert len(set(taken)) == len(taken) and min(taken) == 128


# How they are shown


def shapes(layout):
    root = ElementTree.fromstring(layout._repr_svg_())
    assert root.tag == SVG + "svg"
    size = (float(root.get("width")), float(root.get("height")))
    return size, root.findall(SVG + "rect")[1:], root.findall(SVG + "text")


@pytest.mark.parametrize("name", ["a", "scale_a", "b", "scale_b", "accumulator", "shared"])
def test_picture(warp, name):
    layout = warp.show_layout(name)
    (width, height), boxes, texts = shapes(layout)
    assert len(boxes) == sum(len(grid["cells"]) for grid in grids(layout))
    for box in boxes:
        assert float(box.get("x")) + float(box.get("width")) <= width
        assert float(box.get("y")) + float(box.get("height")) <= height
    corners = [(box.get("x"), box.get("y")) for box in boxes]
    assert len(set(corners)) == len(corners)
    heads = [text.text for text in texts if text.get("font-weight") == "bold"]
    assert heads[0].startswith(f"{name} of @main, mma.sync.kind::mxf8f6f4")
    assert heads[1:] == [grid["title"] for grid in grids(layout)]


def test_a_cell_says_what_it_is(warp):
    _, boxes, texts = shapes(warp.show_layout("a"))
    titles = [box.find(SVG + "title").text for box in boxes]
    assert titles[8 + 5] == "m 1, k 20 to 23: lane 5, register 2, slot 0"
    colors = {re.match("m .*: (lane [0-9]+)", t)[1]: b.get("fill") for t, b in zip(titles, boxes)}
    assert len(set(colors.values())) == len(colors) == 32
    assert "T5 r2 s0" in [text.text for text in texts]


def test_picture_of_regions(tensor):
    layout = tensor.show_layout("tmem")
    (width, _), boxes, _ = shapes(layout)
    regions = layout.kernels[0]["layouts"][0]["regions"]
    assert len(boxes) == 2 * len(regions)  # each on a line that is all columns
    for whole, own, region in zip(boxes[::2], boxes[1::2], regions):
        left, size = float(whole.get("x")), float(whole.get("width"))
        assert left + size <= width
        assert float(own.get("width")) == size * region["columns"] / 512
        assert float(own.get("x")) == left + size * region["first"] / 512


def test_text_is_the_programs(warp, tmp_path):
    for name in ("a", "shared"):
        flags = ["--target=sm_120a", "--schedule=tile=64x32x128,warps=2x2,stages=2"]
        done = programs.run(
            programs.find("blockscale-compile"), ["-", *flags, f"--print-layout={name}"], PRODUCT.encode()
        )
        assert str(warp.show_layout(name)) + "\n" == done.output.decode()
        assert repr(warp.show_layout(name)) == str(warp.show_layout(name))


# Errors


def test_layouts_that_kernels_do_not_have(warp, tensor):
    for kernel, name, text in [
        (warp, "tmem", "got 'tmem'; @main: a scale_a b scale_b accumulator shared"),
        (tensor, "a", "got 'a'; @main: scale_a scale_b accumulator shared tmem"),
        (warp, "c", "unknown layout 'c', expected one of a metadata scale_a b"),
    ]:
        with pytest.raises(blockscale.CompileError, match=text):
            kernel.show_layout(name)
    cpu = blockscale.compile(PRODUCT, target="cpu")
    with pytest.raises(ValueError, match="show_layout: expected a kernel for a GPU, got one for cpu"):
        cpu.show_layout("a")
