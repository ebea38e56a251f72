//===- TileCopyCode.cpp - From global to shared memory --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/SharedTiles/TileCopy.h"

#include "Kernels/SharedTiles/NibbleBlock.h"
#include "Utils/StoredCodes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::blockscale;

/// Emits one copy.
class TileCopy::Emitter {
public:
  Emitter(const TileCopy &copy, const CopyContext &context, Value memory,
          const CopySource &source)
      : copy(copy), operand(*copy.operand), context(context), source(source),
        loc(context.loc), memory(memory) {}

  void emit(OpBuilder &b) {
    countPieces();
    int64_t rounds = llvm::divideCeilSigned(numPieces, context.numThreads);
    // What is unrolled has its addresses in the instructions; what goes through
    // registers is too much code for that.
    int64_t mostUnrolled = copy.isAsync() ? 16 : 1;
    if (rounds <= mostUnrolled) {
      for (int64_t round = 0; round != rounds; ++round)
        emitRound(b, round, nullptr);
      return;
    }
    Value zero = index(b, 0), one = index(b, 1), count = index(b, rounds);
    auto loop = scf::ForOp::create(b, loc, zero, count, one);
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    emitRound(inner, rounds - 1, loop.getInductionVar());
  }

private:
  /// Pieces of a line, and lines; threads take pieces in turn.
  void countPieces() {
    int64_t codes = copy.isAlongRows ? copy.tileRows : copy.tileColumns;
    numLines = copy.isAlongRows ? copy.tileColumns : copy.tileRows;
    if (copy.method == Method::Blocks) {
      perLine = codes / kWordNibbles;
      numLines /= kWordNibbles;
    } else if (copy.shape.size() == 2) {
      chunkCodes =
          kChunkBytes * 8 / getStoredBits(copy.layout.storage, copy.slot);
      perLine = codes / chunkCodes * copy.piecesPerChunk;
    } else {
      // A group of lines of scales may have more rows than the tile.
      ArrayRef<int64_t> outer = ArrayRef(copy.shape).drop_back();
      numLines = 1;
      for (int64_t size : outer)
        numLines *= size;
      perLine = copy.method == Method::Atoms ? 1 : codes / copy.pieceCodes;
    }
    numPieces = perLine * numLines;
  }

  Value index(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  /// The values of `exprs` at `values`.
  SmallVector<Value> apply(OpBuilder &b, ArrayRef<AffineExpr> exprs,
                           ValueRange values) {
    return applyMap(b, loc,
                    AffineMap::get(values.size(), 0, exprs, b.getContext()),
                    values);
  }

  Value add(OpBuilder &b, Value value, int64_t constant) {
    return constant == 0 ? value
                         : Value(arith::AddIOp::create(b, loc, value,
                                                       index(b, constant)));
  }

  /// One piece for each thread: in round number `round`, or in the round that
  /// `loopRound` counts, of which `round` is the last.
  void emitRound(OpBuilder &b, int64_t round, Value loopRound) {
    bool isPartial = (round + 1) * context.numThreads > numPieces;
    if (!isPartial) {
      emitPiece(b, round, loopRound);
      return;
    }
    Value number = getNumber(b, round, loopRound);
    Value isPiece = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          number, index(b, numPieces));
    auto guard = scf::IfOp::create(b, loc, isPiece);
    OpBuilder inner = guard.getThenBodyBuilder();
    emitPiece(inner, round, loopRound);
  }

  Value getNumber(OpBuilder &b, int64_t round, Value loopRound) {
    if (!loopRound)
      return add(b, context.thread, round * context.numThreads);
    AffineExpr t, r;
    bindDims(b.getContext(), t, r);
    return apply(b, {t + r * context.numThreads},
                 {context.thread, loopRound})[0];
  }

  void emitPiece(OpBuilder &b, int64_t round, Value loopRound) {
    if (copy.method == Method::Atoms)
      return emitAtoms(b, getNumber(b, round, loopRound));
    if (copy.method == Method::Blocks)
      return emitBlock(b, loopRound ? loopRound : index(b, round));

    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    Piece piece;
    int64_t threads = context.numThreads;
    int64_t lineOffset = 0;
    constexpr int64_t kPeriod = kBankLineBytes / kChunkBytes;
    if (!loopRound && threads % (perLine * kPeriod) == 0 &&
        numPieces % threads == 0) {
      // A thread stays at its place of a line, and steps over lines by the
      // period of the swizzle: its addresses differ by constants, which are as
      // small as can be.
      int64_t rounds = llvm::divideCeilSigned(numPieces, threads);
      lineOffset = round * kPeriod;
      AffineExpr line = d0.floorDiv(perLine);
      SmallVector<Value> at =
          apply(b,
                {line % kPeriod + line.floorDiv(kPeriod) * (kPeriod * rounds),
                 d0 % perLine},
                context.thread);
      piece = {at[0], at[1]};
    } else {
      Value number = getNumber(b, round, loopRound);
      SmallVector<Value> at =
          apply(b, {d0.floorDiv(perLine), d0 % perLine}, number);
      piece = {at[0], at[1]};
    }
    if (readsAlongRows())
      piece = getTransposedPiece(b, round, loopRound, lineOffset);
    if (copy.shape.size() == 3)
      return emitScales(b, piece, lineOffset);
    emitElements(b, piece, lineOffset);
  }

  /// Codes that are read one by one, and are contiguous along rows: threads are
  /// neighbors along rows too.
  bool readsAlongRows() {
    return copy.method == Method::Codes &&
           operand.contiguity == Contiguity::Rows;
  }

  Piece getTransposedPiece(OpBuilder &b, int64_t round, Value loopRound,
                           int64_t &lineOffset) {
    lineOffset = 0;
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    SmallVector<Value> at = apply(b, {d0 % numLines, d0.floorDiv(numLines)},
                                  getNumber(b, round, loopRound));
    return {at[0], at[1]};
  }

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  void emitElements(OpBuilder &b, Piece piece, int64_t lineOffset) {
    AffineExpr line, number, first, s;
    bindDims(b.getContext(), line, number, first, s);
    // In shared memory.
    AffineExpr inChunk = number % copy.piecesPerChunk;
    SmallVector<Value> at = apply(
        b, {number.floorDiv(copy.piecesPerChunk), inChunk * copy.pieceBytes},
        {piece.line, piece.index});
    // The offset is a multiple of the period of the swizzle.
    Value byte = getByte(b, piece.line, at[0], at[1]);
    SmallVector<Value> to = {add(b, piece.line, lineOffset), byte};

    // In the operand.
    bool alongRows = copy.isAlongRows;
    AffineExpr code = number.floorDiv(copy.piecesPerChunk) * chunkCodes +
                      inChunk * copy.pieceCodes;
    SmallVector<Value> from =
        apply(b,
              {first + (alongRows ? code : line),
               s * copy.tileColumns + (alongRows ? line : code)},
              {piece.line, piece.index, source.origin, source.step});
    Place place = {from[0], from[1]};
    Value &lineIndex = alongRows ? place.column : place.row;
    lineIndex = add(b, lineIndex, lineOffset);
    if (copy.isAsync())
      copyAsync(b, place, to, copy.pieceCodes == 0 ? at[1] : Value());
    else
      copyWord(b, place, to);
  }

  /// The byte in its line of what is `inChunk` bytes behind the start of a
  /// chunk of elements.
  Value getByte(OpBuilder &b, Value line, Value chunk, Value inChunk) {
    if (copy.layout.isSwizzled) {
      ChunkSwizzle swizzle = getChunkSwizzle(copy.shape[1]);
      AffineExpr d0 = getAffineDimExpr(0, b.getContext());
      Value factor = apply(
          b, {d0.floorDiv(swizzle.rowsPerStep) % swizzle.modulus}, line)[0];
      chunk = arith::XOrIOp::create(b, loc, chunk, factor);
    }
    Value start = arith::MulIOp::create(b, loc, chunk, index(b, kChunkBytes));
    return arith::AddIOp::create(b, loc, start, inChunk);
  }

  //===--------------------------------------------------------------------===//
  // Blocks of 8 x 8 codes of 4 bits
  //===--------------------------------------------------------------------===//

  /// The block that a thread takes.
  struct Block {
    /// Its first code in the operand.
    Place place;
    /// The line and the chunk of the tile, and the byte in the chunk, that its
    /// first word goes to; then number i goes to line `line xor i`.
    Value line, chunk, inChunk;
    /// Its first word is that of its row number `turn`.
    Value turn;
  };

  /// The block of a thread in round `r`. A warp has up to 8 blocks along rows,
  /// as many as fill a sector of global memory, and the rest along K.
  ///
  /// If all threads stored row i of their blocks at the same time, these would
  /// be in the same banks: the swizzle repeats after 8 rows. So they store row
  /// `i xor turn`, where `turn` differs between blocks along rows.
  Block getBlock(OpBuilder &b, Value round) {
    int64_t blockRows = copy.tileRows / kWordNibbles;
    int64_t width = std::gcd(blockRows, kWordNibbles);
    int64_t depth = std::min(kWarpLanes / width, perLine);
    AffineExpr thread, r, first, s;
    bindDims(b.getContext(), thread, r, first, s);
    // One expression, so that what all rounds share does not depend on `r`.
    AffineExpr n = thread + r * context.numThreads;
    AffineExpr group = n.floorDiv(width * depth);
    AffineExpr row =
        (n % width + group % (blockRows / width) * width) * kWordNibbles;
    AffineExpr word =
        n.floorDiv(width) % depth + group.floorDiv(blockRows / width) * depth;
    // The `depth` blocks along K take neighboring chunks: `turn` is the row
    // that the swizzle moves by a multiple of their number.
    ChunkSwizzle swizzle = getChunkSwizzle(copy.shape[1]);
    AffineExpr chunks = n % width * (kWordNibbles / width);
    AffineExpr turn = chunks % swizzle.modulus * swizzle.rowsPerStep +
                      chunks.floorDiv(swizzle.modulus);
    constexpr int64_t kChunkWords = kChunkBytes / kWordBytes;
    SmallVector<Value> at = apply(
        b,
        {first + row, s * copy.tileColumns + word * kWordNibbles, row + turn,
         word.floorDiv(kChunkWords), word % kChunkWords * kWordBytes, turn},
        {context.thread, round, source.origin, source.step});
    return {{at[0], at[1]}, at[2], at[3], at[4], at[5]};
  }

  /// Loads 8 words along rows, and stores 8 words along K.
  void emitBlock(OpBuilder &b, Value round) {
    Block block = getBlock(b, round);
    SmallVector<Value> words;
    for (int64_t i = 0; i != kWordNibbles; ++i)
      words.push_back(
          loadAlongRows(b, {block.place.row, add(b, block.place.column, i)}));
    transposeNibbles(b, loc, words, block.turn);
    storeRows(b, words, block.line,
              getByte(b, block.line, block.chunk, block.inChunk));
  }

  /// Stores word 0 to `byte` of `line`, and word i to line `line xor i`. Lines
  /// have powers of two of bytes, and the swizzle is linear in the bits of
  /// their numbers: where a word goes differs from where the first one goes by
  /// an exclusive or with a constant.
  void storeRows(OpBuilder &b, ArrayRef<Value> words, Value line, Value byte) {
    int64_t lineBytes = copy.shape[1];
    assert(llvm::isPowerOf2_64(lineBytes) && copy.layout.isSwizzled &&
           "K of a tile is a power of two");
    ChunkSwizzle swizzle = getChunkSwizzle(lineBytes);
    Value flat = memref::CollapseShapeOp::create(
        b, loc, memory, ArrayRef<ReassociationIndices>{{0, 1}});
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    Value start = apply(b, {d0 * lineBytes + d1}, {line, byte})[0];
    for (auto [i, word] : llvm::enumerate(words)) {
      int64_t chunk = i / swizzle.rowsPerStep % swizzle.modulus;
      Value to = arith::XOrIOp::create(
          b, loc, start, index(b, i * lineBytes + chunk * kChunkBytes));
      storeWord(b, word, flat, to);
    }
  }

  //===--------------------------------------------------------------------===//
  // Scales
  //===--------------------------------------------------------------------===//

  /// Lines are in the order of lanes: line `4 (r mod 8) + r div 8` of a group
  /// is that of its row r.
  static AffineExpr getRowOfLine(AffineExpr line) {
    return line.floorDiv(4) + line % 4 * 8;
  }

  static AffineExpr getLineOfRow(AffineExpr row) {
    return row % 8 * 4 + row.floorDiv(8);
  }

  /// To lines with all scales of a row.
  void emitScales(OpBuilder &b, Piece piece, int64_t lineOffset) {
    AffineExpr line, number, first, s;
    bindDims(b.getContext(), line, number, first, s);
    constexpr int64_t kLines = kWarpLanes;
    Value whole = add(b, piece.line, lineOffset);
    SmallVector<Value> values = apply(
        b,
        {line.floorDiv(kLines), line % kLines, number * copy.pieceCodes,
         first + line.floorDiv(kLines) * kLines + getRowOfLine(line % kLines),
         s * copy.tileColumns + number * copy.pieceCodes},
        {whole, piece.index, source.origin, source.step});
    Place place = {values[3], values[4]};
    SmallVector<Value> to(values.begin(), values.begin() + 3);
    if (copy.isAsync())
      copyAsync(b, place, to);
    else
      copyWord(b, place, to);
  }

  /// To words of rows that are 32 apart. Threads take pieces that are
  /// neighbors in the operand, in such an order that they store to different
  /// banks.
  void emitAtoms(OpBuilder &b, Value number) {
    int64_t parts = copy.shape[1], lines = copy.shape[2];
    int64_t words = copy.shape[3] / kScalesPerWord;
    int64_t partsOfAtom = kScaleAtomRows / (words * lines);
    int64_t atoms = parts / partsOfAtom;
    AffineExpr n, first, s;
    bindDims(b.getContext(), n, first, s);
    AffineExpr part, line;
    if (words == 1) {
      // The words of one row of the atom go to different parts; the exclusive
      // or below makes them different banks.
      AffineExpr row = n.floorDiv(partsOfAtom) % lines;
      part = n % partsOfAtom;
      line = getLineOfRow(row);
    } else {
      // As many threads as fill all banks store to one part, those next to them
      // to the next one.
      int64_t together = kBankLineBytes / copy.pieceBytes;
      part = n.floorDiv(together) % partsOfAtom;
      line = n % together +
             n.floorDiv(together * partsOfAtom) % (lines / together) * together;
    }
    AffineExpr atom = n.floorDiv(lines * partsOfAtom);
    part = part + atom % atoms * partsOfAtom;
    AffineExpr word = atom.floorDiv(atoms);
    SmallVector<Value> values =
        apply(b,
              {word, part, line, part % 4,
               first + part * (words * lines) + getRowOfLine(line),
               s * copy.tileColumns + word * kScalesPerWord},
              {number, source.origin, source.step});
    Place place = {values[4], values[5]};
    Value toLine = arith::XOrIOp::create(b, loc, values[2], values[3]);
    SmallVector<Value> to = {values[0], values[1], toLine, index(b, 0)};
    copyAsync(b, place, to);
  }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// Whether a place has to be looked at: a group of lines of scales may have
  /// more rows than the tile.
  bool isGuarded() {
    return context.isGuarded ||
           (copy.shape.size() == 3 && copy.tileRows % kWarpLanes != 0);
  }

  Value isInside(OpBuilder &b, const Place &place) {
    Value isRow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                        place.row, source.rows);
    Value isColumn = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           place.column, source.columns);
    return arith::AndIOp::create(b, loc, isRow, isColumn);
  }

  /// `place` if `isInside` (null for always), else the first one.
  SmallVector<Value> getPosition(OpBuilder &b, Place place, Value isInside) {
    if (isInside) {
      Value zero = index(b, 0);
      place.row = arith::SelectOp::create(b, loc, isInside, place.row, zero);
      place.column =
          arith::SelectOp::create(b, loc, isInside, place.column, zero);
    }
    return applyMap(b, loc, operand.map,
                    {source.batch, place.row, place.column});
  }

  /// One piece that starts `plus` bytes (null for 0) behind the code at
  /// `place`.
  void copyAsync(OpBuilder &b, const Place &place, ArrayRef<Value> to,
                 Value plus = {}) {
    Value inside;
    Value bytes;
    if (isGuarded()) {
      // What is not read still has an address, which must be aligned.
      inside = isInside(b, place);
      bytes = arith::SelectOp::create(b, loc, inside, index(b, copy.pieceBytes),
                                      index(b, 0));
    }
    SmallVector<Value> from = getPosition(b, place, inside);
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    if (operand.bits != 8)
      from.back() = apply(b, {(d0 * operand.bits).floorDiv(8)}, from.back())[0];
    if (plus)
      from.back() = arith::AddIOp::create(b, loc, from.back(), plus);
    // A block reads what it needs of the operands once; what other blocks read
    // too is in the L2 cache.
    bool bypassesL1 = copy.pieceBytes == kChunkBytes;
    nvgpu::DeviceAsyncCopyOp::create(
        b, loc, nvgpu::DeviceAsyncTokenType::get(b.getContext()), memory, to,
        context.getArgument(operand.argument), from,
        b.getIndexAttr(copy.pieceBytes), bytes,
        bypassesL1 ? b.getUnitAttr() : UnitAttr());
  }

  /// Four bytes from codes along K that are read one by one.
  void copyWord(OpBuilder &b, const Place &place, ArrayRef<Value> to) {
    Type i32 = b.getI32Type();
    Value word;
    for (int64_t i = 0; i != copy.pieceCodes; ++i) {
      Place one = {place.row, add(b, place.column, i)};
      Value inside;
      if (isGuarded())
        inside = isInside(b, one);
      SmallVector<Value> position = getPosition(b, one, inside);
      Value code = emitLoadCode(b, loc, context.getArgument(operand.argument),
                                operand.bits, position);
      if (inside) {
        Value zero = arith::ConstantIntOp::create(b, loc, b.getI8Type(), 0);
        code = arith::SelectOp::create(b, loc, inside, code, zero);
      }
      code = arith::ExtUIOp::create(b, loc, i32, code);
      Value shift = arith::ConstantIntOp::create(
          b, loc, i32, i * copy.slot.bits + copy.slot.shift);
      code = arith::ShLIOp::create(b, loc, code, shift);
      word = word ? Value(arith::OrIOp::create(b, loc, word, code)) : code;
    }
    storeWord(b, word, memory, to);
  }

  /// The word of codes that starts at `place` and goes along rows.
  Value loadAlongRows(OpBuilder &b, const Place &place) {
    Value inside;
    if (isGuarded())
      inside = isInside(b, place);
    SmallVector<Value> from = getPosition(b, place, inside);
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    from.back() = apply(b, {d0.floorDiv(8 / operand.bits)}, from.back())[0];
    Value bytes = vector::LoadOp::create(
        b, loc, VectorType::get(kWordBytes, b.getI8Type()),
        context.getArgument(operand.argument), from, /*nontemporal=*/false,
        llvm::MaybeAlign(kWordBytes));
    Value asVector = vector::BitCastOp::create(
        b, loc, VectorType::get(1, b.getI32Type()), bytes);
    Value word = vector::ExtractOp::create(b, loc, asVector, 0);
    if (!inside)
      return word;
    Value zero = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0);
    return arith::SelectOp::create(b, loc, inside, word, zero);
  }

  void storeWord(OpBuilder &b, Value word, Value target, ArrayRef<Value> to) {
    Value asVector = vector::FromElementsOp::create(
        b, loc, VectorType::get(1, b.getI32Type()), word);
    Value bytes = vector::BitCastOp::create(
        b, loc, VectorType::get(kWordBytes, b.getI8Type()), asVector);
    vector::StoreOp::create(b, loc, bytes, target, to, /*nontemporal=*/false,
                            llvm::MaybeAlign(kWordBytes));
  }

  const TileCopy &copy;
  const KernelOperand &operand;
  const CopyContext &context;
  const CopySource &source;
  Location loc;
  Value memory;
  int64_t perLine, numLines, numPieces, chunkCodes;
};

void TileCopy::emit(OpBuilder &builder, const CopyContext &context,
                    Value memory, const CopySource &source) const {
  Emitter(*this, context, memory, source).emit(builder);
}
