//===- VectorOperands.cpp - Fragments of vectors --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads registers and words of scales of a vector operand, with as few loads as
// the known alignment allows.
//
//===----------------------------------------------------------------------===//

#include "Fragments/LanePatterns.h"

#include "Fragments/VectorElements.h"
#include "Fragments/VectorTransfer.h"
#include "Utils/IndexValues.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

namespace {
/// Shared code of the loaders of elements and of scales.
class RowLoader {
public:
  RowLoader(OpBuilder &b, const ElementReader &reader, Value lane, int64_t rows)
      : b(b), loc(reader.getLoc()), reader(reader), lane(lane), rows(rows) {}

protected:
  Value offset(Value value, int64_t amount) {
    return addIndex(b, loc, value, amount);
  }

  Value integer(uint32_t value) {
    return arith::ConstantIntOp::create(b, loc, b.getI32Type(),
                                        static_cast<int32_t>(value));
  }

  Value shiftLeft(Value word, unsigned amount) {
    return arith::ShLIOp::create(b, loc, word, integer(amount));
  }

  /// `word` (null for 0) with `code` at bit `shift`.
  Value insert(Value word, Value code, unsigned shift) {
    Value wide = arith::ExtUIOp::create(b, loc, b.getI32Type(), code);
    Value moved = shiftLeft(wide, shift);
    return word ? arith::OrIOp::create(b, loc, word, moved) : moved;
  }

  /// The code of the element at (row, k), or run `run` of `count` of them; 0 if
  /// not `inside`.
  Value loadElement(Value row, Value k, Value inside) {
    Value zero = arith::ConstantIntOp::create(b, loc, b.getI8Type(), 0);
    return emitLoadIf(
        b, loc, inside,
        [&](OpBuilder &then) { return reader.loadElement(then, row, k); },
        zero);
  }
  Value loadRun(Value row, Value run, unsigned count, Value inside) {
    return emitLoadIf(
        b, loc, inside,
        [&](OpBuilder &then) { return reader.loadRun(then, row, run, count); },
        integer(0));
  }

  OpBuilder &b;
  Location loc;
  const ElementReader &reader;
  Value lane;
  int64_t rows;
};

/// Loads fragments of the elements of an operand.
class ElementLoader : RowLoader {
public:
  ElementLoader(OpBuilder &b, const ElementReader &reader, Value lane,
                int64_t rows, int64_t k, const FragmentLayout &layout,
                Slot slot, IsMultipleFn isMultiple)
      : RowLoader(b, reader, lane, rows), k(k), layout(layout), slot(slot) {
    const ElementSource &source = reader.getSource();
    hasRuns =
        source.bits <= slot.bits && reader.hasRuns(layout.slots, isMultiple);
    hasMatrices = source.bits == slot.bits && rows % layout.rows == 0 &&
                  k % layout.columns == 0 && reader.hasMatrixRows(isMultiple);
  }

  /// The fragment that starts at `row` and `column`.
  Value load(int64_t row, int64_t column) {
    SmallVector<Value> words =
        hasMatrices ? loadMatrix(row, column) : loadRegisters(row, column);
    return vector::FromElementsOp::create(
        b, loc, VectorType::get(words.size(), b.getI32Type()), words);
  }

private:
  SmallVector<Value> loadMatrix(int64_t row, int64_t column) {
    auto [r, c] = emitMatrixRow(b, loc, layout, lane);
    unsigned columns = reader.getMatrixColumns();
    Value run = applyExpr(b, loc, b.getAffineDimExpr(0).floorDiv(columns), c);
    Value matrix =
        reader.loadMatrix(b, VectorType::get(layout.registers, b.getI32Type()),
                          offset(r, row), offset(run, column / columns));
    SmallVector<Value> words;
    for (unsigned reg = 0; reg != layout.registers; ++reg)
      words.push_back(
          arrangeRun(vector::ExtractOp::create(b, loc, matrix, reg)));
    return words;
  }

  SmallVector<Value> loadRegisters(int64_t row, int64_t column) {
    SmallVector<Value> words;
    for (unsigned reg = 0; reg != layout.registers; ++reg)
      words.push_back(hasRuns ? loadRegister(row, column, reg)
                              : gatherRegister(row, column, reg));
    return words;
  }

  Value loadRegister(int64_t row, int64_t column, unsigned reg) {
    auto [r, run] = emitRegisterPosition(b, loc, layout, lane, reg);
    r = offset(r, row);
    run = offset(run, column / layout.slots);
    Value inside = isInside(r, run, layout.slots);
    return arrangeRun(loadRun(r, run, layout.slots, inside));
  }

  Value gatherRegister(int64_t row, int64_t column, unsigned reg) {
    Value word;
    for (unsigned i = 0; i != layout.slots; ++i) {
      auto [r, c] = emitElementPosition(b, loc, layout, lane, reg, i);
      r = offset(r, row);
      c = offset(c, column);
      Value code = loadElement(r, c, isInside(r, c, /*count=*/1));
      word = insert(word, code, i * slot.bits + slot.shift);
    }
    return word;
  }

  /// Whether run `run` of `count` elements is in the operand (null for always).
  /// K is a multiple of the block size, so a run is never partly inside.
  Value isInside(Value row, Value run, unsigned count) {
    Value isRow = TransferAddress::isBelow(b, loc, row, rows, layout.rows);
    Value isRun = TransferAddress::isBelow(b, loc, run, k / count,
                                           layout.columns / count);
    return emitBoth(b, loc, isRow, isRun);
  }

  /// Shifts the elements of `word`, which are as in memory, into their slots.
  Value arrangeRun(Value word) {
    constexpr uint32_t kEachByte = 0x01010101;
    const ElementSource &source = reader.getSource();
    if (source.bits != slot.bits)
      word = spreadNibbles(word);
    if (source.codeMask != 0xFF)
      word = arith::AndIOp::create(b, loc, word,
                                   integer(source.codeMask * kEachByte));
    return slot.shift == 0 ? word : shiftLeft(word, slot.shift);
  }

  /// The four nibbles of the lower half of `word`, each in a byte.
  Value spreadNibbles(Value word) {
    for (auto [shift, mask] : {std::pair(8u, 0x00FF00FFu), {4u, 0x0F0F0F0Fu}}) {
      Value both = arith::OrIOp::create(b, loc, word, shiftLeft(word, shift));
      word = arith::AndIOp::create(b, loc, both, integer(mask));
    }
    return word;
  }

  int64_t k;
  const FragmentLayout &layout;
  Slot slot;
  bool hasRuns, hasMatrices;
};

/// Loads words of the scales of an operand.
class ScaleLoader : RowLoader {
public:
  ScaleLoader(OpBuilder &b, const ElementReader &reader, Value lane,
              int64_t rows, int64_t blocks, Operand operand,
              IsMultipleFn isMultiple)
      : RowLoader(b, reader, lane, rows), blocks(blocks), operand(operand),
        hasRuns(reader.hasRuns(kScalesPerWord, isMultiple)) {}

  /// Word `word` along K of a group of tiles.
  Value load(int64_t group, int64_t word) {
    const ScaleFragment &layout = getScaleFragment(operand);
    int64_t groupRows = layout.tiles * layout.rowsPerTile;
    Value row = offset(emitScaleRow(b, loc, operand, lane), group * groupRows);
    Value inside = TransferAddress::isBelow(b, loc, row, rows, groupRows);
    int64_t first = word * kScalesPerWord;
    int64_t count = std::min<int64_t>(kScalesPerWord, blocks - first);
    if (hasRuns && count == kScalesPerWord)
      return loadRun(row, index(word), kScalesPerWord, inside);
    Value scales;
    for (int64_t i = 0; i != count; ++i)
      scales =
          insert(scales, loadElement(row, index(first + i), inside), i * 8);
    return scales;
  }

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  int64_t blocks;
  Operand operand;
  bool hasRuns;
};

/// Loads the fragments of one operand from its source.
class VectorLoader {
public:
  VectorLoader(const TypeCombination &types, const Instruction &instruction,
               Operand operand, Value lane, int64_t rows, int64_t k,
               IsMultipleFn isMultiple)
      : types(types), instruction(instruction), operand(operand), lane(lane),
        rows(rows), k(k), counts(types, instruction, operand, rows, k),
        isMultiple(isMultiple) {}

  /// `isTransposed`: the operand's index is (k, row).
  LogicalResult loadElements(Value value, bool isTransposed, OpBuilder &builder,
                             OperandFragments &fragments) {
    FailureOr<ElementSource> source = findElementSource(value);
    if (failed(source))
      return failure();
    Format format = operand == Operand::A ? types.lhs : types.rhs;
    Slot slot = getSlot(instruction.kind, format);
    const FragmentLayout &layout = getFragmentLayout(operand, slot.bits);
    OpBuilder b = atSource(builder, *source);
    ElementReader reader(value.getLoc(), *source, isTransposed);
    ElementLoader loader(b, reader, lane, rows, k, layout, slot, isMultiple);
    for (int64_t tile = 0; tile != counts.tiles; ++tile) {
      SmallVector<Value> &steps = fragments.registers.emplace_back();
      for (int64_t step = 0; step != counts.steps; ++step)
        steps.push_back(loader.load(tile * layout.rows, step * layout.columns));
    }
    return success();
  }

  LogicalResult loadScales(Value value, bool isTransposed, OpBuilder &builder,
                           OperandFragments &fragments) {
    FailureOr<ElementSource> source = findElementSource(value);
    if (failed(source))
      return failure();
    OpBuilder b = atSource(builder, *source);
    ElementReader reader(value.getLoc(), *source, isTransposed);
    ScaleLoader loader(b, reader, lane, rows, k / types.blockSize, operand,
                       isMultiple);
    for (int64_t group = 0; group != counts.groups; ++group) {
      SmallVector<Value> &words = fragments.scaleWords.emplace_back();
      for (int64_t word = 0; word != counts.words; ++word)
        words.push_back(loader.load(group, word));
    }
    return success();
  }

private:
  /// Loads are emitted at the read, because memory may change between the read
  /// and the op.
  static OpBuilder atSource(OpBuilder &builder, ElementSource &source) {
    OpBuilder b(builder);
    if (source.read)
      b.setInsertionPointAfter(source.read);
    return b;
  }

  TypeCombination types;
  const Instruction &instruction;
  Operand operand;
  Value lane;
  int64_t rows, k;
  FragmentCounts counts;
  IsMultipleFn isMultiple;
};
} // namespace

FailureOr<OperandFragments>
blockscale::loadVectorOperand(OpBuilder &builder, MmaScaledOp op,
                              Operand operand, Value lane,
                              IsMultipleFn isMultiple) {
  bool isA = operand == Operand::A;
  Side side = isA ? Side::X : Side::Y;
  ShapedType type = op.getMatrixType(side);
  VectorLoader loader(
      op.getTypes(),
      op->getAttrOfType<InstructionAttr>(kInstructionAttrName).getInstruction(),
      operand, lane,
      type.getDimSize(MmaScaledOp::getRowDim(side, type.getRank())),
      type.getDimSize(MmaScaledOp::getKDim(side, type.getRank())), isMultiple);
  OperandFragments fragments;
  if (failed(loader.loadElements(isA ? op.getX() : op.getY(), !isA, builder,
                                 fragments)) ||
      failed(loader.loadScales(isA ? op.getXScale() : op.getYScale(), !isA,
                               builder, fragments)))
    return failure();
  return fragments;
}
