//===- DecomposePacking.cpp - Packed buffers as loops ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unpacks buffers that no kernel reads directly, element by element.
//
//===----------------------------------------------------------------------===//

#include "Utils/IndexValues.h"
#include "Utils/OperandView.h"
#include "Utils/PackedElements.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

/// A tensor like the result of `op`, whose elements `body` computes from their
/// indices.
template <typename Op>
static Value generate(OpBuilder &builder, Op op,
                      function_ref<Value(OpBuilder &, ValueRange)> body) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getResult().getType();
  ReifiedRankedShapedTypeDims sizes;
  if (failed(op.reifyResultShapes(builder, sizes)))
    llvm_unreachable("expected the sizes of a tensor");
  SmallVector<Value> dynamic;
  for (auto [size, known] : llvm::zip_equal(sizes[0], type.getShape()))
    if (ShapedType::isDynamic(known))
      dynamic.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  Value empty = tensor::EmptyOp::create(builder, loc, type, dynamic);
  return computeElements(builder, loc, {}, {}, empty,
                         [&](OpBuilder &b, Location bodyLoc, ValueRange) {
                           return body(
                               b, getLoopIndices(b, bodyLoc, type.getRank()));
                         });
}

/// The source at `indices`, with `last` instead of the last index.
static Value extract(OpBuilder &b, Location loc, Value source,
                     ValueRange indices, Value last) {
  SmallVector<Value> position(indices);
  position.back() = last;
  return tensor::ExtractOp::create(b, loc, source, position);
}

static Value shiftBy(OpBuilder &b, Location loc, Value index) {
  return arith::IndexCastUIOp::create(b, loc, b.getI16Type(), index);
}

/// Every element looks up its code.
static LogicalResult decomposeUnpack(UnpackOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getResult().getType();
  int64_t bits = type.getElementTypeBitWidth();
  OpFoldResult rowBytes =
      tensor::getMixedSize(rewriter, loc, op.getSource(), type.getRank() - 1);
  Value result =
      generate(rewriter, op, [&](OpBuilder &b, ValueRange indices) -> Value {
        Value byte = emitUnpackCode(
            b, loc, indices.back(), bits, rowBytes, [&](Value byteIndex) {
              return extract(b, loc, op.getSource(), indices, byteIndex);
            });
        Value code =
            arith::TruncIOp::create(b, loc, b.getIntegerType(bits), byte);
        return arith::BitcastOp::create(b, loc, type.getElementType(), code);
      });
  rewriter.replaceOp(op, result);
  return success();
}

/// Every byte gathers its bits, from one code and the next.
static LogicalResult decomposePack(PackOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  RankedTensorType source = op.getSource().getType();
  int64_t bits = source.getElementTypeBitWidth();
  Value result =
      generate(rewriter, op, [&](OpBuilder &b, ValueRange indices) -> Value {
        AffineExpr bit = getAffineDimExpr(0, b.getContext()) * 8;
        AffineExpr code = bit.floorDiv(bits);
        auto at = applyExprs(
            b, loc,
            {code, code + 1, bit % bits,
             getAffineConstantExpr(bits, b.getContext()) - bit % bits},
            indices.back());
        auto load = [&](Value position) -> Value {
          Value element = extract(b, loc, op.getSource(), indices, position);
          Value narrow =
              arith::BitcastOp::create(b, loc, b.getIntegerType(bits), element);
          return arith::ExtUIOp::create(b, loc, b.getI16Type(), narrow);
        };
        Value first = load(at[0]), second = load(at[1]);
        Value down = shiftBy(b, loc, at[2]), up = shiftBy(b, loc, at[3]);
        first = arith::ShRUIOp::create(b, loc, first, down);
        second = arith::ShLIOp::create(b, loc, second, up);
        Value word = arith::OrIOp::create(b, loc, first, second);
        return arith::TruncIOp::create(b, loc, b.getI8Type(), word);
      });
  rewriter.replaceOp(op, result);
  return success();
}

void blockscale::populateDecomposePackingPatterns(RewritePatternSet &patterns) {
  patterns.add(decomposePack).add(decomposeUnpack);
}
