//===- SpecialScan.cpp - Scan for infinities and NaN ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scales cannot prove that there are no infinities or NaN, so elements are
// scanned. This takes three instructions for four elements, and each element is
// scanned by one thread of the block.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/SpecialScan.h"

#include "Fragments/Dequantize/SpecialTest.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

namespace {
/// A piece is 16 bytes of an operand for each thread.
class TileScan final : public SpecialScan {
public:
  TileScan(OpBuilder &b, TileMmaOp op, int64_t numThreads)
      : emit{b, op.getLoc()}, numThreads(numThreads) {
    TypeCombinationAttr types = op.getTypes();
    for (auto [format, memory] : {std::make_pair(types.getA(), op.getA()),
                                  std::make_pair(types.getB(), op.getB())}) {
      // High-precision operands are multiplied unchanged.
      if (getFormatInfo(format).use == FormatUse::HighPrecision)
        continue;
      SpecialTest test(emit, format);
      if (!test.isNeeded())
        continue;
      int64_t chunks =
          cast<MemRefType>(memory.getType()).getNumElements() / kChunkBytes;
      auto rounds = llvm::divideCeilSigned(chunks, numThreads);
      operands.push_back({memory, chunks, unsigned(rounds), test});
    }
  }

  unsigned getNumPieces() const override {
    unsigned count = 0;
    for (const Scanned &operand : operands)
      count += operand.rounds;
    return count;
  }

  void begin() override {
    thread = gpu::ThreadIdOp::create(emit.b, emit.loc, gpu::Dimension::x);
    for (Scanned &operand : operands)
      operand.test.reset();
  }

  void emitPiece(unsigned number) override {
    for (Scanned &operand : operands) {
      if (number < operand.rounds)
        return addRound(operand, number);
      number -= operand.rounds;
    }
  }

  Value isFound() override {
    Value found = operands.front().test.isFound();
    for (const Scanned &operand : ArrayRef(operands).drop_front())
      found = emit.bitOr(found, operand.test.isFound());
    return found;
  }

  Value isFoundByAny(Value isFound) override {
    Type i32 = emit.b.getI32Type();
    Value flag = arith::ExtUIOp::create(emit.b, emit.loc, i32, isFound);
    auto reduction = NVVM::BarrierReductionAttr::get(
        emit.b.getContext(), NVVM::BarrierReduction::OR);
    Value any = NVVM::BarrierOp::create(emit.b, emit.loc, TypeRange(i32),
                                        Value(), Value(), reduction, flag)
                    .getResult(0);
    return emit.isDifferent(any, 0);
  }

private:
  struct Scanned {
    Value memory;
    int64_t chunks;
    unsigned rounds;
    SpecialTest test;
  };

  void addRound(Scanned &operand, unsigned round) {
    OpBuilder &b = emit.b;
    // Contiguous, see (T1).
    auto type = cast<MemRefType>(operand.memory.getType());
    int64_t size = type.getNumElements();
    auto flatType =
        MemRefType::get(size, type.getElementType(),
                        MemRefLayoutAttrInterface(), type.getMemorySpace());
    Value flat = memref::ReinterpretCastOp::create(
        b, emit.loc, flatType, operand.memory, /*offset=*/int64_t(0),
        ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
    Value number = addIndex(b, emit.loc, thread, round * numThreads);
    if ((round + 1) * numThreads > operand.chunks)
      number = arith::MinUIOp::create(b, emit.loc, number,
                                      emit.index(operand.chunks - 1));
    AffineExpr d0 = b.getAffineDimExpr(0);
    Value at = applyExpr(b, emit.loc, d0 * kChunkBytes, number);
    for (Value word : loadWords(b, emit.loc, flat, at, kChunkBytes))
      operand.test.add(word);
  }

  WordEmitter emit;
  int64_t numThreads;
  SmallVector<Scanned> operands;
  Value thread;
};
} // namespace

SpecialScanPtr blockscale::makeTileScan(OpBuilder &b, TileMmaOp op,
                                        int64_t numThreads) {
  auto scan = std::make_unique<TileScan>(b, op, numThreads);
  if (scan->getNumPieces() == 0)
    return nullptr;
  return scan;
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

namespace {
/// A piece is all fragments of an operand.
class FragmentScan final : public SpecialScan {
public:
  FragmentScan(OpBuilder &b, Location loc, const TypeCombination &types,
               const OperandFragments &x, const OperandFragments &y)
      : emit{b, loc} {
    for (auto [format, fragments] :
         {std::make_pair(types.lhs, &x), std::make_pair(types.rhs, &y)})
      if (SpecialTest(emit, format).isNeeded())
        operands.emplace_back(format, fragments);
  }

  unsigned getNumPieces() const override { return operands.size(); }

  void begin() override { found = nullptr; }

  void emitPiece(unsigned number) override {
    auto [format, fragments] = operands[number];
    SpecialTest test(emit, format);
    for (const SmallVector<Value> &steps : fragments->registers)
      for (Value registers : steps)
        for (Value word : extractElements(emit.b, emit.loc, registers))
          test.add(word);
    found = found ? emit.bitOr(found, test.isFound()) : test.isFound();
  }

  Value isFound() override { return found; }

  Value isFoundByAny(Value isFound) override {
    return emit.vote(NVVM::VoteSyncKind::any, isFound);
  }

private:
  WordEmitter emit;
  SmallVector<std::pair<Format, const OperandFragments *>> operands;
  Value found;
};
} // namespace

SpecialScanPtr blockscale::makeFragmentScan(OpBuilder &b, Location loc,
                                            const TypeCombination &types,
                                            const OperandFragments &x,
                                            const OperandFragments &y) {
  auto scan = std::make_unique<FragmentScan>(b, loc, types, x, y);
  if (scan->getNumPieces() == 0)
    return nullptr;
  return scan;
}
