//===- BlockScaleAttrs.cpp - Attributes and types -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text forms and the checks of attributes, which refer to the tables of
// Support by names.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/Sparse.h"

#include "blockscale/Runtime/TensorMap.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Names of table entries
//===----------------------------------------------------------------------===//

static StringRef getName(Format format) {
  return getFormatInfo(format).ptxName;
}
static StringRef getName(Kind kind) { return stringifyKind(kind); }
static StringRef getName(Path path) { return getPathInfo(path).name; }
static StringRef getName(Major major) { return stringifyMajor(major); }
static StringRef getName(Storage storage) { return stringifyStorage(storage); }
static StringRef getName(ScaleOrder order) {
  return stringifyScaleOrder(order);
}

/// Parses one of the first `count` values of an enumeration by its name.
template <typename Enum, unsigned count>
struct NameParser {
  static FailureOr<Enum> parse(AsmParser &parser) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (failed(parser.parseKeyword(&name)))
      return failure();
    for (unsigned i = 0; i != count; ++i)
      if (getName(static_cast<Enum>(i)) == name)
        return static_cast<Enum>(i);
    InFlightDiagnostic diagnostic = parser.emitError(loc, "expected one of");
    for (unsigned i = 0; i != count; ++i)
      diagnostic << " " << getName(static_cast<Enum>(i));
    return diagnostic << ", got '" << name << "'";
  }
};

namespace mlir {
template <>
struct FieldParser<Format> : NameParser<Format, kNumFormats> {};
template <>
struct FieldParser<Kind> : NameParser<Kind, kNumKinds> {};
template <>
struct FieldParser<Path> : NameParser<Path, kNumPaths> {};
template <>
struct FieldParser<ScaleOrder> : NameParser<ScaleOrder, kNumScaleOrders> {};
template <>
struct FieldParser<Granularity> {
  static FailureOr<Granularity> parse(AsmParser &parser) {
    SMLoc loc = parser.getCurrentLocation();
    std::string name;
    // "2:4" is three tokens.
    int64_t kept = 0;
    OptionalParseResult isNumber = parser.parseOptionalInteger(kept);
    if (isNumber.has_value()) {
      int64_t units = 0;
      if (failed(*isNumber) || failed(parser.parseColon()) ||
          failed(parser.parseInteger(units)))
        return failure();
      name = std::to_string(kept) + ":" + std::to_string(units);
    } else if (failed(parser.parseKeywordOrString(&name))) {
      return failure();
    }
    if (std::optional<Granularity> granularity = lookupGranularity(name))
      return *granularity;
    return parser.emitError(loc, "expected the granularity 2:4 or pairs, got ")
           << name;
  }
};
template <>
struct FieldParser<std::optional<Granularity>> {
  static FailureOr<std::optional<Granularity>> parse(AsmParser &parser) {
    FailureOr<Granularity> granularity =
        FieldParser<Granularity>::parse(parser);
    if (failed(granularity))
      return failure();
    return std::optional<Granularity>(*granularity);
  }
};
template <>
struct FieldParser<ClusterSize> {
  static FailureOr<ClusterSize> parse(AsmParser &parser) {
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<int64_t, 2> sizes;
    if (failed(parser.parseDimensionList(sizes, /*allowDynamic=*/false,
                                         /*withTrailingX=*/false)))
      return failure();
    if (sizes.size() != 2)
      return parser.emitError(loc, "expected two sizes of a cluster, got ")
             << sizes.size();
    return ClusterSize{sizes[0], sizes[1]};
  }
};

namespace blockscale {
static AsmPrinter &operator<<(AsmPrinter &printer, const ClusterSize &size) {
  printer.getStream() << size.m << "x" << size.n;
  return printer;
}

static AsmPrinter &operator<<(AsmPrinter &printer, Granularity granularity) {
  printer.getStream() << StringRef(getGranularityInfo(granularity).name);
  return printer;
}

static AsmPrinter &operator<<(AsmPrinter &printer,
                              std::optional<Granularity> sparsity) {
  return printer << *sparsity;
}

template <typename Enum>
static std::enable_if_t<
    llvm::is_one_of<Enum, Format, Kind, Path, ScaleOrder>::value, AsmPrinter &>
operator<<(AsmPrinter &printer, Enum value) {
  printer.getStream() << getName(value);
  return printer;
}
} // namespace blockscale
} // namespace mlir

#include "blockscale/Dialect/IR/BlockScaleAttrInterfaces.cpp.inc"

#include "blockscale/Dialect/IR/BlockScaleEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "blockscale/Dialect/IR/BlockScaleAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "blockscale/Dialect/IR/BlockScaleTypes.cpp.inc"

void BlockScaleDialect::addAttributesAndTypes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "blockscale/Dialect/IR/BlockScaleAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "blockscale/Dialect/IR/BlockScaleTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Type combinations and instructions
//===----------------------------------------------------------------------===//

LogicalResult TypeCombinationAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, Format a, Format b,
    Format scale, unsigned blockSize, std::optional<Granularity> sparsity) {
  if (isComputed({a, b, scale, blockSize, sparsity}))
    return success();
  InFlightDiagnostic diagnostic =
      emitError() << "expected a legal type combination, got " << getName(a)
                  << " times " << getName(b) << " with " << getName(scale)
                  << " scales and a block size of " << blockSize;
  if (sparsity)
    diagnostic << " of a sparse A, "
               << StringRef(getGranularityInfo(*sparsity).name);
  return diagnostic;
}

LogicalResult
InstructionAttr::verify(function_ref<InFlightDiagnostic()> emitError, Path path,
                        int64_t m, int64_t n, int64_t k, Kind kind, Format a,
                        Format b, Format scale, unsigned scaleVec,
                        std::optional<Granularity> sparsity) {
  const Instruction *instruction =
      lookupInstruction(path, kind, a, b, scale, scaleVec, sparsity);
  if (!instruction || !instruction->isEmitted()) {
    InFlightDiagnostic diagnostic =
        emitError() << "expected a " << (sparsity ? "sparse" : "dense")
                    << " instruction of " << getName(path)
                    << ", got kind::" << getName(kind)
                    << ".scale_vec::" << scaleVec << "X of " << getName(a)
                    << " times " << getName(b) << " with " << getName(scale)
                    << " scales";
    if (instruction)
      diagnostic << ", which needs PTX "
                 << formatPtxVersion(instruction->lowestPtx);
    return diagnostic;
  }
  bool isM = m == instruction->m || m == instruction->mostM;
  if (isM && n >= instruction->n && n <= instruction->mostN &&
      n % instruction->n == 0 && k == instruction->k)
    return success();
  InFlightDiagnostic diagnostic = emitError() << "expected " << instruction->m;
  if (instruction->mostM != instruction->m)
    diagnostic << " (" << instruction->mostM << " for pairs of CTAs)";
  diagnostic << "x" << instruction->n;
  if (instruction->mostN != instruction->n)
    diagnostic << " (to " << instruction->mostN << " in steps of "
               << instruction->n << ")";
  return diagnostic << "x" << instruction->k << " for "
                    << getOpcode(*instruction) << ", got " << m << "x" << n
                    << "x" << k;
}

const Instruction &InstructionAttr::getInstruction() const {
  return *lookupInstruction(getPath(), getKind(), getA(), getB(), getScale(),
                            getScaleVec(), getSparsity());
}

InstructionAttr InstructionAttr::get(MLIRContext *context,
                                     const Instruction &instruction) {
  return get(context, instruction.path, instruction.m, instruction.n,
             instruction.k, instruction.kind, instruction.a, instruction.b,
             instruction.scale, instruction.scaleVec, instruction.sparsity);
}

Attribute InstructionAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  FailureOr<Path> path = FieldParser<Path>::parse(parser);
  SmallVector<int64_t> shape;
  SMLoc shapeLoc;
  if (failed(path) || parser.parseComma() ||
      parser.getCurrentLocation(&shapeLoc) ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false,
                                /*withTrailingX=*/false) ||
      parser.parseComma())
    return {};
  if (shape.size() != 3) {
    parser.emitError(shapeLoc, "expected MxNxK, such as 16x8x32");
    return {};
  }
  FailureOr<Kind> kind = FieldParser<Kind>::parse(parser);
  if (failed(kind) || parser.parseComma())
    return {};
  std::array<Format, 3> formats;
  for (Format &format : formats) {
    FailureOr<Format> parsed = FieldParser<Format>::parse(parser);
    if (failed(parsed) || parser.parseComma())
      return {};
    format = *parsed;
  }
  unsigned scaleVec = 0;
  if (parser.parseInteger(scaleVec))
    return {};
  std::optional<Granularity> sparsity;
  if (succeeded(parser.parseOptionalComma())) {
    FailureOr<Granularity> parsed = FieldParser<Granularity>::parse(parser);
    if (failed(parsed))
      return {};
    sparsity = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<InstructionAttr>(
      loc, parser.getContext(), *path, shape[0], shape[1], shape[2], *kind,
      formats[0], formats[1], formats[2], scaleVec, sparsity);
}

void InstructionAttr::print(AsmPrinter &printer) const {
  printer << "<" << getPath() << ", " << getM() << "x" << getN() << "x"
          << getK() << ", " << getKind() << ", " << getA() << ", " << getB()
          << ", " << getScale() << ", " << getScaleVec();
  if (isSparse())
    printer << ", " << getSparsity();
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

static const Chip *parseChip(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (failed(parser.parseKeyword(&name)))
    return nullptr;
  const Chip *chip = lookupChip(name);
  if (!chip)
    parser.emitError(loc, describeUnknownChip(name));
  return chip;
}

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  const Chip *chip = parseChip(parser), *emulatedOn = nullptr;
  if (!chip)
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("emulated_on") || parser.parseEqual())
      return {};
    emulatedOn = parseChip(parser);
    if (!emulatedOn)
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), chip, emulatedOn);
}

void TargetAttr::print(AsmPrinter &printer) const {
  printer << "<" << StringRef(getChip()->name);
  if (getEmulatedOn())
    printer << ", emulated_on = " << StringRef(getEmulatedOn()->name);
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Attribute TileLayoutAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<Major> major = NameParser<Major, kNumMajors>::parse(parser);
  if (failed(major) || parser.parseComma())
    return {};
  FailureOr<Storage> storage = NameParser<Storage, kNumStorages>::parse(parser);
  if (failed(storage))
    return {};
  bool isSwizzled = succeeded(parser.parseOptionalComma());
  if ((isSwizzled && parser.parseKeyword("swizzled")) || parser.parseGreater())
    return {};
  return get(parser.getContext(), *major, *storage, isSwizzled);
}

void TileLayoutAttr::print(AsmPrinter &printer) const {
  printer << "<" << getName(getMajor()) << ", " << getName(getStorage());
  if (getSwizzled())
    printer << ", swizzled";
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

LogicalResult
TensorMapAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      StringRef dtype, AffineMapAttr sizes,
                      AffineMapAttr strides, ArrayRef<int64_t> box,
                      ArrayRef<int64_t> elementStrides, StringRef swizzle,
                      StringRef fill, StringRef l2,
                      int64_t elements) { // (T1), (T2)
  constexpr size_t kMaxRank = 5;
  AffineMap sizeMap = sizes.getValue(), strideMap = strides.getValue();
  size_t rank = box.size();
  if (rank < 1 || rank > kMaxRank || elementStrides.size() != rank ||
      sizeMap.getNumResults() != rank || strideMap.getNumResults() != rank - 1)
    return emitError() << "expected 1 to " << kMaxRank
                       << " values in box, as many in element_strides and in "
                          "sizes, and one less in strides, got "
                       << rank << ", " << elementStrides.size() << ", "
                       << sizeMap.getNumResults() << " and "
                       << strideMap.getNumResults();
  if (sizeMap.getNumDims() != 0 || strideMap.getNumDims() != 0 ||
      sizeMap.getNumSymbols() != strideMap.getNumSymbols())
    return emitError() << "expected maps of the same symbols and of no "
                          "dimensions, got "
                       << sizes << " and " << strides;
  if (elements < 1)
    return emitError() << "expected at least one code in an element, got "
                       << elements;
  Result<TensorMap> form =
      makeTensorMap(dtype, box.vec(), elementStrides.vec(), swizzle, fill, l2);
  if (!form)
    return emitError() << form.message();
  return success();
}
