//===- FragmentEmitter.cpp - One lane's registers -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FragmentEmitter.h"

#include "CodeAccess.h"
#include "OperandView.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

std::pair<Value, Value>
blockscale::emitElementPosition(OpBuilder &builder, Location loc,
                                const FragmentLayout &layout, Value lane,
                                AffineMap laneMap) {
  AffineMap map =
      getLayoutMap(builder.getContext(), layout.toElement, /*numLayoutDims=*/3,
                   /*numLayoutResults=*/2, /*numDims=*/3);
  SmallVector<Value> position =
      applyMap(builder, loc, map.compose(laneMap), lane);
  return {position[0], position[1]};
}

std::pair<Value, Value>
blockscale::emitElementPosition(OpBuilder &builder, Location loc,
                                const FragmentLayout &layout, Value lane,
                                unsigned reg, unsigned slot) {
  MLIRContext *context = builder.getContext();
  return emitElementPosition(
      builder, loc, layout, lane,
      AffineMap::get(1, 0,
                     {getAffineDimExpr(0, context),
                      getAffineConstantExpr(reg, context),
                      getAffineConstantExpr(slot, context)},
                     context));
}

Value blockscale::emitScaleRow(OpBuilder &builder, Location loc,
                               Operand operand, Value lane) {
  AffineMap map =
      getLayoutMap(builder.getContext(), getScaleFragment(operand).toRow,
                   /*numLayoutDims=*/1, /*numLayoutResults=*/1, /*numDims=*/1);
  return applyMap(builder, loc, map, lane)[0];
}

FragmentCounts::FragmentCounts(const OpRow &row, Operand operand, int64_t rows,
                               int64_t k) {
  const ScaleFragment &scales = getScaleFragment(operand);
  tiles = llvm::divideCeilSigned(rows, scales.rowsPerTile);
  steps =
      llvm::divideCeilSigned(k, getEmittedInstruction(row, Path::MmaSync).k);
  groups = llvm::divideCeilSigned(tiles, scales.tiles);
  words = llvm::divideCeilSigned(k, row.blockSize * kScalesPerWord);
}

int64_t blockscale::getAccFragmentSize(int64_t m, int64_t n) {
  const FragmentLayout &layout = getFragmentLayout(Operand::C, 32);
  return llvm::divideCeilSigned(m, layout.rows) *
         llvm::divideCeilSigned(n, layout.columns) * layout.registers;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {
/// One of the instructions that compute one step along K of an op row.
struct Part {
  /// For the rewrite into half blocks: which 16-element halves of A's blocks
  /// are kept; nullopt for all of A.
  std::optional<unsigned> half;
  /// The byte selector of both scales.
  unsigned byte;
};

class MmaEmitter {
public:
  MmaEmitter(OpBuilder &b, Location loc, const OpRow &row, Value lane)
      : b(b), loc(loc), row(row), lane(lane),
        instruction(getEmittedInstruction(row, Path::MmaSync)),
        isHalved(getPreferredInstruction(row, Path::MmaSync)->rewrite ==
                 Rewrite::TwoHalfBlocks) {}

  Value emit(const OperandFragments &a, const OperandFragments &bFragments,
             Value acc) {
    unsigned scalesPerStep = instruction.k / row.blockSize;
    auto attr = InstructionAttr::get(b.getContext(), instruction);
    int64_t size = getFragmentLayout(Operand::C, 32).registers;
    auto type = VectorType::get(size, b.getF32Type());
    SmallVector<Value> elements;
    for (auto [m, aSteps] : llvm::enumerate(a.registers)) {
      for (auto [n, bSteps] : llvm::enumerate(bFragments.registers)) {
        SmallVector<Value> tile;
        for (int64_t i = 0; i != size; ++i)
          tile.push_back(vector::ExtractOp::create(
              b, loc, acc, static_cast<int64_t>(elements.size()) + i));
        Value sum = vector::FromElementsOp::create(b, loc, type, tile);
        for (size_t step = 0; step != aSteps.size(); ++step) {
          unsigned position = step * scalesPerStep;
          for (const Part &part : getParts(position)) {
            auto [aWord, aThread] = getScales(Operand::A, a, m, position);
            auto [bWord, bThread] =
                getScales(Operand::B, bFragments, n, position);
            Value aRegisters = keepHalf(aSteps[step], part.half);
            sum = MmaSyncOp::create(b, loc, attr, aRegisters, bSteps[step], sum,
                                    aWord, part.byte, aThread, bWord, part.byte,
                                    bThread);
          }
        }
        for (int64_t i = 0; i != size; ++i)
          elements.push_back(vector::ExtractOp::create(b, loc, sum, i));
      }
    }
    return vector::FromElementsOp::create(b, loc, acc.getType(), elements);
  }

private:
  SmallVector<Part> getParts(unsigned position) {
    if (!isHalved)
      return {{std::nullopt, position % kScalesPerWord}};
    // Blocks of 16 are taken as halves of blocks of 32: reordered words have
    // the scales of the even halves in the bytes of the first instruction.
    SmallVector<Part> parts;
    for (unsigned half : {0, 1})
      parts.push_back({half, half * instruction.scaleVec});
    return parts;
  }

  /// The word that holds scale number `position` along K of `tile`, and the
  /// thread selector.
  std::pair<Value, unsigned> getScales(Operand operand,
                                       const OperandFragments &fragments,
                                       size_t tile, unsigned position) {
    unsigned tiles = getScaleFragment(operand).tiles;
    Value word = fragments.scaleWords[tile / tiles][position / kScalesPerWord];
    if (isHalved)
      word = evenBytesFirst(word);
    return {word, tile % tiles};
  }

  /// Bytes (0, 1, 2, 3) of `word` as (0, 2, 1, 3).
  Value evenBytesFirst(Value word) {
    Value &reordered = reorderedWords[word];
    if (reordered)
      return reordered;
    constexpr uint32_t kOuterBytes = 0xFF0000FF;
    Value outer = integer(static_cast<int32_t>(kOuterBytes));
    Value second = integer(0x0000FF00), third = integer(0x00FF0000);
    Value eight = integer(8);
    Value kept = arith::AndIOp::create(b, loc, word, outer);
    Value up = arith::ShLIOp::create(b, loc, word, eight);
    up = arith::AndIOp::create(b, loc, up, third);
    Value down = arith::ShRUIOp::create(b, loc, word, eight);
    down = arith::AndIOp::create(b, loc, down, second);
    Value moved = arith::OrIOp::create(b, loc, up, down);
    reordered = arith::OrIOp::create(b, loc, kept, moved);
    return reordered;
  }

  Value integer(int32_t value) {
    return arith::ConstantIntOp::create(b, loc, b.getI32Type(), value);
  }

  /// `registers` of A with the other half of every block zeroed. All slots of
  /// a register are in one half, the same one for all registers of a lane.
  Value keepHalf(Value registers, std::optional<unsigned> half) {
    if (!half)
      return registers;
    Value &kept = keptHalves[{registers, *half}];
    if (kept)
      return kept;
    const FragmentLayout &layout =
        getFragmentLayout(Operand::A, getSlot(instruction.kind, row.lhs).bits);
    Value column = emitElementPosition(b, loc, layout, lane, 0, 0).second;
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    Value parity =
        applyMap(b, loc, AffineMap::get(1, 0, d0.floorDiv(row.blockSize) % 2),
                 column)[0];
    Value wanted = arith::ConstantIndexOp::create(b, loc, *half);
    Value isKept =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, parity, wanted);
    Value zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(registers.getType()));
    kept = arith::SelectOp::create(b, loc, isKept, registers, zero);
    return kept;
  }

  OpBuilder &b;
  Location loc;
  OpRow row;
  Value lane;
  const Instruction &instruction;
  bool isHalved;
  DenseMap<Value, Value> reorderedWords;
  DenseMap<std::pair<Value, unsigned>, Value> keptHalves;
};
} // namespace

Value blockscale::emitMmas(OpBuilder &builder, Location loc, const OpRow &row,
                           Value lane, const OperandFragments &a,
                           const OperandFragments &b, Value acc) {
  return MmaEmitter(builder, loc, row, lane).emit(a, b, acc);
}
