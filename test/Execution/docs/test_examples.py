"""The examples in the documentation do what it says of them. See examples.py for the rules."""

import examples
import pytest

BLOCKS = {path: examples.find_blocks(path) for path in [*examples.PAGES, *examples.TABLES]}
MLIR_BLOCKS = [block for blocks in BLOCKS.values() for block in blocks if block.kind == "mlir"]


def page_name(page):
    return str(page.relative_to(examples.REPO))


@pytest.mark.parametrize("block", MLIR_BLOCKS, ids=str)
def test_mlir(block, tmp_path):
    examples.run_mlir(block, tmp_path)


@pytest.mark.parametrize("page", examples.PAGES, ids=page_name)
def test_page(page, tmp_path):
    examples.run_page(BLOCKS[page], tmp_path)


def test_every_kind_is_there():
    """A change of the fences must not turn the tests above into nothing."""
    from_pages = {block.kind for page in examples.PAGES for block in BLOCKS[page]}
    assert from_pages >= set(examples.RUN_KINDS)
    assert any(block.kind == "mlir" for path in examples.TABLES for block in BLOCKS[path])


@pytest.mark.parametrize("page", examples.PAGES, ids=page_name)
def test_no_unknown_kind(page):
    """A block that is not run says so by its kind."""
    for block in BLOCKS[page]:
        assert block.kind in examples.RUN_KINDS + examples.OTHER_KINDS, str(block)


def console(text):
    return examples.Block(examples.REPO / "README.md", 1, "console", text)


@pytest.mark.parametrize(
    "text",
    [
        "$ echo a; echo b >&2\na\nb\n",
        "$ printf 'a\\nb\\nc\\n'\na\n...\n",
        "$ printf 'a\\nb\\nc\\n'\n...\nc\n",
        "$ false\n$ echo $?\n1\n",
        "$ echo a \\\n>   b\na b\n",
    ],
)
def test_right_output_passes(text, tmp_path):
    examples.run_console(console(text), tmp_path)


@pytest.mark.parametrize(
    "text", ["$ echo a\nb\n", "$ echo a\n", "$ true\na\n", "$ printf 'a\\nb\\n'\n...\na\n"]
)
def test_wrong_output_fails(text, tmp_path):
    with pytest.raises(AssertionError):
        examples.run_console(console(text), tmp_path)


def test_wrong_python_output_fails(tmp_path):
    block = examples.Block(examples.REPO / "README.md", 1, "python", "print(1)\n# -> 2\n")
    with pytest.raises(AssertionError):
        examples.run_python(block, tmp_path)
