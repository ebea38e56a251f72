//===- EmulateMmaFunction.cpp - mma.sync in software ----------------------===//
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
// "... m16n8k64"; "Block Scaling for mma.sync", figures 42 to 45.
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
  // Every instruction has a row of A, and a column of B, in 8 registers: 2 of
  // each of the 4 lanes of that row. Word w is in register w / 4 of lane w % 4.
  static constexpr unsigned kWordsPerRow = 8;
  static constexpr int32_t kShuffleWidth = 32;

  Value extract(Value registers, int64_t index) {
    return vector::ExtractOp::create(builder, registers, index);
  }

  Value shuffle(Value value, Value lane);
  Value decode(Value word, Value firstBit, Format format);

  unsigned getSlotBits() const { return 32 * kWordsPerRow / instruction.k; }
  unsigned getFirstBit(Format format) const;

  /// Adds the products of the elements of one word, by ascending k.
  SmallVector<Value> emitWord(const Pair &aWords, const Pair &bWords,
                              const Pair &aFactors, const Pair &bFactors,
                              ValueRange wordSums);

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

SmallVector<Value> Emitter::emitWord(const Pair &aWords, const Pair &bWords,
                                     const Pair &aFactors, const Pair &bFactors,
                                     ValueRange wordSums) {
  unsigned elements = instruction.k / kWordsPerRow;
  return loop(elements, wordSums, [&](Value slot, ValueRange sums) {
    auto scaled = [&](Value word, Format format, Value factor) {
      Value firstBit =
          add(mul(slot, getSlotBits()), integer(getFirstBit(format)));
      return mul(decode(word, firstBit, format), factor);
    };
    Pair rows, columns;
    for (int32_t i : {0, 1}) {
      rows[i] = scaled(aWords[i], instruction.a, aFactors[i]);
      columns[i] = scaled(bWords[i], instruction.b, bFactors[i]);
    }
    SmallVector<Value> next;
    for (auto [r, sum] : llvm::enumerate(sums)) {
      auto [row, column] = getAccOffset(static_cast<int64_t>(r));
      next.push_back(arith::AddFOp::create(
          builder, sum, mul(rows[row / kGroupRows], columns[column])));
    }
    return next;
  });
}

SmallVector<Value> Emitter::emit(ValueRange arguments) {
  Value a = arguments[0], b = arguments[1], c = arguments[2];
  Value aScale = arguments[3], aByte = arguments[4], aThread = arguments[5];
  Value bScale = arguments[6], bByte = arguments[7], bThread = arguments[8];

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
    Value isSecondHalf = arith::CmpIOp::create(
        builder, arith::CmpIPredicate::uge, word, integer(kLanesOfRow));
    auto ofHalf = [&](Value registers, int64_t first, int64_t second) -> Value {
      return arith::SelectOp::create(builder, isSecondHalf,
                                     extract(registers, second),
                                     extract(registers, first));
    };
    Pair aWords, bWords;
    for (int32_t i : {0, 1}) {
      aWords[i] = shuffle(ofHalf(a, i, i + 2), add(rowLanes, owner));
      bWords[i] = shuffle(ofHalf(b, 0, 1), add(columnLanes[i], owner));
    }

    // One word has one scale: blocks are of 16 or 32 elements, words of 4 or 8.
    Value block = div(word, kWordsPerRow / instruction.scaleVec);
    Value aScaleBit = mul(add(aByte, block), 8);
    Value bScaleBit = mul(add(bByte, block), 8);
    Pair aFactors, bFactors;
    for (int32_t i : {0, 1}) {
      aFactors[i] = decode(aScales[i], aScaleBit, instruction.scale);
      bFactors[i] = decode(bScales[i], bScaleBit, instruction.scale);
    }

    return emitWord(aWords, bWords, aFactors, bFactors, sums);
  });

  for (Value &sum : sums)
    sum = arith::TruncFOp::create(builder, builder.getF32Type(), sum);
  return sums;
}

static std::string getFunctionName(const Instruction &instruction) {
  return llvm::formatv(
      "emulated_mma_sync_{0}_{1}_{2}_{3}_{4}x", stringifyKind(instruction.kind),
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
  auto type = builder.getFunctionType({VectorType::get({4}, i32),
                                       VectorType::get({2}, i32), sums, i32,
                                       i32, i32, i32, i32, i32},
                                      sums);
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
