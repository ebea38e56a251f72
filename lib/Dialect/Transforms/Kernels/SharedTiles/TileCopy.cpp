//===- TileCopy.cpp - Layouts of tiles, and plans of copies ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/SharedTiles/TileCopy.h"

#include "Kernels/SharedTiles/NibbleBlock.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The largest of the sizes of an asynchronous copy (PTX ISA, "cp.async") that
/// divides `bytes` and `alignment`; 0 if there is none.
static int64_t getPieceBytes(int64_t bytes, int64_t alignment) {
  for (int64_t size : {16, 8, 4})
    if (bytes % size == 0 && alignment % size == 0)
      return size;
  return 0;
}

/// Whether codes along rows can be read a word at a time, for slots that hold
/// nothing else: words are aligned, and wholly inside of the operand or
/// outside.
static bool canTransposeBlocks(const KernelOperand &operand, Slot slot) {
  return operand.contiguity == Contiguity::Rows && operand.bits == 4 &&
         slot.bits == 4 && operand.rowMultiple % kWordNibbles == 0;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

TileCopy TileCopy::getElements(const KernelProblem &problem, Operand side) {
  bool isA = side == Operand::A;
  const KernelOperand &operand = isA ? problem.x : problem.y;
  ScheduleAttr schedule = problem.schedule;
  int64_t rows = isA ? schedule.getM() : schedule.getN();
  int64_t warpRows = isA ? schedule.getWarpM() : schedule.getWarpN();
  TileCopy copy(operand, rows, schedule.getK());
  Kind kind = getEmittedInstruction(problem.row, Path::MmaSync).kind;
  Format format = isA ? problem.row.lhs : problem.row.rhs;
  copy.slot = getSlot(kind, format);

  // The layout that asynchronous copies can fill: codes stay as they are.
  bool hasContainers = kind == Kind::MXF8F6F4;
  bool isAlongRows = operand.contiguity == Contiguity::Rows;
  TileLayout wanted;
  wanted.major = isAlongRows ? Major::MN : Major::K;
  if (operand.bits == copy.slot.bits)
    wanted.storage = operand.bits == 8 && copy.slot.shift != 0 ? Storage::Bytes
                                                               : Storage::Slots;
  else
    wanted.storage = Storage::Padded;
  bool isPossible =
      operand.contiguity != Contiguity::Other &&
      (hasContainers || (wanted.storage == Storage::Slots && !isAlongRows)) &&
      (!isAlongRows || warpRows % kChunkBytes == 0) &&
      operand.bits <= copy.slot.bits;
  int64_t chunkBytes = wanted.storage == Storage::Padded
                           ? kChunkBytes * operand.bits / 8
                           : kChunkBytes;
  int64_t piece = getPieceBytes(chunkBytes, operand.getLineAlignment());
  if (isPossible && piece != 0) {
    copy.method = Method::Pieces;
    copy.layout = wanted;
    copy.pieceBytes = piece;
    copy.piecesPerChunk = chunkBytes / piece;
    // A piece of packed fp6 may end inside of a code.
    copy.pieceCodes =
        piece * 8 % operand.bits == 0 ? piece * 8 / operand.bits : 0;
    copy.isAlongRows = isAlongRows;
  } else {
    if (canTransposeBlocks(operand, copy.slot))
      copy.method = Method::Blocks;
    copy.piecesPerChunk = kChunkBytes / kWordBytes;
    copy.pieceCodes = kWordBytes * 8 / copy.slot.bits;
  }

  bool isK = copy.layout.major == Major::K;
  int64_t lines = isK ? rows : schedule.getK();
  int64_t elements = isK ? schedule.getK() : rows;
  copy.shape = {lines,
                elements * getStoredBits(copy.layout.storage, copy.slot) / 8};
  copy.layout.isSwizzled = canSwizzle(copy.shape[1]);
  return copy;
}

TileCopy TileCopy::getScales(const KernelProblem &problem, Operand side) {
  bool isA = side == Operand::A;
  const KernelOperand &operand = isA ? problem.xScale : problem.yScale;
  ScheduleAttr schedule = problem.schedule;
  int64_t rows = isA ? schedule.getM() : schedule.getN();
  int64_t warpRows = isA ? schedule.getWarpM() : schedule.getWarpN();
  int64_t scales = schedule.getK() / problem.row.blockSize;
  TileCopy copy(operand, rows, scales);
  if (operand.splat)
    return copy;

  bool hasWholeWords = operand.columnMultiple % kScalesPerWord == 0;
  bool isAtoms = operand.contiguity == Contiguity::Atoms && hasWholeWords;
  constexpr int64_t kLines = kWarpLanes;
  if (isAtoms && rows % kScaleAtomRows == 0) {
    // As many of the four words of a line as one warp needs, but no more than
    // leave a piece for every thread.
    int64_t words = kScaleAtomRows / kLines;
    auto isTooMany = [&] {
      return warpRows % (words * kLines) != 0 ||
             rows * scales / (words * kScalesPerWord) <
                 schedule.getNumThreads();
    };
    while (words > 1 && isTooMany())
      words /= 2;
    copy.shape = {scales / kScalesPerWord, rows / kLines / words, kLines,
                  words * kScalesPerWord};
    copy.method = Method::Atoms;
    copy.pieceBytes = words * kScalesPerWord;
    copy.pieceCodes = kScalesPerWord;
    return copy;
  }
  copy.shape = {llvm::divideCeilSigned(rows, kLines), kLines, scales};
  bool isColumns = operand.contiguity == Contiguity::Columns && hasWholeWords;
  if (isAtoms || isColumns) {
    copy.method = Method::Pieces;
    if (isColumns)
      copy.pieceBytes = getPieceBytes(scales, operand.getLineAlignment());
  }
  copy.pieceCodes = copy.pieceBytes;
  return copy;
}

int64_t TileCopy::getNumBytes() const {
  int64_t bytes = shape.empty() ? 0 : 1;
  for (int64_t size : shape)
    bytes *= size;
  return bytes;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

SharedStages::SharedStages(const KernelProblem &problem)
    : numStages(problem.schedule.getStages()) {
  for (Operand operand : {Operand::A, Operand::B}) {
    tiles.push_back(TileCopy::getElements(problem, operand));
    tiles.push_back(TileCopy::getScales(problem, operand));
  }
  for (const TileCopy &tile : tiles) {
    offsets.push_back(stageBytes);
    stageBytes += llvm::alignTo(tile.getNumBytes(), kBankLineBytes);
  }
}

bool SharedStages::hasAsyncCopies() const {
  return llvm::any_of(tiles, [](const TileCopy &tile) {
    return tile.isAsync() && !tile.getShape().empty();
  });
}
