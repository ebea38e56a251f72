//===- FragmentEmitter.cpp - One lane's registers -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the layout tables, which say which lane holds which elements and scales
// of mma.sync. Patterns do not know that themselves.
//
//===----------------------------------------------------------------------===//

#include "Fragments/FragmentEmitter.h"

#include "Utils/ArithEmitter.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "Utils/OperandView.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Lane -> (row, column), if `laneMap` returns (lane, register, slot).
static AffineMap getElementMap(const FragmentLayout &layout,
                               AffineMap laneMap) {
  return getLayoutMap(laneMap.getContext(), layout.toElement,
                      /*numLayoutDims=*/3, /*numLayoutResults=*/2,
                      /*numDims=*/3)
      .compose(laneMap);
}

/// Lane -> (lane, register, slot).
static AffineMap getSlotMap(MLIRContext *context, unsigned reg, unsigned slot) {
  return AffineMap::get(1, 0,
                        {getAffineDimExpr(0, context),
                         getAffineConstantExpr(reg, context),
                         getAffineConstantExpr(slot, context)},
                        context);
}

static std::pair<Value, Value> emitPair(OpBuilder &builder, Location loc,
                                        AffineMap map, Value lane) {
  SmallVector<Value> values = applyMap(builder, loc, map, lane);
  return {values[0], values[1]};
}

std::pair<Value, Value>
blockscale::emitElementPosition(OpBuilder &builder, Location loc,
                                const FragmentLayout &layout, Value lane,
                                unsigned reg, unsigned slot) {
  AffineMap laneMap = getSlotMap(builder.getContext(), reg, slot);
  return emitPair(builder, loc, getElementMap(layout, laneMap), lane);
}

std::pair<Value, Value>
blockscale::emitRegisterPosition(OpBuilder &builder, Location loc,
                                 const FragmentLayout &layout, Value lane,
                                 unsigned reg) {
  AffineMap first =
      getElementMap(layout, getSlotMap(builder.getContext(), reg, /*slot=*/0));
  AffineMap map = AffineMap::get(
      1, 0, {first.getResult(0), first.getResult(1).floorDiv(layout.slots)},
      builder.getContext());
  return emitPair(builder, loc, map, lane);
}

/// Register r of lane l gets four bytes of row l / 4 of matrix r, whose rows
/// are at the addresses that lanes 8 r to 8 r + 7 pass. So lane L passes the
/// address of the data in register L / 8 of the first lane of group L % 8.
std::pair<Value, Value> blockscale::emitMatrixRow(OpBuilder &builder,
                                                  Location loc,
                                                  const FragmentLayout &layout,
                                                  Value lane) {
  MLIRContext *context = builder.getContext();
  AffineExpr l = getAffineDimExpr(0, context);
  AffineMap firstLane =
      AffineMap::get(1, 0,
                     {l % 8 * 4, l.floorDiv(8) % layout.registers,
                      getAffineConstantExpr(0, context)},
                     context);
  return emitPair(builder, loc, getElementMap(layout, firstLane), lane);
}

Value blockscale::emitScaleRow(OpBuilder &builder, Location loc,
                               Operand operand, Value lane) {
  AffineMap map =
      getLayoutMap(builder.getContext(), getScaleFragment(operand).toRow,
                   /*numLayoutDims=*/1, /*numLayoutResults=*/1, /*numDims=*/1);
  return applyMap(builder, loc, map, lane)[0];
}

FragmentCounts::FragmentCounts(const TypeCombination &types,
                               const Instruction &instruction, Operand operand,
                               int64_t rows, int64_t k) {
  const ScaleFragment &scales = getScaleFragment(operand);
  tiles = llvm::divideCeilSigned(rows, scales.rowsPerTile);
  steps = llvm::divideCeilSigned(k, instruction.k);
  groups = llvm::divideCeilSigned(tiles, scales.tiles);
  words = llvm::divideCeilSigned(k, types.blockSize * kScalesPerWord);
}

int64_t blockscale::getNumAccElements(int64_t m, int64_t n) {
  const FragmentLayout &layout = getAccFragment();
  return llvm::divideCeilSigned(m, layout.rows) *
         llvm::divideCeilSigned(n, layout.columns) * layout.registers;
}

/// The first row of C of the group `group` of 8 rows, without the lane's
/// offset.
static int64_t getFirstRow(int64_t group, int64_t interleave) {
  int64_t turn = group % interleave;
  return (group - turn) * kGroupRows + turn;
}

void blockscale::forEachAccRun(OpBuilder &builder, Location loc, Value lane,
                               const WarpTile &tile,
                               function_ref<void(int64_t, Value, Value)> body) {
  const FragmentLayout &layout = getAccFragment();
  int64_t groups = kRowsOfLane;
  AffineExpr d0 = builder.getAffineDimExpr(0);
  SmallVector<std::pair<Value, Value>> first;
  for (int64_t group = 0; group != groups; ++group) {
    // With interleaved rows, the tile determines the group.
    int64_t reg =
        tile.interleaveM == 1 ? getAccRegister(group, /*column=*/0) : 0;
    auto [row, column] = emitElementPosition(
        builder, loc, layout, lane, static_cast<unsigned>(reg), /*slot=*/0);
    row = applyExpr(builder, loc, d0 * tile.interleaveM, row);
    column = applyExpr(builder, loc, d0 * tile.interleaveN, column);
    first.emplace_back(addIndices(builder, loc, row, tile.firstRow),
                       addIndices(builder, loc, column, tile.firstColumn));
  }
  int64_t index = 0;
  int64_t columns = layout.columns * tile.interleaveN;
  for (int64_t m = 0; m < tile.m; m += layout.rows)
    for (int64_t n = 0; n < tile.n; n += columns)
      for (auto [group, position] : llvm::enumerate(first)) {
        int64_t plus = m;
        if (tile.interleaveM != 1)
          plus = getFirstRow(m / kGroupRows + group, tile.interleaveM);
        Value row = addIndex(builder, loc, position.first, plus);
        Value column = addIndex(builder, loc, position.second, n);
        body(index, row, column);
        index += tile.getRunLength();
      }
}

SmallVector<int64_t, 4> blockscale::getTileElements(const WarpTile &tile,
                                                    int64_t m, int64_t n) {
  const FragmentLayout &layout = getAccFragment();
  int64_t groups = kRowsOfLane;
  int64_t runs =
      llvm::divideCeilSigned(tile.n, layout.columns) / tile.interleaveN;
  int64_t turn = n % tile.interleaveN;
  SmallVector<int64_t, 4> elements;
  for (int64_t group = 0; group != groups; ++group) {
    int64_t run = (m * runs + n / tile.interleaveN) * groups + group;
    for (int64_t i = 0; i != kColumnsOfLane; ++i)
      elements.push_back(run * tile.getRunLength() + i * tile.interleaveN +
                         turn);
  }
  return elements;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

MmaEmitter::MmaEmitter(OpBuilder &builder, Location loc,
                       const TypeCombination &types,
                       InstructionAttr instruction, Value lane)
    : b(builder), loc(loc), types(types), lane(lane), instruction(instruction),
      scalesPerStep(instruction.getK() / types.blockSize),
      isHalved(getRewrite(types, instruction.getInstruction()) ==
               Rewrite::TwoHalfBlocks) {}

SmallVector<Value> MmaEmitter::join(ValueRange elements) {
  size_t size = getAccFragment().registers;
  auto type = VectorType::get(size, b.getF32Type());
  SmallVector<Value> tiles;
  for (size_t i = 0; i != elements.size(); i += size)
    tiles.push_back(
        vector::FromElementsOp::create(b, loc, type, elements.slice(i, size)));
  return tiles;
}

SmallVector<Value> MmaEmitter::split(ValueRange tiles) {
  SmallVector<Value> elements;
  for (Value tile : tiles)
    llvm::append_range(elements, extractElements(b, loc, tile));
  return elements;
}

void MmaEmitter::emitStep(int64_t step, ArrayRef<Value> aTiles,
                          ArrayRef<Value> aWords, ArrayRef<Value> bTiles,
                          ArrayRef<Value> bWords, MutableArrayRef<Value> acc,
                          ArrayRef<Value> metadata) {
  // Selectors are in registers: ptxas loads each new pair of them.
  auto getGroup = [](Operand operand, size_t tiles, size_t words) -> unsigned {
    return words == tiles ? 1 : getScaleFragment(operand).tiles;
  };
  unsigned aGroup = getGroup(Operand::A, aTiles.size(), aWords.size());
  unsigned bGroup = getGroup(Operand::B, bTiles.size(), bWords.size());
  for (size_t m = 0; m != aTiles.size(); ++m) {
    for (size_t n = 0; n != bTiles.size(); ++n) {
      Value &sum = acc[m * bTiles.size() + n];
      for (const Part &part : getParts(step)) {
        Value aWord = arrangeScales(aWords[m / aGroup]);
        Value bWord = arrangeScales(bWords[n / bGroup]);
        Value a = keepHalf(aTiles[m], part.half);
        if (metadata.empty())
          sum = MmaSyncOp::create(b, loc, instruction, a, bTiles[n], sum, aWord,
                                  part.byte, m % aGroup, bWord, part.byte,
                                  n % bGroup);
        else
          sum = MmaSpOp::create(b, loc, instruction, a, bTiles[n], sum,
                                metadata[m], aWord, part.byte, m % aGroup,
                                bWord, part.byte, n % bGroup);
      }
    }
  }
}

SmallVector<MmaEmitter::Part> MmaEmitter::getParts(int64_t step) const {
  if (!isHalved)
    return {{std::nullopt,
             static_cast<unsigned>(step * scalesPerStep % kScalesPerWord)}};
  // Blocks of 16 are handled as halves of blocks of 32: reordered words have
  // the scales of the even halves in the bytes that the first instruction
  // selects.
  SmallVector<Part> parts;
  for (unsigned half : {0, 1})
    parts.push_back({half, half * instruction.getScaleVec()});
  return parts;
}

Value MmaEmitter::arrangeScales(Value word) {
  return isHalved ? evenBytesFirst(word) : word;
}

/// Bytes (0, 1, 2, 3) of `word` as (0, 2, 1, 3).
Value MmaEmitter::evenBytesFirst(Value word) {
  Value &reordered = reorderedWords[word];
  if (reordered)
    return reordered;
  ArithEmitter emit(b, loc);
  Value kept = emit.bitAnd(word, 0xFF0000FF);
  Value up = emit.bitAnd(emit.shiftLeft(word, 8), 0x00FF0000);
  Value down = emit.bitAnd(emit.shiftRight(word, 8), 0x0000FF00);
  reordered = emit.bitOr(kept, emit.bitOr(up, down));
  return reordered;
}

/// `registers` of A with the other half of every block set to zero. All slots
/// of a register are in one half, the same one for all registers of a lane.
Value MmaEmitter::keepHalf(Value registers, std::optional<unsigned> half) {
  if (!half)
    return registers;
  Value &kept = keptHalves[{registers, *half}];
  if (kept)
    return kept;
  const FragmentLayout &layout = getFragmentLayout(
      Operand::A, getSlot(instruction.getKind(), types.lhs).bits);
  Value column = emitElementPosition(b, loc, layout, lane, 0, 0).second;
  AffineExpr d0 = getAffineDimExpr(0, b.getContext());
  // A sparse A has the kept elements of a block.
  int64_t block = types.sparsity ? types.blockSize / 2 : types.blockSize;
  Value parity = applyExpr(b, loc, d0.floorDiv(block) % 2, column);
  Value wanted = arith::ConstantIndexOp::create(b, loc, *half);
  Value isKept =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, parity, wanted);
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(registers.getType()));
  kept = arith::SelectOp::create(b, loc, isKept, registers, zero);
  return kept;
}
