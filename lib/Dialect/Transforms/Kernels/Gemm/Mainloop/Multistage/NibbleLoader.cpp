//===- NibbleLoader.cpp - fp4 that is contiguous along rows ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which block a thread takes and in which order it stores its rows decides how
// many sectors and bank conflicts there are.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/NibbleBlock.h"
#include "Kernels/Gemm/Mainloop/Multistage/OperandAccess.h"
#include "Kernels/Gemm/Mainloop/Multistage/ThreadRounds.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <numeric>

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// Blocks of 8 x 8 fp4 elements, read along rows, transposed in registers, and
/// stored along K.
class NibbleLoader final : public TileLoader {
public:
  NibbleLoader(SharedTile tile, const KernelOperand &operand,
               const TileExtent &extent)
      : TileLoader(std::move(tile), operand), extent(extent) {}

  bool isAsync() const override { return false; }
  void emit(OpBuilder &b, const FillContext &context, Value memory,
            const FillSource &source) const override {
    int64_t blocks = extent.k / kWordNibbles * (extent.rows / kWordNibbles);
    // Loads through registers take too many instructions to be unrolled.
    forEachRound(b, context, blocks, /*mostUnrolled=*/1,
                 [&](OpBuilder &at, Round round) {
                   Value number = round.counter;
                   if (!number)
                     number = makeIndex(at, context.loc, round.number);
                   emitBlock(at, context, memory, source, number);
                 });
  }

private:
  /// The block that a thread takes.
  struct Block {
    /// Its first element in the operand.
    ElementPosition start;
    /// The row and the chunk of the tile, and the byte in the chunk, that its
    /// first u32 is stored to; u32 i is stored to row `row xor i`.
    Value row, chunk, inChunk;
    /// The row that is stored first.
    Value turn;
  };

  /// The block of a thread in round `round`. A warp has up to 8 blocks along
  /// rows, as many as fill a sector of global memory, and the rest along K.
  ///
  /// If all threads stored row i of their blocks at the same time, these would
  /// be in the same banks: the swizzle repeats after 8 rows. So they store row
  /// `i xor turn`, where `turn` differs between blocks along rows.
  Block getBlock(OpBuilder &b, const FillContext &context,
                 const FillSource &source, Value round) const {
    int64_t perRow = extent.k / kWordNibbles;
    int64_t blockRows = extent.rows / kWordNibbles;
    int64_t width = std::gcd(blockRows, kWordNibbles);
    int64_t depth = std::min(kWarpLanes / width, perRow);
    AffineExpr thread, r, first, s;
    bindDims(b.getContext(), thread, r, first, s);
    // One expression, so that the part that all rounds share does not depend on
    // `r`.
    AffineExpr n = thread + r * context.numThreads;
    AffineExpr group = n.floorDiv(width * depth);
    AffineExpr row =
        (n % width + group % (blockRows / width) * width) * kWordNibbles;
    AffineExpr word =
        n.floorDiv(width) % depth + group.floorDiv(blockRows / width) * depth;
    // The `depth` blocks along K take neighboring chunks: `turn` is the row
    // that the swizzle moves by a multiple of their number.
    ChunkSwizzle swizzle = getChunkSwizzle(getTile().shape[1]);
    AffineExpr chunks = n % width * (kWordNibbles / width);
    AffineExpr turn = chunks % swizzle.modulus * swizzle.rowsPerStep +
                      chunks.floorDiv(swizzle.modulus);
    constexpr int64_t kChunkWords = kChunkBytes / kWordBytes;
    SmallVector<Value> at = applyExprs(
        b, context.loc,
        {first + row, s * extent.k + word * kWordNibbles, row + turn,
         word.floorDiv(kChunkWords), word % kChunkWords * kWordBytes, turn},
        {context.thread, round, source.origin, source.step});
    return {{at[0], at[1]}, at[2], at[3], at[4], at[5]};
  }

  /// Loads 8 u32 along rows, and stores 8 u32 along K.
  void emitBlock(OpBuilder &b, const FillContext &context, Value memory,
                 const FillSource &source, Value round) const {
    Location loc = context.loc;
    Block block = getBlock(b, context, source, round);
    OperandAccess access(*operand, context, source, context.isGuarded);
    SmallVector<Value> words;
    for (int64_t i = 0; i != kWordNibbles; ++i)
      words.append(access.loadWords(
          b, {block.start.row, addConstant(b, loc, block.start.column, i)}, 1));
    transposeNibbles(b, loc, words, block.turn);
    storeRows(b, loc, memory, words, block.row,
              emitByteOfRow(b, loc, getTile(), block.row, block.chunk,
                            block.inChunk));
  }

  /// Stores u32 0 to `byte` of `row`, and u32 i to row `row xor i`. The size
  /// of a row is a power of two, and the swizzle is linear in the bits of its
  /// index. So the address of each u32 is that of the first one xor a constant.
  void storeRows(OpBuilder &b, Location loc, Value memory,
                 ArrayRef<Value> words, Value row, Value byte) const {
    int64_t rowBytes = getTile().shape[1];
    assert(llvm::isPowerOf2_64(rowBytes) && getTile().layout.isSwizzled &&
           "K of a tile is a power of two");
    ChunkSwizzle swizzle = getChunkSwizzle(rowBytes);
    Value flat = memref::CollapseShapeOp::create(
        b, loc, memory, ArrayRef<ReassociationIndices>{{0, 1}});
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    Value start = applyExprs(b, loc, {d0 * rowBytes + d1}, {row, byte})[0];
    for (auto [i, word] : llvm::enumerate(words)) {
      int64_t chunk = i / swizzle.rowsPerStep % swizzle.modulus;
      Value offset = makeIndex(b, loc, i * rowBytes + chunk * kChunkBytes);
      Value to = arith::XOrIOp::create(b, loc, start, offset);
      storeWords(b, loc, word, flat, to);
    }
  }

  TileExtent extent;
};
} // namespace

LoaderPtr blockscale::makeNibbleLoader(SharedTile tile,
                                       const KernelOperand &operand,
                                       const TileExtent &extent) {
  return std::make_unique<NibbleLoader>(std::move(tile), operand, extent);
}
