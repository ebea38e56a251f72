"""Messages of the programs as objects."""

import pytest
from blockscale import programs
from blockscale.diagnostics import CompileError, Diagnostic, parse

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


def test_places_sources_and_notes():
    error, remark = parse(LOCATED, "a.mlir")
    assert (error.kind, error.message) == ("error", "expected a size of 16, got 15")
    assert (error.file, error.line, error.column) == ("a.mlir", 5, 8)
    assert error.source == ("  %d = op %x", "       ^")
    assert [(n.message, n.line, n.column) for n in error.notes] == [
        ("prior use here", 3, 1), ("and here", 4, 2),
    ]  # fmt: skip
    assert (remark.kind, remark.line, remark.notes) == ("remark", 7, ())
    assert str(parse(LOCATED, "<stdin>")[0]) + "\n" + str(parse(LOCATED, "<stdin>")[1]) + "\n" == LOCATED


def test_no_place():
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


def test_several_lines_and_a_place_at_the_end():
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
