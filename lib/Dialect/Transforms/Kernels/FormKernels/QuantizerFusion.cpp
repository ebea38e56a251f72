//===- QuantizerFusion.cpp - Epilogues that quantize the result -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `quantize` is fused only if every kernel that may write the result can
// quantize it: the GEMM, and its exact recomputation if there is one.
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/QuantizerFusion.h"

#include "Fragments/AccLowering.h"
#include "Kernels/FormKernels/ExactRecomputation.h"
#include "Kernels/Gemm/Frontend/ElementwiseFusion.h"
#include "Kernels/Gemm/Problem/ScalarSlice.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Whether warps have whole blocks of `size` values: of elements of the tile,
/// or of what pairs of its columns become.
static bool hasBlocks(const ResultTile &tile, int64_t size, bool hasPairs) {
  return tile.n % (hasPairs ? 2 * size : size) == 0 &&
         llvm::all_of(tile.accumulators, [&](AccType type) {
           const AccLowering *lowering = lookupAccLowering(type);
           return lowering && (hasPairs ? lowering->getPairBlocks(type, size)
                                        : lowering->getBlocks(type, size));
         });
}

/// Whether the tiles that cover the result cover all of the atoms of its
/// scales, the padding of which is written, too. Those of groups start at any
/// row.
static bool hasAtoms(const ResultTile &tile, const KernelProblem &problem,
                     int64_t blockSize) {
  if (problem.groups)
    return false;
  auto covers = [](int64_t tile, int64_t size, int64_t atom) {
    return tile % atom == 0 ||
           (!ShapedType::isDynamic(size) &&
            llvm::alignTo(size, tile) >= llvm::alignTo(size, atom));
  };
  return covers(tile.m, problem.m, kScaleAtomRows) &&
         covers(tile.n, problem.n, kScaleAtomBlocks * blockSize);
}

/// The tile of the exact recomputation of `op`.
static std::optional<ResultTile> getExactTile(ProductOpInterface op,
                                              KernelProblem problem) {
  FailureOr<TargetAttr> target = lookupTarget(op);
  if (failed(target) || !*target)
    return std::nullopt;
  ExactRecomputation exact = getExactRecomputation(op, *(*target).getChip());
  problem.instruction = exact.instruction;
  problem.schedule = exact.schedule;
  // Parameters are not numbered yet; any numbers do.
  problem.skipConditions = {0};
  return exact.gemm->getResultTile(problem);
}

std::optional<QuantizedResults>
blockscale::findFusedQuantizer(ProductOpInterface op, Value result,
                               const KernelProblem &problem,
                               const GemmKernel &gemm) {
  QuantizeOp quantize = findQuantizer(result);
  if (!quantize || !result.hasOneUse() || gemm.getSplitK(problem).ranges != 1)
    return std::nullopt;
  SmallVector<std::optional<ResultTile>, 2> tiles = {
      gemm.getResultTile(problem)};
  if (problem.isDequantized() && gemm.getTransforms(problem.instruction).x !=
                                     OperandTransform::DequantizedInRegisters) {
    // The largest magnitude only grows: one that an inexact result gave would
    // stay after the recomputation.
    if (quantize.getAmax())
      return std::nullopt;
    tiles.push_back(getExactTile(op, problem));
  }
  QuantizedResults results(quantize);
  int64_t blockSize = quantize.getBlock();
  for (const std::optional<ResultTile> &tile : tiles) {
    if (!tile || !hasBlocks(*tile, blockSize, problem.hasPairs()))
      return std::nullopt;
    if (!hasAtoms(*tile, problem, blockSize))
      results.swizzle = {};
  }
  return results;
}

void blockscale::addQuantizer(HostProblem &host, QuantizedResults &results) {
  host.problem.quantizer = {
      results.op, results.getElementBits(),
      fuseScalar(host.inputs, results.op.getTensorScale())};
  host.problem.result = host.inputs.size();
}
