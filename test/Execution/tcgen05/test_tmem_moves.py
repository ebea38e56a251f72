"""tcgen05.ld, .st, .cp and .shift of every shape against their maps, and the rules of allocation."""

import mma_launch
import numpy as np
import pytest
import tmem_moves as moves
import tmem_protocol as protocol

ACCESSES = [(shape, packed) for shape in moves.SHAPES for packed in (False, True)]


def name(access):
    shape, packed = access
    return shape.name + "-16b" * packed


def run(folder, text, arguments, shared=0, grid=1, flags=("--check=race,proxy,strict",), expected=()):
    code, out, messages = mma_launch.launch(folder, text, arguments, shared, grid, flags=flags)
    rest = [line for line in messages.splitlines() if not any(text in line for text in expected)]
    assert code == 0 and not rest, f"exit code {code}\n{messages}"
    return out


@pytest.mark.parametrize("access", ACCESSES, ids=name)
def test_load(access, tmp_path):
    plan, memory = moves.accesses(*access), moves.pattern()
    expected = moves.loaded(plan, memory)
    out = run(tmp_path, moves.load_text(plan), [memory, np.zeros_like(expected)])
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("access", ACCESSES, ids=name)
def test_store(access, tmp_path):
    plan, memory = moves.accesses(*access), moves.pattern()
    data = ~moves.pattern(moves.row_words(plan))
    expected, defined = moves.stored(plan, memory, data)
    # The ISA leaves open what .unpack::16b stores above the halves.
    flags = ["--check=race,proxy,strict", "--allow-undefined-output"]
    out = run(
        tmp_path, moves.store_text(plan), [memory, data, np.zeros_like(memory)], flags=flags,
        expected=["bytes are undefined at the end"] if access[1] else [],
    )
    np.testing.assert_array_equal(out & defined, expected & defined)


@pytest.mark.parametrize("swizzle, suffix", [
    (0, ""), (32, ""), (64, ""), (128, ""), *((0, suffix) for suffix in moves.SUFFIXES),
    (128, moves.SUFFIXES[1]),
])
def test_copy_from_shared_memory(swizzle, suffix, tmp_path):
    memory = moves.pattern(moves.COPY_COLUMNS)
    shared, expected = moves.copied(swizzle, suffix, memory)
    text = moves.copy_text(swizzle, suffix)
    out = run(tmp_path, text, [shared, memory, np.zeros_like(memory)], len(shared))
    np.testing.assert_array_equal(out, expected)


def test_shift(tmp_path):
    memory = moves.pattern(moves.SHIFT_COLUMNS)
    out = run(tmp_path, moves.shift_text(), [memory, np.zeros_like(memory)])
    np.testing.assert_array_equal(out, moves.shifted(memory))


def test_blocks_that_take_all_columns(tmp_path):
    rows = moves.pattern(5 * protocol.COLUMNS).reshape(5, 128, protocol.COLUMNS)
    for seed in range(3):
        flags = [f"--seed={seed}", "--check=race,proxy,strict"]
        out = run(
            tmp_path, protocol.every_block_text(), [rows, np.zeros_like(rows)], grid=len(rows), flags=flags
        )
        np.testing.assert_array_equal(out, rows)


def test_allocations_do_not_overlap(tmp_path):
    rows = moves.pattern(protocol.COLUMNS)
    out = run(tmp_path, protocol.two_allocations_text(), [rows, np.zeros_like(rows)])
    np.testing.assert_array_equal(out, rows)


@pytest.mark.parametrize("misuse", protocol.MISUSES, ids=lambda misuse: misuse.name.replace(" ", "-"))
def test_misuse_is_an_error(misuse, tmp_path):
    rows = moves.pattern(protocol.COLUMNS)
    text = protocol.misuse_text(misuse)
    code, _, messages = mma_launch.launch(
        tmp_path, text, [rows, np.zeros_like(rows)], flags=["--max-steps=1000000", "--check=strict"]
    )
    assert code == 1 and "error" in messages


def test_columns_of_nobody(tmp_path):
    rows = moves.pattern(protocol.COLUMNS)
    code, _, messages = mma_launch.launch(tmp_path, protocol.outside_text(), [rows, np.zeros_like(rows)])
    assert code == 1 and "error" in messages
