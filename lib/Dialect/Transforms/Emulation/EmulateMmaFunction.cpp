//===- EmulateMmaFunction.cpp - mma.sync and mma.sp in software -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Has its own formulas for the lane, register and bits of each element and
// scale, on purpose: tests run lowered kernels on this function, and would not
// notice a wrong formula that both sides share. Do not replace these formulas
// by those of the lowering.
//
// Sources: PTX ISA 9.0, "Matrix Fragments for mma.m16n8k32" and
// "... m16n8k64"; "Matrix fragments for sparse mma.m16n8k64" and
// "... mma.m16n8k128"; "Block Scaling for mma.sync", figures 42 to 45.
//
//===----------------------------------------------------------------------===//

#include "Emulation/Emulation.h"

#include "Utils/AccFragment.h"
#include "Utils/ArithEmitter.h"
#include "Utils/IndexValues.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {

/// A value for each of two rows of D, or for each of two columns.
using Pair = std::array<Value, 2>;

/// Emits the steps of the function.
class Emitter : ArithEmitter {
public:
  Emitter(ImplicitLocOpBuilder &builder, const Instruction &instruction)
      : ArithEmitter(builder, builder.getLoc()), builder(builder),
        instruction(instruction) {}

  /// Returns the four results of this lane, from the function's arguments.
  SmallVector<Value> emit(ValueRange arguments);

private:
  // Every instruction has a row of A in 8 registers: 2 of each of the 4 lanes
  // of that row. Word w is in register w / 4 of lane w % 4. So is a column of a
  // dense B. A column of B beside a sparse A has twice as many words in as many
  // lanes, and word w of A has kept elements of its words 2 w and 2 w + 1.
  static constexpr unsigned kWordsPerRow = 8;
  static constexpr int32_t kShuffleWidth = 32;

  Value extract(Value registers, int64_t index) {
    return vector::ExtractOp::create(builder, registers, index);
  }

  Value shuffle(Value value, Value lane);
  Value decode(Value word, Value firstBit, Format format);

  unsigned getSlotBits() const {
    return 32 * kWordsPerRow / instruction.getKeptK();
  }
  unsigned getFirstBit(Format format) const;

  /// What is in word `word` of two rows of A, and beside it in two columns of
  /// B.
  struct Word {
    Pair a, aFactors, bFactors;
    /// Of each column, the word, or with a sparse A the two words.
    std::array<SmallVector<Value>, 2> b;
    /// With a sparse A, the fields of both words of B, for each row.
    Pair fields;
  };

  /// The slot of B that kept slot `slot` of a word of A multiplies, and in
  /// which of the two words of a column it is.
  std::pair<Value, Value> findKept(Value slot, Value fields);

  /// Adds the products of the elements of one word, by ascending k.
  SmallVector<Value> emitWord(const Word &word, ValueRange wordSums);

  /// Calls `body` for 0, ..., count - 1 and the sums so far.
  SmallVector<Value>
  loop(unsigned count, ValueRange sums,
       function_ref<SmallVector<Value>(Value index, ValueRange sums)> body);

  ImplicitLocOpBuilder &builder;
  const Instruction &instruction;
};

} // namespace

/// Returns the value of `lane`. Shuffles need the whole warp, so they are
/// emitted only where all lanes pass: in loops with constant bounds, never in a
/// branch.
Value Emitter::shuffle(Value value, Value lane) {
  return gpu::ShuffleOp::create(builder, value, lane, integer(kShuffleWidth),
                                gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

/// The value of the code at `firstBit` of a register, without the bits beside
/// it.
Value Emitter::decode(Value word, Value firstBit, Format format) {
  int32_t mask = static_cast<int32_t>(getFormatInfo(format).codeMask());
  Value code = arith::ShRUIOp::create(builder, word, firstBit);
  code = arith::AndIOp::create(builder, code, integer(mask));
  code = arith::TruncIOp::create(builder, builder.getI8Type(), code);
  return emitDecode(builder, builder.getLoc(), code, format);
}

/// The first bit of a code in its slot. In slots of 8 bits, fp4 is in bits
/// [5:2] and fp6 in bits [5:0].
unsigned Emitter::getFirstBit(Format format) const {
  return format == Format::E2M1 && getSlotBits() == 8 ? 2 : 0;
}

SmallVector<Value> Emitter::loop(
    unsigned count, ValueRange sums,
    function_ref<SmallVector<Value>(Value index, ValueRange sums)> body) {
  auto loop = scf::ForOp::create(builder, integer(0),
                                 integer(static_cast<int32_t>(count)),
                                 integer(1), sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(builder,
                       body(loop.getInductionVar(), loop.getRegionIterArgs()));
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// A word of A has two chunks, one for each word of B, of two kept units. A
/// word of B has the four units of its chunk. A field has two bits for each
/// kept unit.
std::pair<Value, Value> Emitter::findKept(Value slot, Value fields) {
  auto unit =
      static_cast<uint32_t>(getGranularityInfo(*instruction.sparsity).unit);
  constexpr uint32_t kPositionBits = 2;
  Value kept = div(slot, unit);
  Value position = bitAnd(shiftRight(fields, mul(kept, kPositionBits)), 3);
  Value inWord = add(mul(position, unit), rem(slot, unit));
  return {inWord, isAtLeast(kept, 2)};
}

SmallVector<Value> Emitter::emitWord(const Word &word, ValueRange wordSums) {
  unsigned elements = instruction.getKeptK() / kWordsPerRow;
  return loop(elements, wordSums, [&](Value slot, ValueRange sums) {
    auto scaled = [&](Value of, Value at, Format format, Value factor) {
      Value firstBit =
          add(mul(at, getSlotBits()), integer(getFirstBit(format)));
      return mul(decode(of, firstBit, format), factor);
    };
    // Each row of a sparse A has elements of other k.
    Pair rows;
    std::array<Pair, 2> columns;
    for (int32_t i : {0, 1}) {
      rows[i] = scaled(word.a[i], slot, instruction.a, word.aFactors[i]);
      for (int32_t j : {0, 1}) {
        Value of = word.b[j].front(), at = slot;
        if (instruction.isSparse()) {
          auto [inWord, isSecond] = findKept(slot, word.fields[i]);
          of = select(isSecond, word.b[j].back(), of);
          at = inWord;
        } else if (i == 1) {
          columns[i][j] = columns[0][j];
          continue;
        }
        columns[i][j] = scaled(of, at, instruction.b, word.bFactors[j]);
      }
    }
    SmallVector<Value> next;
    for (auto [r, sum] : llvm::enumerate(sums)) {
      auto [row, column] = getAccOffset(static_cast<int64_t>(r));
      int64_t i = row / kGroupRows;
      next.push_back(arith::AddFOp::create(builder, sum,
                                           mul(rows[i], columns[i][column])));
    }
    return next;
  });
}

SmallVector<Value> Emitter::emit(ValueRange arguments) {
  Value a = arguments[0], b = arguments[1], c = arguments[2];
  Value metadata = instruction.isSparse() ? arguments[3] : Value();
  ValueRange scales = arguments.take_back(6);
  Value aScale = scales[0], aByte = scales[1], aThread = scales[2];
  Value bScale = scales[3], bByte = scales[4], bThread = scales[5];

  // The position of the lane's first result; the others are in the next column,
  // and 8 rows further.
  AccPosition first = getAccPosition(builder.getAffineDimExpr(0), /*reg=*/0);
  Value lane = gpu::LaneIdOp::create(builder, /*upper_bound=*/IntegerAttr());
  SmallVector<Value> position =
      applyExprs(builder, builder.getLoc(), {first.row, first.column}, lane);
  for (Value &value : position)
    value = arith::IndexCastOp::create(builder, builder.getI32Type(), value);
  auto [row, column] = std::pair(position[0], position[1]);

  // Lanes 4 row, ..., 4 row + 3 hold A's rows `row` and `row` + 8; lanes
  // 4 column, ..., 4 column + 3 hold B's column.
  Value rowLanes = mul(row, kLanesOfRow);
  Pair columnLanes = {mul(column, kLanesOfRow),
                      mul(add(column, integer(1)), kLanesOfRow)};

  // Scales of A are in two lanes of the four, one for each of their rows, and
  // scales of B in one lane; the thread selectors choose.
  Pair aScales, bScales;
  for (int32_t i : {0, 1}) {
    Value aLane = add(add(rowLanes, mul(aThread, 2)), integer(i));
    aScales[i] = shuffle(aScale, aLane);
    bScales[i] = shuffle(bScale, add(columnLanes[i], bThread));
  }

  SmallVector<Value> sums;
  for (int64_t r = 0; r < 4; ++r)
    sums.push_back(
        arith::ExtFOp::create(builder, builder.getF64Type(), extract(c, r)));

  sums = loop(kWordsPerRow, sums, [&](Value word, ValueRange sums) {
    // Registers 0 and 1 of A are rows `row` and `row` + 8 of the first half of
    // K, registers 2 and 3 those of the second half.
    Value owner = rem(word, kLanesOfRow);
    Value isSecondHalf = isAtLeast(word, kLanesOfRow);
    auto ofHalf = [&](Value registers, int64_t first, int64_t second) -> Value {
      return select(isSecondHalf, extract(registers, second),
                    extract(registers, first));
    };
    Word found;
    for (int32_t i : {0, 1}) {
      found.a[i] = shuffle(ofHalf(a, i, i + 2), add(rowLanes, owner));
      if (!instruction.isSparse()) {
        found.b[i] = {shuffle(ofHalf(b, 0, 1), add(columnLanes[i], owner))};
        continue;
      }
      // Words 4 r, ..., 4 r + 3 of B are in register r. Words 2 w and 2 w + 1
      // are in one register, of two lanes beside each other.
      Value isUpper = isAtLeast(owner, kLanesOfRow / 2);
      Value ofWord = select(isUpper, ofHalf(b, 1, 3), ofHalf(b, 0, 2));
      Value firstOwner = mul(rem(word, kLanesOfRow / 2), 2);
      for (uint64_t j : {0, 1})
        found.b[i].push_back(
            shuffle(ofWord, add(add(columnLanes[i], firstOwner), integer(j))));
      // Lanes 0 and 1 of a row have the fields of the first half of K, lanes 2
      // and 3 those of the second half; odd lanes those of row `row` + 8. A
      // word of A has 8 of the 32 bits of a half.
      Value half = shiftLeft(div(word, kLanesOfRow), 1);
      Value fields = shuffle(metadata, add(add(rowLanes, half), integer(i)));
      found.fields[i] = shiftRight(fields, mul(owner, 8));
    }

    // One word has one scale: blocks are of 16 or 32 elements, words of 4 or 8.
    // A sparse A has as many kept ones.
    Value block = div(word, kWordsPerRow / instruction.scaleVec);
    Value aScaleBit = mul(add(aByte, block), 8);
    Value bScaleBit = mul(add(bByte, block), 8);
    for (int32_t i : {0, 1}) {
      found.aFactors[i] = decode(aScales[i], aScaleBit, instruction.scale);
      found.bFactors[i] = decode(bScales[i], bScaleBit, instruction.scale);
    }
    return emitWord(found, sums);
  });

  for (Value &sum : sums)
    sum = arith::TruncFOp::create(builder, builder.getF32Type(), sum);
  return sums;
}

static std::string getFunctionName(const Instruction &instruction) {
  return llvm::formatv(
      "emulated_mma_{0}_{1}_{2}_{3}_{4}_{5}x",
      instruction.isSparse() ? "sp" : "sync", stringifyKind(instruction.kind),
      getFormatInfo(instruction.a).ptxName,
      getFormatInfo(instruction.b).ptxName,
      getFormatInfo(instruction.scale).ptxName, instruction.scaleVec);
}

func::FuncOp blockscale::createEmulatedMma(Location loc,
                                           InstructionAttr attribute) {
  const Instruction &instruction = attribute.getInstruction();
  ImplicitLocOpBuilder builder(loc, attribute.getContext());
  Type i32 = builder.getI32Type();
  auto sums = VectorType::get({4}, builder.getF32Type());
  SmallVector<Type> arguments = {
      VectorType::get({4}, i32),
      VectorType::get({instruction.isSparse() ? 4 : 2}, i32), sums};
  // Metadata, and a register and two selectors for the scales of each operand.
  arguments.append(instruction.isSparse() ? 7 : 6, i32);
  auto type = builder.getFunctionType(arguments, sums);
  auto function =
      func::FuncOp::create(builder, getFunctionName(instruction), type);
  function.setPrivate();
  // Inlining would multiply a kernel's size. The first attribute is for MLIR's
  // inliner; the conversion to LLVM drops it and forwards the second one. Calls
  // are convergent only if the function has an attribute for that.
  function.setNoInline(true);
  function->setAttr("passthrough",
                    builder.getStrArrayAttr({"noinline", "convergent"}));
  // There are no pointers. The attribute keeps convert-gpu-to-nvvm from making
  // a wrapper for calls from C.
  function->setAttr("llvm.bareptr", builder.getUnitAttr());
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));

  builder.setInsertionPointToStart(function.addEntryBlock());
  SmallVector<Value> results =
      Emitter(builder, instruction).emit(function.getArguments());
  Value d = vector::FromElementsOp::create(builder, sums, results);
  func::ReturnOp::create(builder, d);
  return function;
}
