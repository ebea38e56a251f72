//===- UnscaledProducts.cpp - Products of linalg that paths compute -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matmuls of bf16 or f16 elements with f32 accumulators, which instructions
// multiply directly.
//
//===----------------------------------------------------------------------===//

#include "Selection/UnscaledProducts.h"

#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

static Format getFormat(Value operand) {
  return getHighPrecisionFormat(getElementTypeOrSelf(operand))
      .value_or(Format::None);
}

namespace {
template <typename Op>
struct UnscaledProduct final
    : ProductOpInterface::ExternalModel<UnscaledProduct<Op>, Op> {
  TypeCombination getTypes(Operation *op) const {
    return {getFormat(getX(op)), getFormat(getY(op)), Format::None, 1};
  }
  Value getX(Operation *op) const { return cast<Op>(op).getInputs()[0]; }
  Value getY(Operation *op) const { return cast<Op>(op).getInputs()[1]; }
  Value getAcc(Operation *op) const { return cast<Op>(op).getOutputs()[0]; }
  Value getXScale(Operation *) const { return {}; }
  Value getYScale(Operation *) const { return {}; }
  bool hasTensorSemantics(Operation *op) const {
    return isa<RankedTensorType>(getAcc(op).getType());
  }
};
} // namespace

void blockscale::registerProductOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::MatmulOp::attachInterface<UnscaledProduct<linalg::MatmulOp>>(
        *context);
    linalg::BatchMatmulOp::attachInterface<
        UnscaledProduct<linalg::BatchMatmulOp>>(*context);
  });
}

/// The order of the dimensions of operand `number` in the canonical form of
/// `op`, whose loops are [batch,] M, N, K; nullopt if it has other dimensions.
static std::optional<SmallVector<int64_t>> getOrder(linalg::LinalgOp op,
                                                    unsigned number) {
  unsigned batch = op.getNumLoops() - 3;
  enum { M, N, K };
  static constexpr unsigned kIndices[3][2] = {{M, K}, {K, N}, {M, N}};
  AffineMap map = op.getIndexingMapsArray()[number];
  if (!map.isProjectedPermutation() || map.getNumResults() != batch + 2)
    return std::nullopt;
  SmallVector<int64_t> order;
  auto append = [&](unsigned index) {
    std::optional<unsigned> at =
        map.getResultPosition(getAffineDimExpr(index, op->getContext()));
    if (at)
      order.push_back(*at);
  };
  if (batch)
    append(0);
  for (unsigned index : kIndices[number])
    append(batch + index);
  if (order.size() != batch + 2)
    return std::nullopt;
  return order;
}

static bool isIdentity(ArrayRef<int64_t> order) {
  return llvm::equal(order, llvm::seq<int64_t>(0, order.size()));
}

bool blockscale::isUnscaledProduct(ProductOpInterface op) {
  auto matmul = dyn_cast<linalg::LinalgOp>(op.getOperation());
  if (!matmul || !op.hasTensorSemantics() || matmul.getNumLoops() > 4 ||
      !op->getParentOfType<func::FuncOp>())
    return false;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || type.getEncoding() ||
        llvm::is_contained(type.getShape(), int64_t(0)))
      return false;
  }
  if (!cast<RankedTensorType>(op.getAcc().getType()).getElementType().isF32())
    return false;
  std::optional<SmallVector<int64_t>> result = getOrder(matmul, 2);
  return getOrder(matmul, 0) && getOrder(matmul, 1) && result &&
         isIdentity(*result);
}

/// Rewrites `op` into its canonical form.
static ProductOpInterface makeUnscaled(OpBuilder &builder,
                                       ProductOpInterface op) {
  auto matmul = cast<linalg::LinalgOp>(op.getOperation());
  SmallVector<Value> inputs;
  bool isPlain = true;
  for (unsigned number : {0, 1}) {
    Value input = op->getOperand(number);
    SmallVector<int64_t> order = *getOrder(matmul, number);
    if (!isIdentity(order)) {
      isPlain = false;
      SmallVector<OpFoldResult> sizes,
          old = tensor::getMixedSizes(builder, op->getLoc(), input);
      for (int64_t dim : order)
        sizes.push_back(old[dim]);
      Value empty = tensor::EmptyOp::create(
          builder, op->getLoc(), sizes,
          cast<RankedTensorType>(input.getType()).getElementType());
      input = linalg::TransposeOp::create(builder, op->getLoc(), input, empty,
                                          order)
                  ->getResult(0);
    }
    inputs.push_back(input);
  }
  if (isPlain)
    return op;
  auto attributes = llvm::to_vector(op->getDiscardableAttrs());
  Operation *canonical;
  if (isa<linalg::MatmulOp>(op))
    canonical =
        linalg::MatmulOp::create(builder, op->getLoc(), inputs, op.getAcc());
  else
    canonical = linalg::BatchMatmulOp::create(builder, op->getLoc(), inputs,
                                              op.getAcc());
  canonical->setDiscardableAttrs(attributes);
  op->getResult(0).replaceAllUsesWith(canonical->getResult(0));
  op->erase();
  return cast<ProductOpInterface>(canonical);
}

/// Erases a canonical form that has no uses, with the transposes of its
/// operands.
static void eraseUnscaled(ProductOpInterface op) {
  Value inputs[] = {op.getX(), op.getY()};
  op->erase();
  for (Value input : inputs) {
    auto transpose = input.getDefiningOp<linalg::TransposeOp>();
    if (!transpose || !transpose->use_empty())
      continue;
    Operation *empty = transpose.getInit().getDefiningOp();
    transpose->erase();
    if (empty->use_empty())
      empty->erase();
  }
}

ProductOpInterface blockscale::replaceByCanonical(
    ProductOpInterface op, function_ref<bool(ProductOpInterface)> isAccepted) {
  OpBuilder builder(op);
  ProductOpInterface canonical =
      makeUnscaled(builder, cast<ProductOpInterface>(builder.clone(*op)));
  if (!isAccepted(canonical)) {
    eraseUnscaled(canonical);
    return {};
  }
  op->getResult(0).replaceAllUsesWith(canonical->getResult(0));
  op->erase();
  return canonical;
}
