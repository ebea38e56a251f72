"""Launch infos and the code that they are of."""

import numpy as np
import pytest
from bundles import entry, info, kernel, operand, pack, ptx

from blockscale import runtime
from blockscale.runtime import code_digest
from blockscale.runtime.bundle_file import parse_bundle
from blockscale.runtime.checks import Node
from blockscale.runtime.launch_info import LaunchInfo

CODE = b""".version 8.7
.target sm_120a
.visible .entry main(.param .u64 a,
.param .u64 b) { ret; }
"""
LAUNCH = {
    **info([kernel("main", [{"arg": 0}, {"result": 0}])], [operand("u1", 4), operand("u1", 4)], target="sm_120a"),
    "schedule": "tile=1x2x3",
}
# test/Unit/Runtime/CodeDigestTest.cpp has the same.
DIGEST = "a4d372e06f377c1f25fd0b812ee139ed57e027933370b0456f19990a26294071"


def read(launch):
    return LaunchInfo(Node(launch), ["i8", "i8"])


@pytest.mark.parametrize(
    "text, normal",
    [
        (b" \t// only\n/* blank */ .loc 1 2 3", b""),
        (b"\n.version 8.7 // old\n.target\tsm_90a\r\n\n{ ret; }\n", b".version 8.7 .target sm_90a { ret; }"),
        (b"a;\n\t.loc\t1 2 3, function_name $x\n\tb;/* .loc */c;\n.file 1 \"a.mlir\"\nd;", b"a; b; c; d;"),
        *((text, text) for text in (
            b"ld.local.u32 a;", b"x.loc y;", b".location z;", b"%r.file;", b"$a.loc;", b".file_1 a;", b"a / b * c /",
            b"/* open", b's = "a  // b";', b'"/*" "*/"', b'" .loc 1"', b'a"b c',
        )),
    ],
)
def test_normal_form(text, normal):
    """As that of the programs, whose test has the same texts."""
    assert code_digest.normalize(text) == normal


def test_is_that_of_the_programs():
    assert code_digest.compute(read(LAUNCH), CODE, "ptx") == DIGEST


@pytest.mark.parametrize(
    "image, message",
    [
        (CODE, None),
        (CODE.replace(b"{ ret", b"{ // a comment\n\tret"), None),
        (CODE.replace(b"ret", b"trap"),
         "expected the code that the launch info was written with (schedule tile=1x2x3), got other code"),
        (b"// .target sm_120a\n" + CODE.replace(b"sm_120a", b"sm_90a"), "expected code for sm_120a, got PTX for sm_90a"),
        (CODE.replace(b".target", b"//"), "expected code for sm_120a, got PTX for no target"),
    ],
)
def test_other_code(image, message):
    launch = read({**LAUNCH, "digest": {"ptx": DIGEST}})
    if message is None:
        code_digest.check(launch, image, "ptx")
        return
    with pytest.raises(runtime.ImageError) as error:
        code_digest.check(launch, image, "ptx")
    assert str(error.value) == message
    code_digest.check(read(LAUNCH), image, "ptx")


@pytest.mark.parametrize("change", [
    {"schedule": "tile=1x2x4"}, {"kernels": [kernel("other", [{"arg": 0}, {"result": 0}])]},
    {"kernels": [kernel("main", [{"result": 0}, {"arg": 0}])]}, {"target": "sm_120f"},
])
def test_other_info(change):
    assert code_digest.compute(read({**LAUNCH, **change}), CODE, "ptx") != DIGEST


def test_cubins():
    launch = read(LAUNCH)
    digest = code_digest.compute(launch, b"\x7fELF  1", "cubin")
    assert digest != code_digest.compute(launch, b"\x7fELF 1", "cubin")
    code_digest.check(read({**LAUNCH, "digest": {"cubin": digest}}), b"\x7fELF  1", "cubin")
    with pytest.raises(runtime.ImageError):
        code_digest.check(read({**LAUNCH, "digest": {"cubin": digest}}), b"\x7fELF 1", "cubin")
    with pytest.raises(runtime.ImageError) as error:
        code_digest.check(read({**LAUNCH, "digest": {"cubin": digest}}), CODE, "ptx")
    assert str(error.value) == (
        "expected the machine code that the launch info was written with (schedule tile=1x2x3), got PTX"
    )
    code_digest.check(read({**LAUNCH, "digest": {"ptx": DIGEST}}), b"\x7fELF 1", "cubin")


def test_a_bundle_is_refused_when_it_is_loaded(fake, tmp_path):
    """Before the driver has seen the code."""
    fake.set(CAPABILITY="120")
    image = ptx(LAUNCH)
    launch = {**LAUNCH, "digest": {"ptx": code_digest.compute(read(LAUNCH), image, "ptx")}}
    values = np.zeros(4, np.uint8)
    for changes in ({}, {"schedule": "tile=9x9x9"}):
        path = tmp_path / "one.bundle"
        path.write_bytes(pack([entry("main", {**launch, **changes}, ["i8", "i8"])]))
        function = runtime.load(path)["main"]
        if not changes:
            function(values)
            continue
        fake.trace()
        with pytest.raises(runtime.ImageError, match="got other code"):
            function(values)
        assert not [line for line in fake.trace() if "load" in line]


def test_what_is_no_digest():
    for digest, message in (
        ({"ptx": "12"}, "expected 64 hexadecimal digits in lower case, got '12'"),
        ({"sass": "12"}, "expected the fields ptx cubin, got 'sass'"),
        ({}, r"digest: expected a field 'ptx' or 'cubin', got none"),
    ):
        with pytest.raises(runtime.BundleError, match=message):
            parse_bundle(pack([entry("main", {**LAUNCH, "digest": digest}, ["i8", "i8"])]))
