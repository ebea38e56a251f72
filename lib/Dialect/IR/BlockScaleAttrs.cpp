//===- BlockScaleAttrs.cpp - Attributes and types -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes hold rows of the plain C++ tables; their texts are the names in
// those tables, so that there is one spelling.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Rows of tables by their names
//===----------------------------------------------------------------------===//

static StringRef getName(Format format) {
  return getFormatInfo(format).ptxName;
}
static StringRef getName(Kind kind) { return stringifyKind(kind); }
static StringRef getName(Path path) { return stringifyPath(path); }
static StringRef getName(Major major) { return stringifyMajor(major); }
static StringRef getName(Storage storage) { return stringifyStorage(storage); }

/// Parses one of the first `count` values of an enumeration by its name.
template <typename Enum>
static FailureOr<Enum> parseName(AsmParser &parser, unsigned count) {
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

namespace mlir {
template <>
struct FieldParser<Format> {
  static FailureOr<Format> parse(AsmParser &parser) {
    return parseName<Format>(parser, kNumFormats);
  }
};
template <>
struct FieldParser<Kind> {
  static FailureOr<Kind> parse(AsmParser &parser) {
    return parseName<Kind>(parser, kNumKinds);
  }
};
template <>
struct FieldParser<Path> {
  static FailureOr<Path> parse(AsmParser &parser) {
    return parseName<Path>(parser, kNumPaths);
  }
};

namespace blockscale {
template <typename Enum>
static std::enable_if_t<llvm::is_one_of<Enum, Format, Kind, Path>::value,
                        AsmPrinter &>
operator<<(AsmPrinter &printer, Enum value) {
  printer.getStream() << getName(value);
  return printer;
}
} // namespace blockscale
} // namespace mlir

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
// Rows and instructions
//===----------------------------------------------------------------------===//

LogicalResult RowAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              Format a, Format b, Format scale,
                              unsigned blockSize) {
  if (isLegal({a, b, scale, blockSize}))
    return success();
  return emitError() << "expected one of the 27 legal rows, got " << getName(a)
                     << " times " << getName(b) << " with " << getName(scale)
                     << " scales and a block size of " << blockSize;
}

LogicalResult
InstructionAttr::verify(function_ref<InFlightDiagnostic()> emitError, Kind kind,
                        Format a, Format b, Format scale, unsigned scaleVec) {
  const Instruction *instruction =
      lookupInstruction(Path::MmaSync, kind, a, b, scale, scaleVec);
  if (instruction && instruction->isEmitted)
    return success();
  InFlightDiagnostic diagnostic =
      emitError() << "expected one of the 28 dense block-scaled mma.sync "
                     "instructions, got kind::"
                  << getName(kind) << ".scale_vec::" << scaleVec << "X of "
                  << getName(a) << " times " << getName(b) << " with "
                  << getName(scale) << " scales";
  if (instruction)
    diagnostic << ", which needs PTX "
               << formatPtxVersion(instruction->lowestPtx);
  return diagnostic;
}

const Instruction &InstructionAttr::getInstruction() const {
  return *lookupInstruction(Path::MmaSync, getKind(), getA(), getB(),
                            getScale(), getScaleVec());
}

InstructionAttr InstructionAttr::get(MLIRContext *context,
                                     const Instruction &instruction) {
  return get(context, instruction.kind, instruction.a, instruction.b,
             instruction.scale, instruction.scaleVec);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Attribute TileLayoutAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<Major> major = parseName<Major>(parser, kNumMajors);
  if (failed(major) || parser.parseComma())
    return {};
  FailureOr<Storage> storage = parseName<Storage>(parser, kNumStorages);
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

/// Whether scales of a warp's share can be in the order of lanes.
static bool isWholeShare(int64_t extent, int64_t unit) {
  constexpr int64_t kGroup = kWarpLanes;
  return extent >= unit && (extent % kGroup == 0 || kGroup % extent == 0);
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> tile,
                                   ArrayRef<int64_t> warps, int64_t stages) {
  if (tile.size() != 3 || warps.size() != 2)
    return emitError() << "expected three sizes of a tile and two numbers of "
                          "warps, got "
                       << tile.size() << " and " << warps.size();
  constexpr int64_t kMaxStages = 16, kMinK = 128, kMaxK = 1024;
  if (stages < 1 || stages > kMaxStages)
    return emitError() << "expected 1 to " << kMaxStages << " stages, got "
                       << stages;
  if (tile[2] < kMinK || tile[2] > kMaxK || !llvm::isPowerOf2_64(tile[2]))
    return emitError() << "expected K of the tile to be a power of two from "
                       << kMinK << " to " << kMaxK << ", got " << tile[2];
  if (failed(AccType::verify(emitError, tile[0], tile[1], warps[0], warps[1])))
    return failure();
  constexpr int64_t units[] = {kMmaSyncM, kMmaSyncN};
  for (unsigned i : {0, 1})
    if (!isWholeShare(tile[i] / warps[i], units[i]))
      return emitError() << "expected " << (i == 0 ? "M" : "N")
                         << " of a warp to be a power of two or a multiple of "
                         << kWarpLanes << ", got " << tile[i] / warps[i];
  return success();
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

Type AccType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, warps;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false,
                                /*withTrailingX=*/false) ||
      parser.parseComma() ||
      parser.parseDimensionList(warps, /*allowDynamic=*/false,
                                /*withTrailingX=*/false) ||
      parser.parseGreater())
    return {};
  if (shape.size() != 2 || warps.size() != 2) {
    parser.emitError(loc, "expected MxN and the rows and columns of warps, "
                          "such as <64x64, 2x2>");
    return {};
  }
  return parser.getChecked<AccType>(loc, parser.getContext(), shape[0],
                                    shape[1], warps[0], warps[1]);
}

void AccType::print(AsmPrinter &printer) const {
  printer << "<" << getM() << "x" << getN() << ", " << getWarpsM() << "x"
          << getWarpsN() << ">";
}

LogicalResult AccType::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t m, int64_t n, int64_t warpsM,
                              int64_t warpsN) {
  // A block has at most 32 warps.
  constexpr int64_t kMaxWarps = 32;
  if (warpsM < 1 || warpsN < 1 || warpsM > kMaxWarps || warpsN > kMaxWarps ||
      warpsM * warpsN > kMaxWarps)
    return emitError() << "expected 1 to " << kMaxWarps << " warps, got "
                       << warpsM << "x" << warpsN;
  if (m > kMaxFragmentExtent || n > kMaxFragmentExtent)
    return emitError() << "expected at most " << kMaxFragmentExtent
                       << " rows and columns, got " << m << "x" << n;
  if (m * n / (warpsM * warpsN * int64_t(kWarpLanes)) > kMaxAccElements)
    return emitError() << "expected at most " << kMaxAccElements
                       << " elements for each lane of " << warpsM << "x"
                       << warpsN << " warps, got " << m << "x" << n;
  constexpr int64_t kM = kMmaSyncM, kN = kMmaSyncN;
  if (m < 1 || n < 1 || m % (kM * warpsM) != 0 || n % (kN * warpsN) != 0)
    return emitError() << "expected multiples of " << kM << "x" << kN
                       << " for each of " << warpsM << "x" << warpsN
                       << " warps, got " << m << "x" << n;
  return success();
}
