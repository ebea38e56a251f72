//===- CreateWeights.cpp - dequantize and a matmul ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Creates weight-only quantized matmuls. Kernels read quantized elements of the
// right operand, so weights on the left are moved there, and the result is
// transposed. A batch that the weights do not have becomes more rows.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseWeights.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

namespace {

class ProductBuilder {
public:
  ProductBuilder(OpBuilder &builder, Operation *op, const WeightsMatch &match)
      : builder(builder), op(op), match(match), loc(op->getLoc()) {}

  Value create() {
    bool isSwapped = match.side == Side::X;
    bool isCollapsed = getRank(match.acc) == 3 && !match.haveBatch;
    Value acc = match.acc;
    if (isSwapped)
      acc = reshape(acc, [&](Value value) { return transpose(value); });
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, acc);
    Type type = acc.getType();
    Value dense = createOperand(builder, loc, match.dense);
    if (isCollapsed) {
      dense = collapse(dense);
      acc = reshape(acc, [&](Value value) { return collapse(value); });
    }
    Value result = multiply(dense, createDequantized(), acc);
    if (isCollapsed)
      result = tensor::ExpandShapeOp::create(builder, loc, type, result,
                                             getGroups(), sizes);
    return isSwapped ? convert(transpose(result)) : convert(result);
  }

private:
  OpBuilder &builder;
  Operation *op;
  const WeightsMatch &match;
  Location loc;

  static int64_t getRank(Value value) {
    return cast<RankedTensorType>(value.getType()).getRank();
  }

  static SmallVector<ReassociationIndices> getGroups() { return {{0, 1}, {2}}; }

  /// Casts `result` to the static sizes of the result of `op`.
  Value convert(Value result) {
    Type type = op->getResult(0).getType();
    return result.getType() == type
               ? result
               : tensor::CastOp::create(builder, loc, type, result).getResult();
  }

  /// Reshapes `acc` by `change`; a zero accumulator is created in the new
  /// shape.
  Value reshape(Value acc, function_ref<Value(Value)> change) {
    Value changed = change(acc);
    return isZeros(acc) ? createZeros(builder, loc, changed) : changed;
  }

  Value collapse(Value value) {
    return tensor::CollapseShapeOp::create(builder, loc, value, getGroups());
  }

  /// Swaps the last two dimensions.
  Value transpose(Value value) {
    int64_t rank = getRank(value);
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(order[rank - 2], order[rank - 1]);
    return blockscale::transpose(builder, loc, value, order);
  }

  /// The dequantized weights, [batch, rows, K].
  Value createDequantized() {
    Value elements = createOperand(builder, loc, match.weights.element);
    Value scales =
        match.weights.scale
            ? createOperand(builder, loc, *match.weights.scale)
            : createSplatScales(builder, loc, elements, Side::X, match.block,
                                match.weights.splatScale);
    Value tensorScale;
    if (match.tensorScale)
      tensorScale = createScalar(builder, loc, *match.tensorScale);
    auto type = cast<RankedTensorType>(elements.getType()).clone(match.type);
    return DequantizeOp::create(builder, loc, type, elements, scales,
                                tensorScale,
                                builder.getI64IntegerAttr(match.block));
  }

  Value multiply(Value x, Value y, Value acc) {
    Operation *product;
    if (getRank(acc) == 3)
      product = linalg::BatchMatmulTransposeBOp::create(
          builder, loc, ValueRange{x, y}, ValueRange{acc});
    else
      product = linalg::MatmulTransposeBOp::create(
          builder, loc, ValueRange{x, y}, ValueRange{acc});
    // Keeps attributes such as a requested schedule.
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      product->setDiscardableAttr(attribute.getName(), attribute.getValue());
    return product->getResult(0);
  }
};

} // namespace

Value blockscale::createProduct(OpBuilder &builder, Operation *op,
                                const WeightsMatch &match) {
  return ProductBuilder(builder, op, match).create();
}
