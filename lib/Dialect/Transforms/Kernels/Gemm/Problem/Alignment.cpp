//===- Alignment.cpp - Branches for aligned sizes -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/Alignment.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

/// `problem` with dynamic sizes that are multiples of the tile: N and K, and
/// with `hasWholeM` also M. Nullopt if a static size is no multiple.
static std::optional<KernelProblem> getAligned(const KernelProblem &problem,
                                               const TileShape &shape,
                                               bool hasWholeM) {
  auto isMultiple = [](int64_t size, int64_t tile) {
    return ShapedType::isDynamic(size) || size % tile == 0;
  };
  // Groups of rows start and end anywhere.
  bool mayBeWholeM = isMultiple(problem.m, shape.m) && !problem.groups;
  if ((hasWholeM && !mayBeWholeM) || !isMultiple(problem.n, shape.n) ||
      !isMultiple(problem.k, shape.k))
    return std::nullopt;
  KernelProblem aligned = problem;
  for (GemmOperand id : kGemmOperands) {
    bool isA = getInfo(id).isA;
    if (ShapedType::isDynamic(isA ? problem.m : problem.n) &&
        (!isA || hasWholeM))
      aligned[id].rowMultiple = isA ? shape.m : shape.n;
    if (ShapedType::isDynamic(problem.k))
      aligned[id].columnMultiple = problem.getColumns(id, shape.k);
  }
  return aligned;
}

SmallVector<AlignedProblem, 3>
blockscale::getAlignedProblems(const KernelProblem &problem,
                               const TileShape &shape) {
  SmallVector<AlignedProblem, 3> branches;
  std::optional<KernelProblem> aligned =
      getAligned(problem, shape, /*hasWholeM=*/true);
  bool isDynamic = llvm::any_of(ArrayRef({problem.m, problem.n, problem.k}),
                                ShapedType::isDynamic);
  if (aligned)
    branches.push_back({*aligned, /*isGuarded=*/false});
  if (aligned && !isDynamic)
    return branches;
  // With few rows, reading y takes most of the time. Its scales are loaded as
  // whole u32 only if K is known to allow that.
  constexpr int64_t kFewRows = 64;
  if (!KernelProblem::isMultiple(problem.m, shape.m) && shape.m <= kFewRows &&
      ShapedType::isDynamic(problem.k))
    if (auto few = getAligned(problem, shape, /*hasWholeM=*/false))
      branches.push_back({*few, /*isGuarded=*/true});
  branches.push_back({problem, /*isGuarded=*/true});
  return branches;
}

/// Whether dynamic sizes are the multiples that `branch` assumes; null for
/// always.
static Value emitIsTaken(OpBuilder &b, Location loc,
                         const AlignedProblem &branch,
                         const KernelProblem &problem,
                         const ProblemSizes &sizes, const TileShape &shape) {
  Value isTaken;
  auto require = [&](Value size, int64_t known, int64_t multiple) {
    if (!ShapedType::isDynamic(known))
      return;
    Value rest =
        arith::RemUIOp::create(b, loc, size, makeIndex(b, loc, multiple));
    Value isWhole = isEqual(b, loc, rest, makeIndex(b, loc, 0));
    isTaken =
        isTaken ? arith::AndIOp::create(b, loc, isTaken, isWhole) : isWhole;
  };
  if (!branch.isGuarded)
    require(sizes.m, problem.m, shape.m);
  require(sizes.n, problem.n, shape.n);
  require(sizes.k, problem.k, shape.k);
  return isTaken;
}

void blockscale::forEachAlignment(
    OpBuilder &b, Location loc, const KernelProblem &problem,
    const ProblemSizes &sizes, const TileShape &shape,
    function_ref<void(OpBuilder &, const KernelProblem &, bool isGuarded)>
        build) {
  SmallVector<AlignedProblem, 3> branches = getAlignedProblems(problem, shape);
  OpBuilder::InsertionGuard guard(b);
  for (const AlignedProblem &branch : ArrayRef(branches).drop_back()) {
    Value isTaken = emitIsTaken(b, loc, branch, problem, sizes, shape);
    auto alternative =
        scf::IfOp::create(b, loc, isTaken, /*withElseRegion=*/true);
    OpBuilder then = alternative.getThenBodyBuilder();
    build(then, branch.problem, branch.isGuarded);
    b.setInsertionPointToStart(alternative.elseBlock());
  }
  build(b, branches.back().problem, branches.back().isGuarded);
}
