//===- PackLoader.cpp - fp6 in bytes, packed while loading ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bulk copies cannot drop bits of bytes, so threads pack. Two steps of two
// shifted fields join the four elements of a u32 to 24 bits, and four times 24
// bits make three u32.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/OperandAccess.h"
#include "Kernels/Gemm/Mainloop/Multistage/ThreadRounds.h"
#include "Utils/ArithEmitter.h"
#include "Utils/IndexValues.h"

using namespace mlir;
using namespace mlir::blockscale;

bool blockscale::canPack(const KernelOperand &operand) {
  return operand.bits == 8 && operand.contiguity == Contiguity::Columns &&
         operand.columnMultiple % kChunkBytes == 0;
}

static TileLayout getPaddedLayout() {
  TileLayout layout;
  layout.major = Major::K;
  layout.storage = Storage::Padded;
  return layout;
}

/// Joins two fields of each unit of a u32: the upper one moves down by `by`
/// bits to the end of the lower one.
static Value joinFields(const ArithEmitter &emit, Value word, uint32_t lower,
                        uint32_t upper, uint32_t by) {
  Value moves = emit.bitAnd(emit.shiftRight(word, by), upper >> by);
  return emit.bitOr(emit.bitAnd(word, lower), moves);
}

/// 16 fp6 elements, each in a byte of `bytes`, as a bit stream; a u32 of
/// padding comes behind it.
static SmallVector<Value> packElements(const ArithEmitter &emit,
                                       ArrayRef<Value> bytes) {
  constexpr uint32_t kBits = 24, kWordBits = 32;
  SmallVector<Value> fields;
  for (Value word : bytes) {
    Value pairs = joinFields(emit, word, 0x003F003F, 0x3F003F00, 2);
    fields.push_back(joinFields(emit, pairs, 0x00000FFF, 0x0FFF0000, 4));
  }
  SmallVector<Value> packed;
  for (uint32_t i = 0; i + 1 != fields.size(); ++i) {
    // Bits that u32 i of the stream takes of field i; the rest comes from the
    // next field.
    uint32_t taken = i * (kWordBits - kBits);
    packed.push_back(emit.bitOr(emit.shiftRight(fields[i], taken),
                                emit.shiftLeft(fields[i + 1], kBits - taken)));
  }
  packed.push_back(emit.integer(0));
  return packed;
}

/// A thread loads chunks of several rows before it packs the first one, to hide
/// the latency of loads.
static constexpr int64_t kRowsAtOnce = 8;

namespace {
/// 16 elements along K at a time, which become 12 bytes of 16, see
/// Storage::Padded.
class PackLoader final : public TileLoader {
public:
  PackLoader(const KernelOperand &operand, const TileExtent &extent, Slot slot)
      : TileLoader(getElementTile(extent, slot, getPaddedLayout()), operand),
        extent(extent) {}

  bool isAsync() const override { return false; }
  void emit(OpBuilder &b, const FillContext &context, Value memory,
            const FillSource &source) const override {
    assert(extent.rows % kRowsAtOnce == 0 && "tiles have multiples of 8 rows");
    constexpr int64_t kMostUnrolled = 4;
    PieceGrid grid = {extent.rows / kRowsAtOnce, extent.k / kChunkBytes,
                      /*isAcross=*/false};
    forEachPiece(b, context, grid, kMostUnrolled,
                 [&](OpBuilder &at, const Piece &piece) {
                   emitChunks(at, context, memory, source, piece);
                 });
  }

private:
  /// The chunk of `piece`, and those at the same column of the next groups of
  /// rows.
  void emitChunks(OpBuilder &b, const FillContext &context, Value memory,
                  const FillSource &source, const Piece &piece) const {
    Location loc = context.loc;
    AffineExpr firstRow, chunk, first, s;
    bindDims(b.getContext(), firstRow, chunk, first, s);
    Value start = addConstant(b, loc, piece.row, piece.rowOffset);
    SmallVector<Value> from = applyExprs(
        b, loc, {first + firstRow, s * extent.k + chunk * kChunkBytes},
        {start, piece.index, source.origin, source.step});
    OperandAccess access(*operand, context, source, context.isGuarded);
    int64_t distance = extent.rows / kRowsAtOnce;
    SmallVector<SmallVector<Value>> chunks;
    for (int64_t i = 0; i != kRowsAtOnce; ++i) {
      Value row = addConstant(b, loc, from[0], i * distance);
      chunks.push_back(
          access.loadWords(b, {row, from[1]}, kChunkBytes / kWordBytes));
    }
    Value zero = makeIndex(b, loc, 0);
    for (auto [i, words] : llvm::enumerate(chunks)) {
      Value row =
          addConstant(b, loc, start, static_cast<int64_t>(i) * distance);
      Value byte = emitByteOfRow(b, loc, getTile(), row, piece.index, zero);
      storeWords(b, loc, packElements(ArithEmitter(b, loc), words), memory,
                 {row, byte});
    }
  }

  TileExtent extent;
};
} // namespace

LoaderPtr blockscale::makePackLoader(const KernelOperand &operand,
                                     const TileExtent &extent, Slot slot) {
  return std::make_unique<PackLoader>(operand, extent, slot);
}
