"""Messages of the programs as objects."""

import pytest
from blockscale import programs
from blockscale.diagnostics import CompileError, Diagnostic, drop_messages, parse, to_python

LOCATED = """\
<stdin>:5:8: error: expected a size of 16, got 15
  %d = op %x
       ^
<stdin>:3:1: note: prior use here
  %x = source
  ^
<stdin>:4:2: note: and here
 x
 ^
<stdin>:7:3: remark: no instruction
  %e = other
  ^
"""


def test_locations_sources_and_notes():
    error, remark = parse(LOCATED, "a.mlir")
    assert (error.kind, error.message) == ("error", "expected a size of 16, got 15")
    assert (error.file, error.line, error.column) == ("a.mlir", 5, 8)
    assert error.source == ("  %d = op %x", "       ^")
    assert [(n.message, n.line, n.column) for n in error.notes] == [
        ("prior use here", 3, 1), ("and here", 4, 2),
    ]  # fmt: skip
    assert (remark.kind, remark.line, remark.notes) == ("remark", 7, ())
    assert str(parse(LOCATED, "<stdin>")[0]) + "\n" + str(parse(LOCATED, "<stdin>")[1]) + "\n" == LOCATED


def test_no_location():
    assert parse("error: unknown target 'sm_1'\n", "a.mlir") == [
        Diagnostic("error", "unknown target 'sm_1'")
    ]


def test_other_files_keep_their_names():
    [message] = parse("other.mlir:1:2: error: text\n", "a.mlir")
    assert message.file == "other.mlir"


def test_a_source_line_that_looks_like_a_message():
    text = '<stdin>:1:2: error: real\nb.mlir:3:4: error: "a string"\n ^\nerror: second\n'
    first, second = parse(text, "a.mlir")
    assert first.source == ('b.mlir:3:4: error: "a string"', " ^")
    assert second.message == "second"


def test_several_lines_and_a_location_at_the_end():
    text = (
        "error: check failed at run time:\n%0 = op %x\n^ expected M\n"
        'Location: loc("<stdin>":6:8)\n'
    )
    [message] = parse(text, "a.mlir")
    assert message.message.startswith("check failed at run time:\n%0 = op %x\n^ expected M\n")
    assert (message.file, message.line, message.column) == ("a.mlir", 6, 8)


def test_what_comes_first_is_dropped():
    assert [m.message for m in parse("ld.so: noise\n\nerror: a\n", "x")] == ["a"]


def finished(code, messages):
    return programs.Finished(["blockscale-compile"], code, b"", messages)


def test_error_of_the_first():
    error = CompileError(finished(1, LOCATED + "error: later\n"), "a.mlir")
    assert (error.message, error.file, error.line, error.column, error.code) == (
        "expected a size of 16, got 15", "a.mlir", 5, 8, 1,
    )  # fmt: skip
    assert [note.line for note in error.notes] == [3, 4]
    assert [d.kind for d in error.diagnostics] == ["error", "remark", "error"]
    assert str(error).startswith("a.mlir:5:8: expected a size of 16, got 15\n  %d = op %x\n")


@pytest.mark.parametrize(
    "code, how", [(-11, "blockscale-compile ended with signal 11"), (3, "ended with exit code 3")]
)
def test_error_without_a_message(code, how):
    error = CompileError(finished(code, "noise\n"), "a.mlir")
    assert how in error.message and "noise" in error.message
    assert error.line is None and error.notes == []


# In the words of who calls from Python.

MESSAGES = [
    ("expected a GPU for --device=sim, got --target=cpu", "expected a GPU for device='sim', got target='cpu'"),
    ("expected --target=CHIP", "expected target"),
    ("expected --entry, because there are 2", "expected entry, because there are 2"),
    ("blockscale-raise (--raise) makes mma_scaled of it", "blockscale-raise (raise_) makes mma_scaled of it"),
    ("unknown stage for --emit", "unknown stage for level"),
    ("expected one chip in --target for --emulate-on, got 2", "expected one chip in target for emulate_on, got 2"),
    ("such as --schedule=tile=64x64x128,warps=2x2", "such as schedule='tile=64x64x128,warps=2x2'"),
    ("'argument3.npy': argument #3: code 16", "argument #3: code 16"),
    ("'-': expected one public function", "expected one public function"),
    # No flags.
    ("a--b, x --, 1--2 and -3", "a--b, x --, 1--2 and -3"),
]


@pytest.mark.parametrize("message, expected", MESSAGES)
def test_no_flags(message, expected):
    assert to_python(message) == expected
    [diagnostic] = parse(f"-:1:2: error: {message}\n  --raise\n  ^\n-:1:2: note: {message}\n", "x.mlir")
    assert (diagnostic.message, diagnostic.notes[0].message) == (expected, expected)
    assert diagnostic.source == ("  --raise", "  ^")  # a line of the program stays what it is


def test_what_is_beside_messages():
    text = "@main: 1 x 2\n  a\nx.mlir:1:2: remark: why\n  %0 = op\n  ^\n@other: 3\nx.mlir:3:4: warning: no line\n  b\nerror: c\n"
    assert drop_messages(text) == "@main: 1 x 2\n  a\n@other: 3\n  b\n"
