//===- WarpSpecializedSchedule.cpp - Warp-specialized schedules -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints of a warp-specialized schedule that do not depend on the op;
// the backends check the rest.
//
//===----------------------------------------------------------------------===//

#include "VerifySplitK.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/TensorMemory.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

LogicalResult WarpSpecializedScheduleAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> tile,
    int64_t stages, int64_t accumulators, bool, int64_t rasterGroup,
    bool swapAb, int64_t splitK, ClusterSize cluster, bool twoCta,
    int64_t instructionK, KernelKind kernel, int64_t blocksPerSm) {
  if (tile.size() != 3)
    return emitError() << "expected three sizes of a tile, got " << tile.size();
  constexpr unsigned kGroup = 1;
  // The rows of tensor memory, or 64 rows for each of up to four warpgroups.
  constexpr int64_t kRows = 64, kMostM = 256;
  if (tile[0] < 1 || tile[0] % kRows != 0 || tile[0] > kMostM)
    return emitError() << "expected M of the tile to be a multiple of " << kRows
                       << " up to " << kMostM << ", got " << tile[0];
  const AccColumns *rule = lookupAccColumns(kGroup, /*isTransposed=*/false);
  if (kernel == KernelKind::Reference || kernel == KernelKind::Multistage)
    return emitError() << "expected one of the warp-specialized kernels dense, "
                          "mixed_input, gemv and sparse_input, got "
                       << stringifyKernelKind(kernel);
  bool isGemv = kernel == KernelKind::Gemv;
  if ((isGemv || kernel == KernelKind::MixedInput) && !swapAb)
    return emitError() << "expected swap_ab for the kernel "
                       << stringifyKernelKind(kernel);
  if (kernel == KernelKind::SparseInput && swapAb)
    return emitError() << "expected no swap_ab for the kernel "
                       << stringifyKernelKind(kernel);
  if (isGemv ? tile[1] != 1 : !isLegalN(*rule, tile[1]))
    return emitError() << "expected N of the tile to be a multiple of "
                       << rule->step << " up to " << kMostN
                       << ", or 1 for the kernel gemv, got " << tile[1];
  // One or more swizzle rows of 128 bytes, with two bytes, a byte or half a
  // byte for each element.
  constexpr int64_t kLeastK = kBankRowBytes / 2, kMostK = 16 * kBankRowBytes;
  if (tile[2] < kLeastK || tile[2] > kMostK || !llvm::isPowerOf2_64(tile[2]))
    return emitError() << "expected K of the tile to be a power of two from "
                       << kLeastK << " to " << kMostK << ", got " << tile[2];
  constexpr int64_t kMaxStages = 16;
  if (stages < 1 || stages > kMaxStages)
    return emitError() << "expected 1 to " << kMaxStages << " stages, got "
                       << stages;
  if (accumulators < 1 || accumulators > 2)
    return emitError() << "expected 1 or 2 accumulators, got " << accumulators;
  constexpr int64_t kMaxGroup = 1024;
  if (rasterGroup < 1 || rasterGroup > kMaxGroup)
    return emitError() << "expected raster groups of 1 to " << kMaxGroup
                       << " tiles, got " << rasterGroup;
  // Powers of two, because positions in a cluster are bits of block indices.
  constexpr int64_t kMaxBlocks = 4;
  auto isCount = [](int64_t count) {
    return count >= 1 && count <= kMaxBlocks && llvm::isPowerOf2_64(count);
  };
  if (!isCount(cluster.m) || !isCount(cluster.n) ||
      cluster.getBlocks() > kMaxBlocks)
    return emitError() << "expected a cluster of 1, 2 or " << kMaxBlocks
                       << " blocks, got " << cluster.m << "x" << cluster.n;
  if (twoCta && cluster.m % 2 != 0)
    return emitError() << "expected an even number of blocks along M for pairs "
                          "of CTAs, got "
                       << cluster.m << "x" << cluster.n;
  std::vector<unsigned> wideKs = getWideKs();
  if (instructionK != 0 && !llvm::is_contained(wideKs, instructionK))
    return emitError() << "expected K of instructions to be "
                       << llvm::join(llvm::map_range(wideKs,
                                                     [](unsigned k) {
                                                       return llvm::utostr(k);
                                                     }),
                                     ", ")
                       << ", or 0 for that of the others, got " << instructionK;
  constexpr int64_t kMostMOfTwo = 128, kMostNOfTwo = 64;
  bool mayBeTwo = kernel == KernelKind::MixedInput && tile[0] <= kMostMOfTwo &&
                  tile[1] <= kMostNOfTwo;
  if (blocksPerSm != 1 && (blocksPerSm != 2 || !mayBeTwo))
    return emitError() << "expected 1 block on an SM, or 2 for the kernel "
                          "mixed_input with a tile of at most "
                       << kMostMOfTwo << " x " << kMostNOfTwo << ", got "
                       << blocksPerSm;
  return verifySplitK(emitError, splitK);
}

KernelKind WarpSpecializedScheduleAttr::getKernelKind() const {
  return getKernel();
}

bool WarpSpecializedScheduleAttr::isFor(Path path) const {
  return path == Path::Tcgen05 || path == Path::Wgmma || path == Path::MmaSync;
}
