//===- TmemTypes.cpp - Types of tensor memory -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"

#include "blockscale/Support/SparseMetadata.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Parses two sizes behind `<`; false after an error.
static bool parseSizes(AsmParser &parser, SmallVectorImpl<int64_t> &sizes,
                       StringRef example) {
  SMLoc loc;
  if (parser.parseLess() || parser.getCurrentLocation(&loc) ||
      parser.parseDimensionList(sizes, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return false;
  if (sizes.size() == 2)
    return true;
  parser.emitError(loc, "expected two sizes, such as ") << example;
  return false;
}

/// Parses `, name = number`, if it is there.
static ParseResult parseOptionalNumber(AsmParser &parser, StringRef name,
                                       int64_t &number) {
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parser.parseKeyword(name) || parser.parseEqual() ||
                 parser.parseInteger(number));
}

/// A type of two sizes and nothing else.
template <typename Type>
static Type parseSized(AsmParser &parser, StringRef example) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> sizes;
  if (!parseSizes(parser, sizes, example) || parser.parseGreater())
    return {};
  return parser.getChecked<Type>(loc, parser.getContext(), sizes[0], sizes[1]);
}

//===----------------------------------------------------------------------===//
// tmem
//===----------------------------------------------------------------------===//

LogicalResult TmemType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t columns) { // (C1)
  if (isTensorAllocation(columns))
    return success();
  return emitError() << "expected a power of two from " << kLeastTensorColumns
                     << " to " << kTensorColumns << " columns, got " << columns;
}

//===----------------------------------------------------------------------===//
// tmem_acc
//===----------------------------------------------------------------------===//

Type TmemAccType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> sizes;
  int64_t group = 1;
  if (!parseSizes(parser, sizes, "128x256") ||
      failed(parseOptionalNumber(parser, "group", group)) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<TmemAccType>(loc, parser.getContext(), sizes[0],
                                        sizes[1], group);
}

void TmemAccType::print(AsmPrinter &printer) const {
  printer << "<" << getM() << "x" << getN();
  if (getGroup() != 1)
    printer << ", group = " << getGroup();
  printer << ">";
}

LogicalResult TmemAccType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t m, int64_t n,
                                  int64_t group) { // (C1)
  const AccColumns *rule = lookupAccColumns(group, /*isTransposed=*/false);
  if (!rule)
    return emitError() << "expected group to be 1 or 2, got " << group;
  if (lookupAccLayout(group, m) && isLegalN(*rule, n))
    return success();
  InFlightDiagnostic diagnostic = emitError() << "expected M of";
  for (const AccLayout &layout : getAccLayouts())
    if (layout.group == group)
      diagnostic << " " << layout.m;
  return diagnostic << " and N from " << rule->step << " to " << kMostN
                    << " in steps of " << rule->step << ", got " << m << "x"
                    << n;
}

const AccLayout &TmemAccType::getLayout() const {
  return *lookupAccLayout(getGroup(), getM());
}

int64_t TmemAccType::getNumColumns() const {
  return getN() / getLayout().parts;
}

//===----------------------------------------------------------------------===//
// tmem_scales
//===----------------------------------------------------------------------===//

Type TmemScalesType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> sizes;
  int64_t copies = kScaleCopies;
  if (!parseSizes(parser, sizes, "128x4") ||
      failed(parseOptionalNumber(parser, "copies", copies)) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<TmemScalesType>(loc, parser.getContext(), sizes[0],
                                           sizes[1], copies);
}

void TmemScalesType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getBlocks();
  if (getCopies() != kScaleCopies)
    printer << ", copies = " << getCopies();
  printer << ">";
}

LogicalResult
TmemScalesType::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t rows, int64_t blocks,
                       int64_t copies) { // (C1)
  const ScaleRegion *region = lookupScaleRegion(rows, copies);
  if (!region || region->mostRows != rows) {
    if (copies == kScaleCopies)
      return emitError() << "expected 128 or 256 rows of scales, got " << rows;
    return emitError() << "expected " << kScaleCopies
                       << " copies of scales, or 2 of 256 rows, got " << copies
                       << " of " << rows;
  }
  int64_t words = kTensorColumns / region->columnsOfWord;
  if (blocks < 1 || blocks % kBlocksOfWord != 0 ||
      blocks / kBlocksOfWord > words)
    return emitError() << "expected a multiple of " << kBlocksOfWord
                       << " blocks up to " << words * kBlocksOfWord << ", got "
                       << blocks;
  return success();
}

int64_t TmemScalesType::getColumnsOfWord() const {
  return lookupScaleRegion(getRows(), getCopies())->columnsOfWord;
}

int64_t TmemScalesType::getNumWords() const {
  return getBlocks() / kBlocksOfWord;
}

//===----------------------------------------------------------------------===//
// tmem_metadata
//===----------------------------------------------------------------------===//

Type TmemMetadataType::parse(AsmParser &parser) {
  return parseSized<TmemMetadataType>(parser, "128x32");
}

void TmemMetadataType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getBytes() << ">";
}

LogicalResult
TmemMetadataType::verify(function_ref<InFlightDiagnostic()> emitError,
                         int64_t rows, int64_t bytes) { // (C1)
  constexpr int64_t kMost = kTensorColumns * kTensorColumnBytes;
  if (rows == kMetadataAtomRows && bytes >= kMetadataAtomBytes &&
      bytes <= kMost && bytes % kMetadataAtomBytes == 0)
    return success();
  return emitError() << "expected " << kMetadataAtomRows
                     << " rows of a multiple of " << kMetadataAtomBytes
                     << " bytes up to " << kMost << ", got " << rows << "x"
                     << bytes;
}

int64_t TmemMetadataType::getNumColumns() const {
  return getBytes() / kTensorColumnBytes;
}

int64_t TmemMetadataType::getNumSteps() const {
  return getBytes() / kMetadataStepBytes;
}

//===----------------------------------------------------------------------===//
// tmem_a
//===----------------------------------------------------------------------===//

Type TmemOperandType::parse(AsmParser &parser) {
  return parseSized<TmemOperandType>(parser, "128x8");
}

void TmemOperandType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns() << ">";
}

LogicalResult
TmemOperandType::verify(function_ref<InFlightDiagnostic()> emitError,
                        int64_t rows, int64_t columns) { // (C1)
  if (rows == kTensorLanes && columns >= kOperandColumns &&
      columns <= kTensorColumns)
    return success();
  return emitError() << "expected " << kTensorLanes << " rows and "
                     << kOperandColumns << " to " << kTensorColumns
                     << " columns, got " << rows << "x" << columns;
}
