"""libBlockScaleC.so: the C API of MLIR and of blockscale, by ctypes.

It is looked for in `lib` beside the folder of the programs (see blockscale.programs), and loaded when
its first function is called. Handles of C (MlirContext, MlirType, ...) are structs of one pointer,
which are passed as that pointer is: they are ints here, and None is a null handle.
"""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path
from typing import Iterable, List, Optional, Union

from .. import programs
from .._version import __version__

NAME = "libBlockScaleC.so"


class LibraryNotFoundError(FileNotFoundError):
    """libBlockScaleC.so is in none of the folders where it is looked for."""


class StringRef(ctypes.Structure):
    """MlirStringRef. It does not own its characters."""

    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def __bytes__(self) -> bytes:
        return ctypes.string_at(self.data, self.length) if self.length else b""

    def __str__(self) -> str:
        return bytes(self).decode(errors="surrogateescape")


class NamedAttribute(ctypes.Structure):
    """MlirNamedAttribute."""

    _fields_ = [("name", ctypes.c_void_p), ("attribute", ctypes.c_void_p)]


class OperationState(ctypes.Structure):
    """MlirOperationState."""

    _fields_ = [
        ("name", StringRef), ("location", ctypes.c_void_p),
        ("n_results", ctypes.c_ssize_t), ("results", ctypes.c_void_p),
        ("n_operands", ctypes.c_ssize_t), ("operands", ctypes.c_void_p),
        ("n_regions", ctypes.c_ssize_t), ("regions", ctypes.c_void_p),
        ("n_successors", ctypes.c_ssize_t), ("successors", ctypes.c_void_p),
        ("n_attributes", ctypes.c_ssize_t), ("attributes", ctypes.c_void_p),
        ("infers_types", ctypes.c_bool),
    ]


class RowGroups(ctypes.Structure):
    """BlockScaleRowGroups of blockscale-c/TileOps.h."""

    _fields_ = [
        ("rows", ctypes.c_void_p), ("group_scale", ctypes.c_void_p), ("bias", ctypes.c_void_p),
        ("are_legal", ctypes.c_bool),
    ]


class ProductOptions(ctypes.Structure):
    """BlockScaleProductOptions of blockscale-c/TileOps.h."""

    _fields_ = [
        ("block_size", ctypes.c_int64), ("x_scale_block", ctypes.c_void_p), ("y_scale_block", ctypes.c_void_p),
        ("accumulate", ctypes.c_void_p),
    ]


class QuantizeOptions(ctypes.Structure):
    """BlockScaleQuantizeOptions of blockscale-c/TileOps.h."""

    _fields_ = [
        ("scale_type", ctypes.c_void_p), ("block_size", ctypes.c_int64), ("scale_block", ctypes.c_void_p),
        ("rule", ctypes.c_void_p), ("tensor_scale", ctypes.c_void_p), ("has_amax", ctypes.c_bool),
        ("is_padded", ctypes.c_bool),
    ]


class Option(ctypes.Structure):
    """BlockScaleOption of blockscale-c/Compilation.h."""

    _fields_ = [("name", StringRef), ("value", StringRef)]


StringCallback = ctypes.CFUNCTYPE(None, StringRef, ctypes.c_void_p)
WalkCallback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
DiagnosticHandler = ctypes.CFUNCTYPE(ctypes.c_int8, ctypes.c_void_p, ctypes.c_void_p)

# Types by a letter; "-" is void.
_TYPES = {
    "-": None,
    "p": ctypes.c_void_p,
    "s": StringRef,
    "i": ctypes.c_ssize_t,
    "I": ctypes.c_int64,
    "u": ctypes.c_uint,
    "U": ctypes.c_uint64,
    "n": ctypes.c_int,
    "b": ctypes.c_bool,
    "r": ctypes.c_int8,
    "d": ctypes.c_double,
    "c": ctypes.c_char_p,
    "t": StringCallback,
    "w": WalkCallback,
    "h": DiagnosticHandler,
    "S": OperationState,
    "N": NamedAttribute,
    "G": RowGroups,
    "P": ProductOptions,
    "Q": QuantizeOptions,
}
# The result and the arguments of each function that is called.
_FUNCTIONS = """
mlirContextCreateWithRegistry p pb | mlirContextDestroy - p | mlirContextLoadAllAvailableDialects - p
mlirContextSetAllowUnregisteredDialects - pb | mlirContextGetAllowUnregisteredDialects b p
mlirContextIsRegisteredOperation b ps | mlirContextAttachDiagnosticHandler U phpp | mlirDialectRegistryCreate p
mlirDialectRegistryDestroy - p | mlirRegisterAllDialects - p | mlirRegisterAllPasses - | mlirDiagnosticPrint - ptp
mlirDiagnosticGetLocation p p | mlirDiagnosticGetSeverity n p | mlirDiagnosticGetNumNotes i p
mlirDiagnosticGetNote p pi | mlirLocationUnknownGet p p | mlirLocationFileLineColGet p psuu
mlirLocationNameGet p psp | mlirLocationCallSiteGet p pp | mlirLocationFusedGet p pipp | mlirLocationPrint - ptp
mlirEmitError - pc | mlirModuleCreateEmpty p p | mlirModuleCreateParse p ps | mlirModuleCreateParseFromFile p ps
mlirModuleGetOperation p p | mlirModuleFromOperation p p | mlirOperationStateGet S sp
mlirOperationStateAddResults - pip | mlirOperationStateAddOperands - pip | mlirOperationStateAddOwnedRegions - pip
mlirOperationStateAddSuccessors - pip | mlirOperationStateAddAttributes - pip
mlirOperationStateEnableResultTypeInference - p | mlirOperationCreate p p | mlirOperationCreateParse p pss
mlirOperationClone p p | mlirOperationRemoveFromParent - p | mlirOperationGetLocation p p
mlirOperationSetLocation - pp | mlirOperationGetName p p | mlirOperationGetBlock p p
mlirOperationGetParentOperation p p | mlirOperationGetNumRegions i p | mlirOperationGetRegion p pi
mlirOperationGetNextInBlock p p | mlirOperationGetNumOperands i p | mlirOperationGetOperand p pi
mlirOperationSetOperand - pip | mlirOperationGetNumResults i p | mlirOperationGetResult p pi
mlirOperationGetNumSuccessors i p | mlirOperationGetSuccessor p pi | mlirOperationGetNumAttributes i p
mlirOperationGetAttribute N pi | mlirOperationGetAttributeByName p ps | mlirOperationSetAttributeByName - psp
mlirOperationRemoveAttributeByName b ps | mlirOperationVerify b p | mlirOperationWalk - pwpn
mlirOperationPrintWithFlags - pptp | mlirOperationWriteBytecode - ptp | mlirOperationMoveAfter - pp
mlirOperationMoveBefore - pp | mlirOpPrintingFlagsCreate p | mlirOpPrintingFlagsDestroy - p
mlirOpPrintingFlagsElideLargeElementsAttrs - pi | mlirOpPrintingFlagsEnableDebugInfo - pbb
mlirOpPrintingFlagsPrintGenericOpForm - p | mlirOpPrintingFlagsUseLocalScope - p
mlirOpPrintingFlagsAssumeVerified - p | mlirAsmStateCreateForValue p pp | mlirAsmStateDestroy - p | mlirRegionCreate p
mlirRegionGetFirstBlock p p | mlirRegionAppendOwnedBlock - pp | mlirBlockCreate p ipp
mlirBlockGetParentOperation p p | mlirBlockGetParentRegion p p | mlirBlockGetNextInRegion p p
mlirBlockGetFirstOperation p p | mlirBlockGetTerminator p p | mlirBlockAppendOwnedOperation - pp
mlirBlockInsertOwnedOperationBefore - ppp | mlirBlockGetNumArguments i p | mlirBlockAddArgument p ppp
mlirBlockGetArgument p pi | mlirBlockPrint - ptp | mlirValueIsAOpResult b p | mlirBlockArgumentGetOwner p p
mlirBlockArgumentGetArgNumber i p | mlirOpResultGetOwner p p | mlirOpResultGetResultNumber i p | mlirValueGetType p p
mlirValuePrint - ptp | mlirValuePrintAsOperand - pptp | mlirValueGetFirstUse p p | mlirValueReplaceAllUsesOfWith - pp
mlirValueGetLocation p p | mlirOpOperandGetOwner p p | mlirOpOperandGetOperandNumber u p | mlirOpOperandGetNextUse p p
mlirTypeParseGet p ps | mlirTypeGetTypeID p p | mlirTypePrint - ptp | mlirAttributeParseGet p ps
mlirAttributeGetType p p | mlirAttributeGetTypeID p p | mlirAttributePrint - ptp | mlirIdentifierGet p ps
mlirIdentifierStr s p | mlirIntegerTypeGet p pu | mlirIntegerTypeSignedGet p pu | mlirIntegerTypeUnsignedGet p pu
mlirIntegerTypeGetWidth u p | mlirIntegerTypeIsSigned b p | mlirIntegerTypeIsUnsigned b p | mlirFloatTypeGetWidth u p
mlirShapedTypeGetElementType p p | mlirShapedTypeHasRank b p | mlirShapedTypeGetRank I p
mlirShapedTypeGetDimSize I pi | mlirShapedTypeHasStaticShape b p | mlirShapedTypeGetDynamicSize I
mlirVectorTypeGetChecked p pipp | mlirRankedTensorTypeGetChecked p pippp | mlirUnrankedTensorTypeGetChecked p pp
mlirMemRefTypeGetChecked p ppippp | mlirMemRefTypeContiguousGetChecked p ppipp | mlirFunctionTypeGet p pipip
mlirFunctionTypeGetNumInputs i p | mlirFunctionTypeGetNumResults i p | mlirFunctionTypeGetInput p pi
mlirFunctionTypeGetResult p pi | mlirArrayAttrGet p pip | mlirArrayAttrGetNumElements i p
mlirArrayAttrGetElement p pi | mlirDictionaryAttrGet p pip | mlirDictionaryAttrGetNumElements i p
mlirDictionaryAttrGetElement N pi | mlirFloatAttrDoubleGetChecked p ppd | mlirFloatAttrGetValueDouble d p
mlirIntegerAttrGet p pI | mlirIntegerAttrGetValueInt I p | mlirIntegerAttrGetValueSInt I p
mlirIntegerAttrGetValueUInt U p | mlirBoolAttrGet p pn | mlirStringAttrGet p ps | mlirStringAttrGetValue s p
mlirFlatSymbolRefAttrGet p ps | mlirSymbolRefAttrGetRootReference s p | mlirSymbolRefAttrGetNumNestedReferences i p
mlirSymbolRefAttrGetNestedReference p pi | mlirTypeAttrGet p p | mlirTypeAttrGetValue p p | mlirUnitAttrGet p p
mlirDenseI32ArrayGet p pip | mlirDenseI64ArrayGet p pip | mlirDenseArrayGetNumElements i p
mlirDenseElementsAttrRawBufferGet p pUp | mlirElementsAttrGetNumElements I p | mlirAffineMapAttrGet p p
mlirAffineMapAttrGetValue p p | mlirAffineMapGet p piiip | mlirAffineMapPrint - ptp
mlirAffineMapMultiDimIdentityGet p pi | mlirAffineMapGetNumDims i p | mlirAffineMapGetNumResults i p
mlirAffineDimExprGet p pi | mlirAffineSymbolExprGet p pi | mlirAffineConstantExprGet p pI | mlirAffineExprPrint - ptp
mlirAffineAddExprGet p pp | mlirAffineMulExprGet p pp | mlirAffineModExprGet p pp | mlirAffineFloorDivExprGet p pp
mlirAffineCeilDivExprGet p pp | mlirPassManagerCreateOnOperation p ps | mlirPassManagerDestroy - p
mlirPassManagerGetAsOpPassManager p p | mlirPassManagerRunOnOp r pp | mlirPassManagerEnableVerifier - pb
mlirOpPassManagerAddPipeline r pstp | mlirPrintPassPipeline - ptp | mlirParsePassPipeline r pstp
mlirLinalgFillBuiltinNamedOpRegion - p | blockscaleRegisterDialects - p | blockscaleRegisterPasses -
blockscaleScaleBlockAttrGet p pII | blockscaleAttributeIsAScaleBlock b p | blockscaleScaleBlockAttrGetRows I p
blockscaleScaleBlockAttrGetK I p | blockscaleAccumulateAttrGet p pIb | blockscaleAttributeIsAnAccumulate b p
blockscaleAccumulateAttrGetChunk I p | blockscaleAccumulateAttrGetRebase b p | blockscaleMmaScaledCreate p ppppppP
blockscaleGroupedMmaScaledCreate p pppppppGP | blockscaleGroupedMatmulCreate p pppppG
blockscaleSparseMmaScaledCreate p ppppppppI | blockscaleQuantizeCreate p pppQ | blockscaleDequantizeCreate p pppppIp
blockscaleRebaseCreate p pppI | blockscaleSwizzleScalesCreate p pp | blockscaleUnswizzleScalesCreate p ppipip
blockscaleSwizzleGroupScalesCreate p pppp | blockscaleRouteCreate p ppIp | blockscaleSortRoutesCreate p pppI
blockscaleCombineRowsCreate p ppppp | blockscaleSparsifyCreate p ppp | blockscaleCompressCreate p ppp
blockscaleDecompressCreate p pppp | blockscaleTileMetadataCreate p pp | blockscaleUntileMetadataCreate p ppipip
blockscaleOperationDestroy - p | blockscaleCompileForGpu p pip | blockscaleGpuCodeDestroy - p
blockscaleGpuCodeGetText s p | blockscaleGpuCodeGetLaunchInfo s p | blockscaleGpuCodeGetNumRemarks i p
blockscaleGpuCodeGetRemark s pi | blockscaleGpuCodeGetRemarkLocation p pi | blockscaleGetGpuOptionNames s
"""
_ENTRIES = [entry.split() for entry in _FUNCTIONS.replace("\n", "|").split("|") if entry.strip()]
_SIGNATURES = {name: types for name, *types in _ENTRIES}


def candidates() -> List[Path]:
    """The files that are looked for, in order."""
    folders = [folder.parent / "lib" for folder in programs.folders()]
    return [path for folder in folders for path in (folder / NAME, *sorted(folder.glob(f"*-linux-gnu/{NAME}")))]


def _load() -> ctypes.CDLL:
    paths = candidates()
    for path in paths:
        if path.is_file():
            library = ctypes.CDLL(str(path))
            library.blockscaleGetVersion.restype = StringRef
            version = str(library.blockscaleGetVersion())
            if version != __version__:
                raise ImportError(f"{path}: expected version {__version__}, got {version}")
            return library
    raise LibraryNotFoundError(
        f"{NAME} is in none of {', '.join(map(str, paths))}: build the project (scripts/quickstart), or name the folder "
        f"of its programs in {programs.VARIABLE}"
    )


class _Library:
    """The functions of _FUNCTIONS, which are declared when they are first used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: Optional[ctypes.CDLL] = None

    def __getattr__(self, name: str):
        if name not in _SIGNATURES:
            raise AttributeError(name)
        result, *arguments = _SIGNATURES[name]
        return self._declare(name, result, "".join(arguments))

    def _declare(self, name, result, arguments):
        if name in self.__dict__:
            return self.__dict__[name]
        with self._lock:
            if self._loaded is None:
                self._loaded = _load()
        function = getattr(self._loaded, name)
        function.restype = _TYPES[result]
        function.argtypes = [_TYPES[letter] for letter in arguments]
        setattr(self, name, function)
        return function

    def type_id(self, name: str) -> int:
        """The type id of a class of types or attributes, of a function without arguments."""
        return self._declare(name, "p", "")()

    def simple_type(self, name: str, context: int) -> int:
        """A type without parameters, of a function of the context."""
        return self._declare(name, "p", "p")(context)


LIBRARY = _Library()


def text(value: Union[str, bytes]) -> StringRef:
    """A string for a call; the characters live as long as it does."""
    data = value.encode(errors="surrogateescape") if isinstance(value, str) else value
    result = StringRef(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value, len(data))
    result.characters = data
    return result


def pointers(values: Iterable[Optional[int]]):
    """(number, array) of handles."""
    values = list(values)
    return len(values), (ctypes.c_void_p * len(values))(*values)


def numbers(values: Iterable[int], kind=ctypes.c_int64):
    """(number, array) of integers."""
    values = list(values)
    return len(values), (kind * len(values))(*values)


def printed(function, *arguments) -> str:
    """What a function prints that takes a callback and its data last."""
    return printed_bytes(function, *arguments).decode(errors="surrogateescape")


def printed_bytes(function, *arguments) -> bytes:
    parts: List[bytes] = []
    function(*arguments, StringCallback(lambda part, _: parts.append(bytes(part))), None)
    return b"".join(parts)
