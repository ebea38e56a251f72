//===- Word.h - Arithmetic on integers --------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators that emit ops, so that formulas of addresses and fields can be
// written as in the PTX ISA and compared with it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_WORD_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_WORD_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blockscale {

/// An unsigned 32-bit word. Operators emit arithmetic on it at the insertion
/// point of the builder. Conditions are `i1` values.
struct Word {
  Word(ImplicitLocOpBuilder &b, Value value) : b(&b), value(value) {}
  Word(ImplicitLocOpBuilder &b, int64_t number)
      : b(&b), value(arith::ConstantOp::create(
                   b, b.getI32IntegerAttr(static_cast<int32_t>(number)))) {}

  operator Value() const { return value; }

  /// Bits `first` to `first + count - 1`.
  Word field(unsigned first, unsigned count) const;
  Word isEqual(int64_t number) const {
    return compare(arith::CmpIPredicate::eq, {*b, number});
  }
  Word isDifferent(int64_t number) const {
    return compare(arith::CmpIPredicate::ne, {*b, number});
  }
  Word isAtMost(int64_t number) const {
    return compare(arith::CmpIPredicate::ule, {*b, number});
  }
  Word compare(arith::CmpIPredicate predicate, const Word &other) const {
    return {*b, b->createOrFold<arith::CmpIOp>(predicate, value, other.value)};
  }
  /// For a condition.
  Word select(const Word &yes, const Word &no) const {
    return {*b, b->createOrFold<arith::SelectOp>(value, yes.value, no.value)};
  }

  ImplicitLocOpBuilder *b;
  Value value;
};

/// For two words, or two conditions.
template <typename Op>
Word combine(const Word &x, const Word &y) {
  return {*x.b, x.b->createOrFold<Op>(x.value, y.value)};
}

#define BLOCKSCALE_WORD_OPERATOR(sign, Op)                                     \
  inline Word operator sign(const Word &x, const Word &y) {                    \
    return combine<Op>(x, y);                                                  \
  }                                                                            \
  inline Word operator sign(const Word &x, int64_t y) {                        \
    return combine<Op>(x, Word(*x.b, y));                                      \
  }
BLOCKSCALE_WORD_OPERATOR(+, arith::AddIOp)
BLOCKSCALE_WORD_OPERATOR(-, arith::SubIOp)
BLOCKSCALE_WORD_OPERATOR(*, arith::MulIOp)
BLOCKSCALE_WORD_OPERATOR(&, arith::AndIOp)
BLOCKSCALE_WORD_OPERATOR(|, arith::OrIOp)
BLOCKSCALE_WORD_OPERATOR(^, arith::XOrIOp)
BLOCKSCALE_WORD_OPERATOR(<<, arith::ShLIOp)
BLOCKSCALE_WORD_OPERATOR(>>, arith::ShRUIOp)
#undef BLOCKSCALE_WORD_OPERATOR

inline Word Word::field(unsigned first, unsigned count) const {
  return (*this >> first) & ((int64_t(1) << count) - 1);
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_WORD_H
