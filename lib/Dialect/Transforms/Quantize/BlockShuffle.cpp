//===- BlockShuffle.cpp - Blocks to lanes ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two exchanges; in each, a lane sends half of its data to the lane that
// differs in one bit.
//
//===----------------------------------------------------------------------===//

#include "Quantize/BlockShuffle.h"

#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

BlockShuffle::BlockShuffle(OpBuilder &b, Location loc, Value lane)
    : ArithEmitter(b, loc) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  SmallVector<Value> bits =
      applyExprs(b, loc, {d0 % 2, d0.floorDiv(2) % 2}, lane);
  isOdd = isDifferent(bits[0], 0);
  isUpper = isDifferent(bits[1], 0);
}

Value BlockShuffle::permute(Value low, Value high, uint32_t selector) {
  return NVVM::PermuteOp::create(
      b, loc, b.getI32Type(), low, high, integer(selector),
      NVVM::PermuteModeAttr::get(b.getContext(), NVVM::PermuteMode::DEFAULT));
}

SmallVector<Value> BlockShuffle::transpose(ArrayRef<Value> words) {
  constexpr int64_t kOdd = 1, kUpper = 2;
  // The parts of the two blocks of this lane's half: from this lane, and from
  // the one in the other half.
  std::array<Value, 2> own, other;
  for (size_t i : {0, 1}) {
    own[i] = select(isUpper, words[i + 2], words[i]);
    other[i] =
        emitShuffle(b, loc, select(isUpper, words[i], words[i + 2]), kUpper);
  }
  // The parts from the lanes of a half, the even lane first.
  auto exchange = [&](const std::array<Value, 2> &of) {
    Value kept = select(isOdd, of[1], of[0]);
    Value got = emitShuffle(b, loc, select(isOdd, of[0], of[1]), kOdd);
    return std::array{select(isOdd, got, kept), select(isOdd, kept, got)};
  };
  std::array<Value, 2> near = exchange(own), far = exchange(other);
  SmallVector<Value> lanes;
  for (size_t i : {0, 1})
    lanes.push_back(select(isUpper, far[i], near[i]));
  for (size_t i : {0, 1})
    lanes.push_back(select(isUpper, near[i], far[i]));
  return lanes;
}

SmallVector<Value> BlockShuffle::emit(ArrayRef<SmallVector<Value>> words,
                                      int64_t pairs, unsigned codeBits) {
  // Selectors of PTX ISA, "prmt": the low halves of two words, the high halves,
  // and their bytes interleaved.
  constexpr uint32_t kLow = 0x5410, kHigh = 0x7632;
  static constexpr uint32_t kBytes[] = {0x5140, 0x7362};
  constexpr int64_t kWordBits = 32, kByte = 8;
  int64_t pairBits = 2 * codeBits, perWord = kWordBits / pairBits;
  SmallVector<Value> block;
  for (size_t i = 0; i != words.front().size(); ++i) {
    SmallVector<Value> ofBlocks = llvm::map_to_vector(
        words, [&](const SmallVector<Value> &of) { return of[i]; });
    SmallVector<Value> lanes = transpose(ofBlocks);
    int64_t left = std::min(perWord, pairs - static_cast<int64_t>(i) * perWord);
    if (pairBits != kByte) {
      for (uint32_t half : {kLow, kHigh})
        for (size_t lane : {0, 2})
          block.push_back(permute(lanes[lane], lanes[lane + 1], half));
      continue;
    }
    for (uint32_t bytes : ArrayRef(kBytes).take_front(left / 2)) {
      Value first = permute(lanes[0], lanes[1], bytes);
      Value second = permute(lanes[2], lanes[3], bytes);
      for (uint32_t half : {kLow, kHigh})
        block.push_back(permute(first, second, half));
    }
  }
  return block;
}
