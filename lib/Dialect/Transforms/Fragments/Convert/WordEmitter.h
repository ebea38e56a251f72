//===- WordEmitter.h - Arithmetic on registers ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short names for what code that takes registers apart writes all the time.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_CONVERT_WORDEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_CONVERT_WORDEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <map>
#include <memory>

namespace mlir::blockscale {

class WordEmitter {
public:
  /// Constants are made where the builder stands now, each once.
  WordEmitter(OpBuilder &b, Location loc)
      : b(b), loc(loc), constants(std::make_shared<Constants>()) {
    constants->zero = LLVM::ConstantOp::create(b, loc, b.getI32Type(), 0);
  }

  OpBuilder &b;
  Location loc;

  Value integer(uint32_t value) const {
    if (value == 0)
      return constants->zero;
    Value &known = constants->others[value];
    if (!known) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfterValue(constants->zero);
      known = LLVM::ConstantOp::create(
          b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
    }
    return known;
  }
  Value index(int64_t value) const {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value flag(bool value) const {
    return LLVM::ConstantOp::create(b, loc, b.getBoolAttr(value));
  }
  Value real(float value) const {
    return LLVM::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value bitAnd(Value x, uint32_t y) const { return bitAnd(x, integer(y)); }
  Value bitAnd(Value x, Value y) const {
    return LLVM::AndOp::create(b, loc, x, y);
  }
  Value bitOr(Value x, uint32_t y) const { return bitOr(x, integer(y)); }
  Value bitOr(Value x, Value y) const {
    return LLVM::OrOp::create(b, loc, x, y);
  }
  Value shiftLeft(Value x, unsigned by) const {
    return by == 0 ? x : LLVM::ShlOp::create(b, loc, x, integer(by));
  }
  Value shiftRight(Value x, unsigned by) const {
    return by == 0 ? x : LLVM::LShrOp::create(b, loc, x, integer(by));
  }
  Value add(Value x, uint32_t y) const { return add(x, integer(y)); }
  Value add(Value x, Value y) const {
    return LLVM::AddOp::create(b, loc, x, y);
  }
  Value subtract(Value x, Value y) const {
    return LLVM::SubOp::create(b, loc, x, y);
  }
  Value multiply(Value x, uint32_t y) const {
    return LLVM::MulOp::create(b, loc, x, integer(y));
  }
  Value isEqual(Value x, uint32_t y) const {
    return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, x, integer(y));
  }
  Value isDifferent(Value x, uint32_t y) const {
    return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, x, integer(y));
  }
  Value isAtLeast(Value x, uint32_t y) const {
    return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::uge, x,
                                integer(y));
  }
  /// The other one of a flag.
  Value negate(Value x) const {
    return LLVM::XOrOp::create(b, loc, x, flag(true));
  }
  Value select(Value condition, Value x, Value y) const {
    return LLVM::SelectOp::create(b, loc, condition, x, y);
  }
  /// `lane` and the like as a word.
  Value toWord(Value number) const {
    return arith::IndexCastUIOp::create(b, loc, b.getI32Type(), number);
  }

  /// The bytes that the nibbles of `selector` name, of `high` and `low` (PTX
  /// ISA, "prmt"): 0 to 3 are those of `low`, 4 to 7 those of `high` (zeros if
  /// it is null), and with bit 3 set, eight copies of that byte's sign.
  Value permute(Value low, Value high, Value selector) const {
    return NVVM::PermuteOp::create(
        b, loc, b.getI32Type(), low, high ? high : integer(0), selector,
        NVVM::PermuteModeAttr::get(b.getContext(), NVVM::PermuteMode::DEFAULT));
  }

  /// A word as a pair of bf16, and the reverse.
  Value toPair(Value word) const {
    auto pair = VectorType::get(2, b.getBF16Type());
    return LLVM::BitcastOp::create(b, loc, pair, word);
  }
  Value fromPair(Value pair) const {
    return LLVM::BitcastOp::create(b, loc, b.getI32Type(), pair);
  }
  Value multiplyPairs(Value x, Value y) const {
    return LLVM::FMulOp::create(b, loc, x, y);
  }

  /// What lane `from` has of `word`.
  Value shuffle(Value word, Value from) const {
    constexpr uint32_t kAllLanes = ~0u, kWholeWarp = 31;
    return NVVM::ShflOp::create(b, loc, b.getI32Type(), integer(kAllLanes),
                                word, from, integer(kWholeWarp),
                                NVVM::ShflKind::idx, UnitAttr());
  }
  /// Whether `flag` is true in all lanes, or in any.
  Value vote(NVVM::VoteSyncKind kind, Value flag) const {
    constexpr uint32_t kAllLanes = ~0u;
    return NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), integer(kAllLanes),
                                    flag, kind);
  }

private:
  struct Constants {
    Value zero;
    std::map<uint32_t, Value> others;
  };
  std::shared_ptr<Constants> constants;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_CONVERT_WORDEMITTER_H
