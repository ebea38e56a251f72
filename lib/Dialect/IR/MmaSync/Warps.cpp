//===- Warps.cpp - Accumulators in the registers of warps -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of accumulators of mma.sync, in which warps share M and N, and its
// constraints on the operands of a tile_mma.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::blockscale;

Attribute WarpsAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> warps, interleave = {1, 1};
  auto parsePair = [&](SmallVectorImpl<int64_t> &pair) -> ParseResult {
    pair.clear();
    return parser.parseDimensionList(pair, /*allowDynamic=*/false,
                                     /*withTrailingX=*/false);
  };
  if (parser.parseLess() || parsePair(warps))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("interleave") || parser.parseEqual() ||
       parsePair(interleave)))
    return {};
  if (parser.parseGreater())
    return {};
  if (warps.size() != 2 || interleave.size() != 2) {
    parser.emitError(loc, "expected the rows and columns of warps, such as "
                          "<2x2>, or <2x2, interleave = 1x2>");
    return {};
  }
  return parser.getChecked<WarpsAttr>(loc, parser.getContext(), warps[0],
                                      warps[1], interleave[0], interleave[1]);
}

void WarpsAttr::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns();
  if (getInterleaveM() != 1 || getInterleaveN() != 1)
    printer << ", interleave = " << getInterleaveM() << "x" << getInterleaveN();
  printer << ">";
}

LogicalResult WarpsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t rows, int64_t columns,
                                int64_t interleaveM, int64_t interleaveN) {
  // A block has at most 32 warps.
  constexpr int64_t kMaxWarps = 32, kMaxInterleave = 4;
  if (rows < 1 || columns < 1 || rows > kMaxWarps || columns > kMaxWarps ||
      rows * columns > kMaxWarps)
    return emitError() << "expected 1 to " << kMaxWarps << " warps, got "
                       << rows << "x" << columns;
  for (int64_t groups : {interleaveM, interleaveN})
    if (groups < 1 || groups > kMaxInterleave || !llvm::isPowerOf2_64(groups))
      return emitError() << "expected 1, 2 or 4 interleaved groups, got "
                         << groups;
  return success();
}

int64_t WarpsAttr::getShareM(AccType type) const {
  return type.getM() / getRows();
}

int64_t WarpsAttr::getShareN(AccType type) const {
  return type.getN() / getColumns();
}

LogicalResult
WarpsAttr::verifyShape(function_ref<InFlightDiagnostic()> emitError, int64_t m,
                       int64_t n) const {
  if (failed(verifyShares(emitError, getRows(), getColumns(), m, n)))
    return failure();
  int64_t shareM = m / getRows(), shareN = n / getColumns();
  if (shareM % (kGroupRows * getInterleaveM()) != 0 ||
      shareN % (kGroupRows * getInterleaveN()) != 0)
    return emitError() << "expected multiples of "
                       << kGroupRows * getInterleaveM() << "x"
                       << kGroupRows * getInterleaveN()
                       << " for the interleaved groups of a warp, got "
                       << shareM << "x" << shareN;
  return success();
}

LogicalResult
WarpsAttr::verifyShares(function_ref<InFlightDiagnostic()> emitError,
                        int64_t rows, int64_t columns, int64_t m, int64_t n) {
  if (m > kMaxFragmentExtent || n > kMaxFragmentExtent)
    return emitError() << "expected at most " << kMaxFragmentExtent
                       << " rows and columns, got " << m << "x" << n;
  if (m * n / (rows * columns * int64_t(kWarpLanes)) > kMaxAccElements)
    return emitError() << "expected at most " << kMaxAccElements
                       << " elements for each lane of " << rows << "x"
                       << columns << " warps, got " << m << "x" << n;
  const FragmentLayout &sums = getFragmentLayout(Operand::C, kSumBits);
  int64_t unitM = sums.rows, unitN = sums.columns;
  if (m < 1 || n < 1 || m % (unitM * rows) != 0 || n % (unitN * columns) != 0)
    return emitError() << "expected multiples of " << unitM << "x" << unitN
                       << " for each of " << rows << "x" << columns
                       << " warps, got " << m << "x" << n;
  return success();
}

//===----------------------------------------------------------------------===//
// tile_mma
//===----------------------------------------------------------------------===//

/// Checks the layout of A or B, of which a warp has `warpRows` rows.
static LogicalResult verifyElements(TileMmaOp op, StringRef name,
                                    Operand operand, int64_t warpRows,
                                    int64_t interleave) {
  TileLayout layout = op.getLayout(operand);
  Slot slot = op.getSlot(operand);
  int64_t wanted = getInterleave(op.getInstruction().getKind(), layout, slot);
  if (interleave != wanted) // (W1)
    return op.emitOpError("expected an accumulator with ")
           << wanted << " interleaved groups of " << name << ", got "
           << op.getAcc().getType();
  // (W2) The accumulator has whole interleaved groups, see verifyShape.
  if (layout.major == Major::MN && warpRows % kChunkBytes != 0)
    return op.emitOpError("expected a warp to have a multiple of ")
           << kChunkBytes << " rows of " << name << ", which is <mn>, got "
           << warpRows;
  return success();
}

static LogicalResult verifyScales(TileMmaOp op, const Twine &name,
                                  MemRefType scales, int64_t rows,
                                  int64_t warpRows) {
  ArrayRef<int64_t> shape = scales.getShape();
  constexpr int64_t kOuter = kWarpLanes;
  bool hasParts = shape.size() == getScaleRank(ScaleOrder::Parts);
  int64_t numRows = llvm::alignTo(rows, kOuter);
  int64_t words = hasParts ? shape.back() / kScalesPerWord : 1;
  int64_t perPart = kOuter * words;
  auto isWordCount = [](int64_t bytes) {
    return bytes == 4 || bytes == 8 || bytes == 16;
  };
  if (shape[shape.size() - 2] != kOuter ||
      (hasParts && !isWordCount(shape.back())) ||
      shape[shape.size() - 3] * perPart != numRows) // (W3)
    return op.emitOpError("expected ")
           << name
           << " to be of the shape G x 32 x 4W or W x P x 32 x 4Q, with 32 G "
              "or 32 P Q the "
           << numRows << " rows, and Q 1, 2 or 4, got " << scales;
  if (warpRows % perPart != 0 &&
      (perPart != kOuter || kOuter % warpRows != 0)) // (W4)
    return op.emitOpError("expected ")
           << name << " to have parts of " << perPart
           << " rows that divide the " << warpRows << " rows of a warp";
  return success();
}

static LogicalResult verifyAtoms(TileMmaOp op, const Twine &name,
                                 MemRefType scales, int64_t rows,
                                 int64_t warpRows) {
  ArrayRef<int64_t> shape = scales.getShape();
  int64_t atoms = llvm::divideCeilSigned(rows, kScaleAtomRows);
  if (shape[0] != atoms || shape[2] != kScaleAtomOuter ||
      shape[3] != kScaleAtomInner) // (W3)
    return op.emitOpError("expected ")
           << name << " to be of the shape " << atoms << " x W x "
           << kScaleAtomOuter << " x " << kScaleAtomInner << " for " << rows
           << " rows, got " << scales;
  if (!op.getInstruction().getInstruction().isNative()) // (W5)
    return op.emitOpError("expected a block-scaled instruction for ")
           << name << " in atoms, got " << op.getInstruction();
  if (!llvm::isPowerOf2_64(warpRows) || warpRows > kScaleAtomRows) // (W4)
    return op.emitOpError("expected a warp to have a power of two of at most ")
           << kScaleAtomRows << " rows for " << name << " in atoms, got "
           << warpRows;
  return success();
}

LogicalResult WarpsAttr::verifyTile(TileMmaOp &op) const {
  if (!getPathInfo(op.getInstruction().getPath()).isWarpLevel) // (W1)
    return op.emitOpError("expected an instruction of a warp for an "
                          "accumulator in warps, got ")
           << op.getInstruction();
  auto acc = cast<AccType>(op.getAcc().getType());
  struct Share {
    StringRef name;
    Operand operand;
    Value scale;
    int64_t rows, warpRows, interleave;
  };
  for (const Share &share : {Share{"a", Operand::A, op.getAScale(), acc.getM(),
                                   getShareM(acc), getInterleaveM()},
                             Share{"b", Operand::B, op.getBScale(), acc.getN(),
                                   getShareN(acc), getInterleaveN()}}) {
    if (failed(verifyElements(op, share.name, share.operand, share.warpRows,
                              share.interleave)))
      return failure();
    auto scales = dyn_cast<MemRefType>(share.scale.getType());
    bool isNative = op.getInstruction().getInstruction().isNative();
    if (op.getBlocks() && (!scales || !isNative)) // (W5)
      return op.emitOpError("expected a block-scaled instruction and ")
             << share.name << "_scale in memory for a number of blocks, got "
             << op.getInstruction() << " and " << share.scale.getType();
    ScaleOrder order = op.getScaleOrder(share.operand);
    if (!scales || order == ScaleOrder::Rows)
      continue;
    auto verify = order == ScaleOrder::Atoms ? verifyAtoms : verifyScales;
    if (failed(verify(op, share.name + "_scale", scales, share.rows,
                      share.warpRows)))
      return failure();
  }
  return success();
}
