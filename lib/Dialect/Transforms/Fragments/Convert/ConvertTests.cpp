//===- ConvertTests.cpp - Infinities and NaN among codes ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What no arithmetic on scales can tell. Three instructions for four codes,
// each of which one thread of the block looks at.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Convert/ConvertTests.h"

#include "Fragments/Convert/Formats.h"
#include "Fragments/Convert/WordEmitter.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr uint32_t kBytes = 0x01010101, kByteSigns = 0x80808080;

namespace {
/// Looks at words of codes of one format.
class SpecialTest {
public:
  SpecialTest(WordEmitter emit, Format format)
      : emit(emit), first(getCodeFormat(format).firstSpecial) {}

  bool isNeeded() const { return first != 0; }

  /// All bits that special codes have in common with the sign, and then one in
  /// the lowest of the bits that decide: the sign's place overflows.
  void add(Value word) {
    uint32_t lowest = first & -first;
    uint32_t ones = (0x80 | (lowest - 1)) * kBytes;
    Value sum = emit.add(emit.bitOr(word, ones), lowest * kBytes);
    kept = kept ? emit.bitAnd(kept, sum) : sum;
  }

  Value isFound() const {
    return emit.isDifferent(emit.bitAnd(kept, kByteSigns), kByteSigns);
  }

private:
  WordEmitter emit;
  unsigned first;
  Value kept;
};
} // namespace

/// Adds what the calling thread looks at of `memory`, all of which is codes.
static void addShare(const WordEmitter &emit, SpecialTest &test, Value memory,
                     int64_t numThreads) {
  OpBuilder &b = emit.b;
  Value flat = memref::CollapseShapeOp::create(
      b, emit.loc, memory, ArrayRef<ReassociationIndices>{{0, 1}});
  int64_t chunks =
      cast<MemRefType>(flat.getType()).getNumElements() / kChunkBytes;
  Value thread = gpu::ThreadIdOp::create(b, emit.loc, gpu::Dimension::x);
  AffineExpr d0 = b.getAffineDimExpr(0);
  for (int64_t done = 0; done < chunks; done += numThreads) {
    Value number = addIndex(b, emit.loc, thread, done);
    if (done + numThreads > chunks)
      number =
          arith::MinUIOp::create(b, emit.loc, number, emit.index(chunks - 1));
    Value at = applyExprs(b, emit.loc, {d0 * kChunkBytes}, number)[0];
    Value bytes = vector::LoadOp::create(
        b, emit.loc, VectorType::get(kChunkBytes, b.getI8Type()), flat, at,
        /*nontemporal=*/false, llvm::MaybeAlign(kChunkBytes));
    constexpr int64_t kWords = kChunkBytes / 4;
    Value words = vector::BitCastOp::create(
        b, emit.loc, VectorType::get(kWords, b.getI32Type()), bytes);
    for (int64_t i = 0; i != kWords; ++i)
      test.add(vector::ExtractOp::create(b, emit.loc, words, i));
  }
}

Value blockscale::emitHasSpecials(OpBuilder &b, TileMmaOp op,
                                  int64_t numThreads) {
  WordEmitter emit{b, op.getLoc()};
  RowAttr row = op.getRow();
  Value found;
  for (auto [format, memory] : {std::make_pair(row.getA(), op.getA()),
                                std::make_pair(row.getB(), op.getB())}) {
    SpecialTest test(emit, format);
    if (!test.isNeeded())
      continue;
    addShare(emit, test, memory, numThreads);
    found = found ? emit.bitOr(found, test.isFound()) : test.isFound();
  }
  if (!found)
    return {};
  Type i32 = b.getI32Type();
  Value flag = arith::ExtUIOp::create(b, op.getLoc(), i32, found);
  Value any =
      NVVM::BarrierOp::create(b, op.getLoc(), TypeRange(i32), Value(), Value(),
                              NVVM::BarrierReductionAttr::get(
                                  b.getContext(), NVVM::BarrierReduction::OR),
                              flag)
          .getResult(0);
  return emit.isDifferent(any, 0);
}

Value blockscale::emitHasSpecials(OpBuilder &b, Location loc,
                                  const OperandFragments &fragments,
                                  Format format) {
  WordEmitter emit{b, loc};
  SpecialTest test(emit, format);
  if (!test.isNeeded())
    return {};
  for (const SmallVector<Value> &steps : fragments.registers)
    for (Value registers : steps)
      for (int64_t i = 0,
                   e = cast<VectorType>(registers.getType()).getNumElements();
           i != e; ++i)
        test.add(vector::ExtractOp::create(b, loc, registers, i));
  return emit.vote(NVVM::VoteSyncKind::any, test.isFound());
}
