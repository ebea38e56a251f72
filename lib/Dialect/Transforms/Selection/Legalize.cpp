//===- Legalize.cpp - Canonical forms for paths ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between the choice of a path and its kernels: records the instruction, and
// rewrites ops that no path supports into supported forms.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "Selection/CoarseScales.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_LEGALIZEPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

static Value extractMatrix(OpBuilder &builder, Location loc, Value operand,
                           int64_t batch) {
  auto type = cast<VectorType>(operand.getType());
  if (type.getRank() == 2)
    return operand;
  int64_t index = type.getDimSize(0) == 1 ? 0 : batch;
  return vector::ExtractOp::create(builder, loc, operand, index);
}

/// One op for each matrix of a batch of vectors.
static LogicalResult unrollBatch(MmaScaledOp op, PatternRewriter &rewriter) {
  auto type = dyn_cast<VectorType>(op.getResult().getType());
  if (!type || type.getRank() != 3)
    return rewriter.notifyMatchFailure(op, "expected vectors with a batch");
  Location loc = op.getLoc();
  auto matrixType =
      VectorType::get(type.getShape().drop_front(), type.getElementType());
  Value result =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
  for (int64_t batch = 0; batch != type.getDimSize(0); ++batch) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(extractMatrix(rewriter, loc, operand, batch));
    auto matrixOp = MmaScaledOp::create(rewriter, loc, matrixType, operands,
                                        op->getAttrs());
    result = vector::InsertOp::create(rewriter, loc, matrixOp.getResult(),
                                      result, batch);
  }
  rewriter.replaceOp(op, result);
  return success();
}

/// Describes, for a remark, the scales with which one instruction of `path`
/// would compute the elements of `types`.
static std::string describeWithoutRewrite(const TypeCombination &types,
                                          Path path) {
  std::string text;
  for (TypeCombination other : getTypeCombinations()) {
    if (types.sparsity) {
      other.sparsity = types.sparsity;
      other.blockSize *= 2;
    }
    std::optional<InstructionChoice> choice =
        other.lhs == types.lhs && other.rhs == types.rhs
            ? chooseInstruction(other, path)
            : std::nullopt;
    if (choice && choice->getRewrite() == Rewrite::None)
      text +=
          (text.empty() ? ", one instruction computes blocks of " : " or ") +
          std::to_string(other.blockSize) + " with scales of " +
          std::string(getFormatInfo(other.scale).mlirName);
  }
  return text;
}

namespace {
struct LegalizePass final
    : mlir::blockscale::impl::LegalizePassBase<LegalizePass> {
  void runOnOperation() override {
    if (failed(refuseCoarseScales(getOperation())))
      return signalPassFailure();
    getOperation()->walk([&](ProductOpInterface op) {
      if (auto path = op->getAttrOfType<PathAttr>(kPathAttrName))
        attachInstruction(op, path.getValue());
    });
    if (failed(checkBatches()))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateUnrollBatchPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      emitError(getOperation()->getLoc(), "legalization did not converge");
      signalPassFailure();
    }
  }

private:
  /// A batch of vectors is unrolled, so its size must be limited.
  LogicalResult checkBatches() {
    static constexpr int64_t kMaxBatch = 1024;
    WalkResult result = getOperation()->walk([](MmaScaledOp op) -> WalkResult {
      auto type = dyn_cast<VectorType>(op.getType());
      if (!type || type.getRank() != 3 || type.getDimSize(0) <= kMaxBatch)
        return WalkResult::advance();
      return op.emitOpError("not supported in this version: a batch of more "
                            "than ")
             << kMaxBatch << " vectors, " << type;
    });
    return failure(result.wasInterrupted());
  }

  void attachInstruction(ProductOpInterface op, Path path) {
    std::optional<InstructionChoice> choice = chooseInstruction(op, path);
    if (!choice)
      return;
    if (choice->getRewrite() != Rewrite::None)
      op->emitRemark("computed exactly by ")
          << StringRef(describeRewrite(choice->getRewrite())) << ": "
          << getOpcode(*choice->wanted) << " needs PTX "
          << formatPtxVersion(choice->wanted->lowestPtx)
          << describeWithoutRewrite(op.getTypes(), path);
    op->setAttr(kInstructionAttrName,
                InstructionAttr::get(&getContext(), *choice->emitted));
  }
};
} // namespace

void blockscale::populateUnrollBatchPatterns(RewritePatternSet &patterns) {
  patterns.add(unrollBatch);
}
