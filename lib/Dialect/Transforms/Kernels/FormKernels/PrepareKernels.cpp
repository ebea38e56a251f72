//===- PrepareKernels.cpp - What comes before kernels ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/Steps.h"

#include "Kernels/Gemm/Problem/KnownMultiples.h"
#include "Kernels/RowWise/RowOps.h"
#include "Launch/LoopSizes.h"
#include "Utils/CheckMessage.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/Routing.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Asserts, in front of the dialect's ops and other products in functions, what
/// their verifiers cannot know.
static void checkDynamicSizes(func::FuncOp function) {
  std::optional<CheckMessages> messages;
  function.walk([&](Operation *op) {
    // What offsets and rows of groups, and the number of groups, are is known
    // only at run time.
    auto product = dyn_cast<ProductOpInterface>(op);
    bool hasValues =
        isa<SortRoutesOp>(op) || (product && product.getRowGroups());
    if (op == function || (hasStaticShapes(op) && !hasValues))
      return;
    auto loops = dyn_cast<linalg::LinalgOp>(op);
    if (loops && (op->hasAttr(kPathAttrName) || isRowReduction(loops)))
      return checkLoopSizes(loops);
    if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
      return isRowSoftmax(softmax) ? checkSoftmaxSizes(softmax) : void();
    auto checked = dyn_cast<RuntimeVerifiableOpInterface>(op);
    if (!checked || !isa_and_nonnull<BlockScaleDialect>(op->getDialect()))
      return;
    if (!messages)
      messages.emplace(function);
    OpBuilder builder(op);
    checked.generateRuntimeVerification(builder, op->getLoc(),
                                        [&](Operation *of, StringRef message) {
                                          return messages->get(of, message);
                                        });
  });
}

LogicalResult blockscale::checkSizes(ModuleOp module) {
  WalkResult checked = module.walk([](func::FuncOp function) -> WalkResult {
    return checkMultiples(function);
  });
  if (checked.wasInterrupted())
    return failure();
  module.walk([](func::FuncOp function) { checkDynamicSizes(function); });
  return success();
}

/// Packs the quantized elements of `op`, and unpacks them for its users.
static void packElements(QuantizeOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getElements().getType());
  if (!type || type.getElementTypeBitWidth() != 4)
    return;
  int64_t k = type.getShape().back();
  // A dynamic K is whole blocks, unless it may end inside of one.
  bool mayEnd = op.getPad() || op.hasCoarseScales();
  if (ShapedType::isDynamic(k) ? mayEnd : k % 2 != 0)
    return;
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(k))
    shape.back() = k / 2;
  auto packedType = RankedTensorType::get(shape, b.getI8Type());
  auto packed = PackOp::create(b, op.getLoc(), packedType, op.getElements());
  auto elements = UnpackOp::create(b, op.getLoc(), type, packed);
  for (OpOperand &use :
       llvm::make_early_inc_range(op.getElements().getUses())) {
    auto other = dyn_cast<PackOp>(use.getOwner());
    if (use.getOwner() == packed || isa<tensor::DimOp>(use.getOwner()))
      continue;
    if (other && other.getType() == packedType) {
      other.replaceAllUsesWith(packed.getResult());
      other.erase();
    } else {
      use.set(elements.getResult());
    }
  }
}

void blockscale::packQuantizedElements(ModuleOp module) {
  SmallVector<QuantizeOp> ops;
  module.walk([&](QuantizeOp op) { ops.push_back(op); });
  for (QuantizeOp op : ops)
    packElements(op);
}
