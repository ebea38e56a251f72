//===- AccType.cpp - Accumulators and where they are ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The type has only its extents; everything else belongs to its layout. The
// layouts that no `tile_mma` adds to are here.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"

#include "blockscale/Support/TensorMemory.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

Type AccType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Attribute attr;
  SMLoc layoutLoc;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false,
                                /*withTrailingX=*/false) ||
      parser.parseComma() || parser.getCurrentLocation(&layoutLoc) ||
      parser.parseAttribute(attr) || parser.parseGreater())
    return {};
  auto layout = dyn_cast<AccLayoutInterface>(attr);
  if (shape.size() != 2 || !layout) {
    parser.emitError(shape.size() != 2 ? loc : layoutLoc,
                     "expected MxN and the layout of an accumulator, such as "
                     "<64x64, #blockscale.warps<2x2>>");
    return {};
  }
  return parser.getChecked<AccType>(loc, parser.getContext(), shape[0],
                                    shape[1], layout);
}

void AccType::print(AsmPrinter &printer) const {
  printer << "<" << getM() << "x" << getN() << ", " << Attribute(getLayout())
          << ">";
}

LogicalResult AccType::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t m, int64_t n, AccLayoutInterface layout) {
  return layout.verifyShape(emitError, m, n);
}

//===----------------------------------------------------------------------===//
// Lanes of tensor memory, read transposed
//===----------------------------------------------------------------------===//

LogicalResult
LaneColumnsAttr::verifyShape(function_ref<InFlightDiagnostic()> emitError,
                             int64_t m, int64_t n) const {
  if (m < 1 || m > kMaxAccElements || n != kTensorLanes)
    return emitError() << "expected 1 to " << kMaxAccElements << " rows of "
                       << kTensorLanes << " columns, one for each thread, got "
                       << m << "x" << n;
  return success();
}

//===----------------------------------------------------------------------===//
// The transpose of wgmma's sums
//===----------------------------------------------------------------------===//

LogicalResult
WarpColumnsAttr::verifyShape(function_ref<InFlightDiagnostic()> emitError,
                             int64_t m, int64_t n) const {
  const FragmentLayout &sums = getFragmentLayout(Operand::C, kSumBits);
  int64_t rowsOfTile = sums.columns, columnsOfWarp = sums.rows;
  if (m < 1 || m > kMostN || m % rowsOfTile != 0 || getWarps() < 1 ||
      n != columnsOfWarp * getWarps())
    return emitError() << "expected a multiple of " << rowsOfTile
                       << " rows up to " << kMostN << ", and " << columnsOfWarp
                       << " columns for each of " << getWarps()
                       << " warps, got " << m << "x" << n;
  return success();
}

//===----------------------------------------------------------------------===//
// tile_mma
//===----------------------------------------------------------------------===//

/// For layouts that no `tile_mma` adds to.
static LogicalResult refuseTile(TileMmaOp op) {
  return op.emitOpError("expected an accumulator that instructions of a warp "
                        "add to, got ")
         << op.getAcc().getType();
}

LogicalResult LaneColumnsAttr::verifyTile(TileMmaOp &op) const {
  return refuseTile(op);
}

LogicalResult WarpColumnsAttr::verifyTile(TileMmaOp &op) const {
  return refuseTile(op);
}
