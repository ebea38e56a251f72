//===- TileLoader.cpp - Which loader an operand gets ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of the operand in memory decides.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/TileLoader.h"

#include "Kernels/Gemm/Mainloop/Multistage/ElementLoader.h"
#include "Kernels/Gemm/Mainloop/Multistage/NibbleBlock.h"
#include "Kernels/Gemm/Mainloop/Multistage/NibbleLoader.h"
#include "Kernels/Gemm/Mainloop/Multistage/ScaleLoaders.h"

using namespace mlir;
using namespace mlir::blockscale;

int64_t blockscale::getPieceBytes(int64_t bytes, int64_t alignment) {
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
    return std::make_unique<ElementLoader>(
        getElementTile(extent, slot, stored), operand, extent,
        ElementLoader::Pieces{piece, chunkBytes});
  SharedTile tile = getElementTile(extent, slot, TileLayout());
  if (canTransposeBlocks(operand, slot))
    return std::make_unique<NibbleLoader>(std::move(tile), operand, extent);
  return std::make_unique<ElementLoader>(std::move(tile), operand, extent,
                                         std::nullopt);
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

LoaderPtr blockscale::planScales(const KernelOperand &operand,
                                 int64_t blockSize, const TileExtent &extent) {
  if (operand.splat)
    return nullptr;
  int64_t scales = extent.k / blockSize;
  bool hasWholeWords = operand.columnMultiple % kScalesPerWord == 0;
  bool isAtoms = operand.contiguity == Contiguity::Atoms && hasWholeWords;
  if (isAtoms && extent.rows % kScaleAtomRows == 0)
    return std::make_unique<ScaleAtomLoader>(
        getScaleTile(extent, blockSize, getAtomWords(extent, scales)), operand,
        scales);
  bool isColumns = operand.contiguity == Contiguity::Columns && hasWholeWords;
  int64_t piece = kWordBytes;
  if (isColumns)
    piece = getPieceBytes(scales, operand.getStrideAlignment());
  return std::make_unique<ScaleRowLoader>(
      getScaleTile(extent, blockSize, /*words=*/0), operand, extent.rows, piece,
      /*isAsync=*/isAtoms || isColumns);
}
