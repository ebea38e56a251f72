//===- CheckMetadata.cpp - Fields of metadata for instructions ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The copy of metadata that is made has been checked. Kept units are read only
// where a field is not legal. PTX leaves open what the field of an empty chunk
// does: it becomes the one of the first two units, unless these may meet NaN or
// infinity of y.
//
//===----------------------------------------------------------------------===//

#include "Selection/CheckMetadata.h"

#include "Reference/SparseEmitter.h"
#include "Utils/OperandSpecials.h"
#include "Utils/OperandView.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Whether metadata may have illegal fields: not what the program makes by
/// `compress`, and no constant without them.
static bool mayBeIllegal(SparseMmaScaledOp op) {
  if (op.getLegalMetadata())
    return false;
  Value metadata = traceOperand(op.getMetadata()).tensor;
  if (metadata.getDefiningOp<CompressOp>())
    return false;
  DenseElementsAttr constant;
  if (!matchPattern(metadata, m_Constant(&constant)))
    return true;
  return llvm::any_of(constant.getValues<APInt>(), [](const APInt &byte) {
    uint64_t fields = byte.getZExtValue();
    return !isLegalField(fields & (kNumFields - 1)) ||
           !isLegalField(fields >> kFieldBits);
  });
}

/// Whether the kept units of the field `i` of a byte of metadata at `at` are
/// zeros.
static Value isKeptZero(SparseEmitter &emit, SparseMmaScaledOp op,
                        const OperandView &x, ArrayRef<Value> at, unsigned i) {
  Location loc = op.getLoc();
  int64_t kept = op.getUnits().keptOfChunk();
  AffineExpr d0 = emit.b.getAffineDimExpr(0);
  Format format = *getElementFormat(getElementTypeOrSelf(op.getX().getType()));
  Value isZero = emit.flag(true);
  for (int64_t element = 0; element != kept; ++element) {
    SmallVector<Value> position(at);
    position.back() =
        emit.apply(d0 * (2 * kept) + (i * kept + element), at.back());
    SmallVector<Value> physical;
    for (AffineExpr expr : x.map.getResults())
      physical.push_back(emit.apply(expr, position));
    Value code =
        emit.toCode(tensor::ExtractOp::create(emit.b, loc, x.tensor, physical));
    isZero = emit.bitAnd(isZero, emit.isZero(code, format));
  }
  return isZero;
}

static Value copyChecked(OpBuilder &b, SparseMmaScaledOp op) {
  Location loc = op.getLoc();
  bool replacesEmpty = !mayHaveSpecials(op.getY());
  OperandView metadata = traceOperand(op.getMetadata());
  OperandView x = traceOperand(op.getX());
  Type type = getElementTypeOrSelf(op.getMetadata().getType());
  SmallVector<OpFoldResult> sizes =
      getOperandSizes(b, loc, op.getMetadata(), metadata);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type);
  return computeElements(
      b, loc, metadata.tensor, metadata.map, empty,
      [&](OpBuilder &inner, Location, ValueRange args) -> Value {
        SparseEmitter emit(inner, loc, op.getUnits());
        SmallVector<Value> at = getLoopIndices(inner, loc, sizes.size());
        Value legal = args[0];
        for (unsigned i : {0, 1}) {
          Value field = emit.getField(args[0], emit.index(i));
          Value isLegal = emit.isLegal(field, emit.flag(false));
          auto branch = scf::IfOp::create(inner, loc, emit.negate(isLegal),
                                          /*withElseRegion=*/false);
          OpBuilder body = branch.getThenBodyBuilder();
          SparseEmitter rare(body, loc, op.getUnits());
          rare.expectLegal(field, isKeptZero(rare, op, x, at, i), op);
          if (!replacesEmpty)
            continue;
          auto first = static_cast<int64_t>(kPaddingMetadata & (0xF << 4 * i));
          Value isEmpty = emit.isEqual(field, kEmptyChunkField);
          Value added =
              emit.select(isEmpty, emit.integer(first), emit.integer(0));
          legal = arith::OrIOp::create(
              inner, loc, legal,
              arith::TruncIOp::create(inner, loc, type, added));
        }
        return legal;
      });
}

void blockscale::checkMetadata(SparseMmaScaledOp op) {
  OpBuilder builder(op);
  if (mayBeIllegal(op))
    op.getMetadataMutable().assign(copyChecked(builder, op));
}
