//===- RaiseSparse.cpp - Products of decompressed operands ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only x can be sparse. If y is, the transposed product is sparse: its x is the
// transpose of y. In the dense product, a zero that was not kept times NaN or
// infinity is NaN, which the sparse one does not have: the other operand may
// have neither.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseSparse.h"

#include "Kernels/Gemm/Problem/OperandMemory.h"
#include "Utils/OperandSpecials.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The permutation of `rank` indices that swaps the last two.
static SmallVector<int64_t> getSwap(int64_t rank) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

/// The transpose of each matrix of `tensor`.
static Value transpose(OpBuilder &b, Location loc, Value tensor) {
  return transposeTensor(b, loc, tensor,
                         getSwap(cast<ShapedType>(tensor.getType()).getRank()));
}

/// The `decompress` that makes the transpose of `y`; null if none does.
static DecompressOp findTransposed(Value y) {
  auto made = y.getDefiningOp<linalg::TransposeOp>();
  if (!made || made.getPermutation() !=
                   ArrayRef<int64_t>(getSwap(made.getPermutation().size())))
    return {};
  return made.getInput().getDefiningOp<DecompressOp>();
}

static bool isLegalBlock(Value x, Value y, MmaScaledOp op) {
  auto format = [](Value value) {
    return *getElementFormat(getElementTypeOrSelf(value.getType()));
  };
  return llvm::is_contained(
      getLegalSparseBlockSizes(
          format(x), format(y),
          *getScaleFormat(getElementTypeOrSelf(op.getXScale().getType()))),
      static_cast<unsigned>(op.getBlock()));
}

namespace {
struct RaiseDecompressed final : OpRewritePattern<MmaScaledOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MmaScaledOp op,
                                PatternRewriter &rewriter) const override {
    if (auto x = op.getX().getDefiningOp<DecompressOp>();
        x && !mayHaveSpecials(op.getY()) && isLegalBlock(x, op.getY(), op)) {
      rewriter.replaceOpWithNewOp<SparseMmaScaledOp>(
          op, x.getElements(), x.getMetadata(), op.getXScale(), op.getY(),
          op.getYScale(), op.getAcc(), x.getGranularity().getValue(),
          op.getBlockSize().value_or(0));
      return success();
    }
    DecompressOp y = findTransposed(op.getY());
    if (!y || !op.hasTensorSemantics() || mayHaveSpecials(op.getX()) ||
        !isLegalBlock(y, op.getX(), op))
      return rewriter.notifyMatchFailure(
          op, "expected an operand that is decompressed, and another one "
              "without NaN and infinity");
    Location loc = op.getLoc();
    auto flip = [&](Value tensor) { return transpose(rewriter, loc, tensor); };
    Value product = SparseMmaScaledOp::create(
        rewriter, loc, y.getElements(), y.getMetadata(), flip(op.getYScale()),
        flip(op.getX()), flip(op.getXScale()), flip(op.getAcc()),
        y.getGranularity().getValue(), op.getBlockSize().value_or(0));
    rewriter.replaceOp(op, flip(product));
    return success();
  }
};
} // namespace

void blockscale::populateRaiseSparsePatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseDecompressed>(patterns.getContext());
}
