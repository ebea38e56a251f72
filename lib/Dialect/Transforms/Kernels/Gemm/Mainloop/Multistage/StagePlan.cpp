//===- StagePlan.cpp - The loaders of all operands ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory is counted from the same tiles that are filled. The layout of
// an operand in memory decides which loader fills its tile.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/StagePlan.h"

#include "Kernels/Gemm/Mainloop/Multistage/NibbleBlock.h"

using namespace mlir;
using namespace mlir::blockscale;

StageExtents blockscale::getStageExtents(MultistageScheduleAttr schedule) {
  int64_t k = schedule.getK(), threads = schedule.getNumThreads();
  return {{schedule.getM(), k, schedule.getWarpM(), threads},
          {schedule.getN(), k, schedule.getWarpN(), threads}};
}

/// The bytes of metadata of a row with `k` logical elements.
static int64_t getMetadataBytes(const TypeCombination &types, int64_t k) {
  return k / getGranularityInfo(*types.sparsity).elementsPerByte();
}

Stages blockscale::getStages(const TypeCombination &types, Kind kind,
                             const StageExtents &extents, int64_t numStages) {
  PerOperand<SharedTile> tiles;
  for (bool isA : {true, false}) {
    Format format = isA ? types.lhs : types.rhs;
    // All layouts of elements, and all orders of scales, take the same bytes.
    tiles[getElementsOf(isA)] = getElementTile(
        extents.getElements(isA, types.sparsity), getSlot(kind, format), {});
    if (getFormatInfo(format).use != FormatUse::HighPrecision)
      tiles[getScalesOf(isA)] =
          getScaleTile(extents.get(isA), types.blockSize, /*words=*/0);
  }
  if (types.sparsity)
    tiles[GemmOperand::E] =
        getMetadataTile(extents.a, getMetadataBytes(types, extents.a.k));
  return Stages(tiles, numStages);
}

/// The largest of the sizes of an asynchronous copy (PTX ISA, "cp.async") that
/// divides `bytes` and `alignment`; 0 if there is none.
static int64_t getPieceBytes(int64_t bytes, int64_t alignment) {
  for (int64_t size : {16, 8, 4})
    if (bytes % size == 0 && alignment % size == 0)
      return size;
  return 0;
}

/// Whether elements along rows can be read a u32 at a time, for slots that hold
/// nothing else: each u32 is aligned, and wholly inside of the operand or
/// outside.
static bool canTransposeBlocks(const KernelOperand &operand, Slot slot) {
  return operand.contiguity == Contiguity::Rows && operand.bits == 4 &&
         slot.bits == 4 && operand.rowMultiple % kWordNibbles == 0;
}

/// The layout that cp.async can fill: elements stay as they are.
static TileLayout getStoredLayout(const KernelOperand &operand, Kind kind,
                                  Slot slot) {
  TileLayout layout;
  layout.major = operand.contiguity == Contiguity::Rows ? Major::MN : Major::K;
  if (operand.bits != slot.bits)
    layout.storage = canLie(kind, operand.bits, layout.major, Storage::Packed)
                         ? Storage::Packed
                         : Storage::Padded;
  else if (operand.bits == 8 && slot.shift != 0)
    layout.storage = Storage::Bytes;
  return layout;
}

LoaderPtr blockscale::planElements(const KernelOperand &operand, Format format,
                                   Kind kind, const TileExtent &extent) {
  Slot slot = getSlot(kind, format);
  TileLayout stored = getStoredLayout(operand, kind, slot);
  int64_t warpUnit = 1;
  if (stored.major == Major::MN)
    warpUnit = std::max<int64_t>(
        kChunkBytes, kGroupRows * getInterleave(kind, stored, slot));
  bool isPossible =
      operand.contiguity != Contiguity::Other &&
      canLie(kind, getFormatInfo(format).bits, stored.major, stored.storage) &&
      extent.warpRows % warpUnit == 0 && operand.bits <= slot.bits;
  int64_t chunkBytes = stored.storage == Storage::Padded
                           ? kChunkBytes * operand.bits / 8
                           : kChunkBytes;
  int64_t piece = getPieceBytes(chunkBytes, operand.getStrideAlignment());
  if (isPossible && piece != 0)
    return makeElementLoader(getElementTile(extent, slot, stored), operand,
                             extent, CopyPieces{piece, chunkBytes});
  SharedTile tile = getElementTile(extent, slot, TileLayout());
  if (canTransposeBlocks(operand, slot))
    return makeNibbleLoader(std::move(tile), operand, extent);
  return makeElementLoader(std::move(tile), operand, extent, std::nullopt);
}

/// How many u32 of the 32x4x4 layout a vector holds: as many of the four as one
/// warp needs, but no more than leave a piece for every thread.
static int64_t getAtomWords(const TileExtent &extent, int64_t scales) {
  constexpr int64_t kOuter = kWarpLanes;
  int64_t words = kScaleAtomRows / kOuter;
  auto isTooMany = [&] {
    return extent.warpRows % (words * kOuter) != 0 ||
           extent.rows * scales / (words * kScalesPerWord) < extent.numThreads;
  };
  while (words > 1 && isTooMany())
    words /= 2;
  return words;
}

/// The same for scales of blocks of `blockSize` elements; null where all have
/// one value, which needs no memory.
static LoaderPtr planScales(const KernelOperand &operand, int64_t blockSize,
                            const TileExtent &extent) {
  if (operand.splat)
    return nullptr;
  int64_t scales = extent.k / blockSize;
  bool hasWholeWords = operand.columnMultiple % kScalesPerWord == 0;
  bool isAtoms = operand.contiguity == Contiguity::Atoms && hasWholeWords;
  if (isAtoms && extent.rows % kScaleAtomRows == 0)
    return makeScaleAtomLoader(
        getScaleTile(extent, blockSize, getAtomWords(extent, scales)), operand,
        scales);
  bool isColumns = operand.contiguity == Contiguity::Columns && hasWholeWords;
  int64_t piece = kWordBytes;
  if (isColumns)
    piece = getPieceBytes(scales, operand.getStrideAlignment());
  return makeScaleRowLoader(getScaleTile(extent, blockSize, /*words=*/0),
                            operand, extent.rows, piece,
                            /*isAsync=*/isAtoms || isColumns);
}

/// The loader of metadata; null if x is dense.
static LoaderPtr planMetadata(const KernelProblem &problem,
                              const TileExtent &extent) {
  if (!problem.reads(GemmOperand::E))
    return nullptr;
  const KernelOperand &operand = problem[GemmOperand::E];
  int64_t bytes = getMetadataBytes(problem.types, extent.k), piece = 0;
  // Halves of 16 bytes are swapped in some rows.
  if (operand.contiguity == Contiguity::Columns)
    piece = getPieceBytes(kMetadataStepBytes, operand.getStrideAlignment());
  return makeMetadataLoader(getMetadataTile(extent, bytes), operand,
                            piece == 0 ? kWordBytes : piece,
                            /*isAsync=*/piece != 0);
}

/// The loaders of all operands.
static PerOperand<LoaderPtr> planLoaders(const KernelProblem &problem,
                                         Kind kind,
                                         const StageExtents &extents) {
  PerOperand<LoaderPtr> loaders;
  for (bool isA : {true, false}) {
    const TypeCombination &types = problem.types;
    loaders[getElementsOf(isA)] =
        planElements(problem[getElementsOf(isA)], isA ? types.lhs : types.rhs,
                     kind, extents.getElements(isA, types.sparsity));
    loaders[getScalesOf(isA)] = planScales(problem[getScalesOf(isA)],
                                           types.blockSize, extents.get(isA));
  }
  loaders[GemmOperand::E] = planMetadata(problem, extents.a);
  return loaders;
}

static PerOperand<SharedTile> getTiles(const PerOperand<LoaderPtr> &loaders) {
  PerOperand<SharedTile> tiles;
  for (GemmOperand operand : kGemmOperands)
    if (const LoaderPtr &loader = loaders[operand])
      tiles[operand] = loader->getTile();
  return tiles;
}

StagePlan::StagePlan(const KernelProblem &problem, Kind kind,
                     const StageExtents &extents, int64_t numStages)
    : loaders(planLoaders(problem, kind, extents)),
      stages(getTiles(loaders), numStages) {}

bool StagePlan::hasAsyncCopies() const {
  return llvm::any_of(loaders, [](const LoaderPtr &loader) {
    return loader && loader->isAsync();
  });
}

void StagePlan::fill(OpBuilder &b, const FillContext &context, Value shared,
                     Value offset,
                     const PerOperand<FillSource> &sources) const {
  // Elements come first; a part of the threads is enough for scales.
  for (GemmOperand operand : kElementsFirst)
    if (const TileLoader *loader = loaders[operand].get())
      loader->emit(b, context,
                   stages.getMemory(b, context.loc, shared, offset, operand,
                                    loader->getElementType(context)),
                   sources[operand]);
}
