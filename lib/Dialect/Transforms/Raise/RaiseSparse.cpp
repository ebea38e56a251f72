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

namespace {
/// A product as a sparse one: the `decompress` that makes x or, with
/// `isTransposed`, the transpose of y.
struct SparseMatch {
  DecompressOp sparse;
  bool isTransposed;
};
} // namespace

/// Whether a block-scaled instruction of some chip has a sparse x as `sparse`
/// makes it, beside `dense`.
static bool hasInstruction(DecompressOp sparse, Value dense, MmaScaledOp op) {
  auto format = [](Value value) {
    return *getElementFormat(getElementTypeOrSelf(value.getType()));
  };
  TypeCombination types = op.getTypes();
  types.lhs = format(sparse.getElements());
  types.rhs = format(dense);
  types.sparsity = sparse.getGranularity().getValue();
  return llvm::any_of(getChips(), [&](const Chip &chip) {
    return chooseNative(types, chip).has_value();
  });
}

/// The match of `op`; without one, why not, if an operand is decompressed.
static std::optional<SparseMatch> matchSparse(MmaScaledOp op,
                                              std::string &reason) {
  if (op.hasCoarseScales())
    return std::nullopt;
  auto x = op.getX().getDefiningOp<DecompressOp>();
  DecompressOp y = findTransposed(op.getY());
  if (!x && !y)
    return std::nullopt;
  SparseMatch match = {x ? x : y, /*isTransposed=*/!x};
  Value dense = x ? op.getY() : op.getX();
  if (mayHaveSpecials(dense))
    reason =
        "expected the other operand to have neither NaN nor infinity (fp6, "
        "fp4, or what the program quantizes)";
  else if (!hasInstruction(match.sparse, dense, op))
    reason = "expected types, blocks and a granularity that a sparse "
             "instruction of some chip has";
  else if (match.isTransposed && !op.hasTensorSemantics())
    reason = "expected tensors for the transposed product";
  else if (match.isTransposed && !op->getDiscardableAttrs().empty())
    reason = "expected no attributes that request a path or a schedule for the "
             "transposed product";
  return reason.empty() ? std::optional(match) : std::nullopt;
}

std::optional<Verdict>
blockscale::judgeSparse(Operation *op, const RaiseOptions & /*options*/) {
  auto product = dyn_cast<MmaScaledOp>(op);
  if (!product)
    return std::nullopt;
  Verdict verdict = {SparseMmaScaledOp::getOperationName(), ""};
  if (!matchSparse(product, verdict.reason) && verdict.isRaised())
    return std::nullopt;
  return verdict;
}

namespace {
struct RaiseDecompressed final : OpRewritePattern<MmaScaledOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MmaScaledOp op,
                                PatternRewriter &rewriter) const override {
    std::string reason;
    std::optional<SparseMatch> match = matchSparse(op, reason);
    if (!match)
      return rewriter.notifyMatchFailure(op, [&](Diagnostic &diagnostic) {
        diagnostic << (reason.empty() ? "expected an operand that is "
                                        "decompressed"
                                      : reason);
      });
    Location loc = op.getLoc();
    DecompressOp sparse = match->sparse;
    auto put = [&](Value tensor) {
      return match->isTransposed ? transpose(rewriter, loc, tensor) : tensor;
    };
    bool isY = match->isTransposed;
    auto product = SparseMmaScaledOp::create(
        rewriter, loc, sparse.getElements(), sparse.getMetadata(),
        put(isY ? op.getYScale() : op.getXScale()),
        put(isY ? op.getX() : op.getY()),
        put(isY ? op.getXScale() : op.getYScale()), put(op.getAcc()),
        sparse.getGranularity().getValue(), op.getBlock());
    product->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, put(product));
    return success();
  }
};
} // namespace

void blockscale::populateRaiseSparsePatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseDecompressed>(patterns.getContext());
}
