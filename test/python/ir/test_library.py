"""The table of functions of the C API against the headers that declare them."""

import ctypes
import re
from pathlib import Path

import pytest
from blockscale import ir
from blockscale.ir import library

REPO = Path(__file__).resolve().parents[3]
MLIR_C = Path("/usr/lib/llvm-22/include/mlir-c")
LETTERS = {
    "void": "-", "MlirStringRef": "s", "intptr_t": "i", "int64_t": "I", "unsigned": "u", "uint64_t": "U", "size_t": "U",
    "int": "n", "bool": "b", "MlirLogicalResult": "r", "double": "d", "MlirStringCallback": "t",
    "MlirOperationWalkCallback": "w", "MlirWalkOrder": "n", "MlirDiagnosticHandler": "h", "MlirOperationState": "S",
    "MlirNamedAttribute": "N", "BlockScaleRowGroups": "G", "BlockScaleProductOptions": "P",
    "BlockScaleQuantizeOptions": "Q", "MlirDiagnosticSeverity": "n", "MlirDiagnosticHandlerID": "U",
}


def letter(declaration):
    """Of a type, or of a parameter with its name; what has one pointer is one."""
    if "*" in declaration:
        return "c" if re.match(r"const char ?\*", declaration) else "p"
    words = [word for word in declaration.split() if word not in ("const", "struct", "enum")]
    return LETTERS.get(words[0], "p")


def declared():
    """{name: letters of the result and of the arguments} of all headers."""
    found = {}
    for header in (*MLIR_C.rglob("*.h"), *(REPO / "include" / "blockscale-c").glob("*.h")):
        text = re.sub(r"\s+", " ", re.sub(r"//.*", "", header.read_text()))
        for result, name, arguments in re.findall(r"MLIR_CAPI_EXPORTED ([^;{}()]*?)(\w+) ?\((.*?)\) ?;", text):
            arguments = re.sub(r"void \(\*\w+\) ?\([^)]*\)", "void *callback", arguments)
            arguments = [part.strip() for part in arguments.split(",") if part.strip() not in ("", "void")]
            found[name] = letter(result), "".join(map(letter, arguments))
    return found


@pytest.mark.skipif(not MLIR_C.is_dir(), reason="needs the headers of MLIR's C API")
def test_signatures_are_those_of_the_headers():
    headers = declared()
    assert len(library._SIGNATURES) > 150
    for name, (result, *arguments) in library._SIGNATURES.items():
        assert (result, "".join(arguments)) == headers[name], name


def test_every_function_is_there():
    for name in library._SIGNATURES:
        assert getattr(library.LIBRARY, name)
    with pytest.raises(AttributeError, match="mlirNothing"):
        library.LIBRARY.mlirNothing


def test_the_dialect_has_a_handle():
    loaded = library.LIBRARY._loaded or library._load()
    loaded.mlirGetDialectHandle__blockscale__.restype = ctypes.c_void_p
    loaded.mlirDialectHandleGetNamespace.restype = library.StringRef
    handle = ctypes.c_void_p(loaded.mlirGetDialectHandle__blockscale__())
    assert str(loaded.mlirDialectHandleGetNamespace(handle)) == "blockscale"


def test_another_version(monkeypatch):
    monkeypatch.setattr(library, "__version__", "9.9.9")
    with pytest.raises(ImportError, match="libBlockScaleC.so: expected version 9.9.9, got "):
        library._load()


def test_numbers_of_attributes():
    lib = library.LIBRARY
    with ir.Context():
        block = ir.Attribute.parse("#blockscale.scale_block<rows = 128, k = all>")._ptr
        licence = ir.Attribute.parse("#blockscale.accumulate<chunk = 64, rebase>")._ptr
        assert lib.blockscaleAttributeIsAScaleBlock(block) and not lib.blockscaleAttributeIsAScaleBlock(licence)
        assert (lib.blockscaleScaleBlockAttrGetRows(block), lib.blockscaleScaleBlockAttrGetK(block)) == (128, 0)
        assert lib.blockscaleAttributeIsAnAccumulate(licence) and not lib.blockscaleAttributeIsAnAccumulate(None)
        assert lib.blockscaleAccumulateAttrGetChunk(licence) == 64 and lib.blockscaleAccumulateAttrGetRebase(licence)
