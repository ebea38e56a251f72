//===- ScaledProduct.h - Parts of decomposed products -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the decompositions of mma_scaled and of sparse_mma_scaled share: sums in
// f64, which are rounded once, of operands that are dequantized to f64.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_SCALEDPRODUCT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_SCALEDPRODUCT_H

#include "blockscale/Support/ScaleBlocks.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// The value, in f64, of a scale.
Value decodeScale(OpBuilder &b, Location loc, Value scale);

/// A product into an accumulator while it is decomposed. The loops are
/// ([batch,] M, K, N), N innermost, so that y and the sum are read along their
/// rows.
class ScaledProduct {
public:
  ScaledProduct(PatternRewriter &rewriter, Operation *op, Value acc);

  /// Dequantizes `operand` to f64, in its shape. `block` elements along `kDim`
  /// share a scale. Every product is exact: it has at most 6 bits of
  /// significand, and an exponent well inside f64's range.
  Value decode(Value operand, Value scale, unsigned kDim, int64_t block);
  /// The same with a block of rows, too. Products have at most 28 bits.
  Value decode(Value operand, Value scale, unsigned rowDim, unsigned kDim,
               const ScaleBlock &block);

  /// Decodes elements, or scales, to f64, in their shape.
  Value decodeElements(Value operand);
  Value decodeScales(Value scale);

  /// Broadcasts the batch of `matrix` to that of the sum, if it is known only
  /// at run time whether it is 1.
  Value broadcastBatch(Value matrix);

  /// The maps from the loops to x and y. A batch of 1 is broadcast.
  AffineMap getXMap(Value x) { return getMap(x, m, k); }
  AffineMap getYMap(Value y) { return getMap(y, k, n); }

  using Multiply = function_ref<Value(OpBuilder &, Location, ValueRange)>;

  /// Replaces the op by the sum of the accumulator and of the products that
  /// `multiply` makes of elements of `inputs` at `maps`. Returns the sum.
  Operation *replace(ValueRange inputs, ArrayRef<AffineMap> maps,
                     Multiply multiply);

  /// The same for products of elements of x and y. `others` are inputs of the
  /// sum, too, but in no product.
  Operation *replaceByTerms(Value x, Value y, ValueRange others = {},
                            ArrayRef<AffineMap> otherMaps = {});

  /// An operand of a product with coarse scales, decoded.
  struct BlockOperand {
    Value matrix, scales;
    ScaleBlock block;
  };

  /// Replaces the op by the sum of the accumulator and of the sums of blocks
  /// along K, each times its two scales.
  void replaceByBlocks(const BlockOperand &x, const BlockOperand &y);

private:
  AffineMap getMap(Value matrix, unsigned row, unsigned column);
  Value multiply(ValueRange inputs, ArrayRef<AffineMap> maps, Value into,
                 Multiply multiply);
  Value decodeProduct(Value operand, Value scale, AffineMap blocks);
  Value decodeAt(Value operand,
                 function_ref<Value(OpBuilder &, Location, Value)> decode);
  Value sliceK(OpBuilder &b, Value matrix, bool isX, OpFoldResult offset,
               OpFoldResult size);
  Value addScaled(OpBuilder &b, Value sums, const BlockOperand &x,
                  const BlockOperand &y, OpFoldResult k, Value into);

  PatternRewriter &rewriter;
  Operation *op;
  Location loc;
  SmallVector<OpFoldResult> sizes;
  unsigned m, k, n;
  Value sum;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_SCALEDPRODUCT_H
