//===- Words.h - Bits of words ----------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codes of a word are moved and masked all at once.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_STAGING_WORDS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_STAGING_WORDS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::blockscale {

/// Creates ops on words of 32 bits.
class Words {
public:
  Words(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value constant(uint32_t value) const {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  template <typename Op>
  Value apply(Value x, uint32_t y) const {
    Value other = constant(y);
    return Op::create(b, loc, x, other);
  }
  Value bitAnd(Value x, uint32_t y) const { return apply<arith::AndIOp>(x, y); }
  Value shiftLeft(Value x, uint32_t by) const {
    return by == 0 ? x : apply<arith::ShLIOp>(x, by);
  }
  Value shiftRight(Value x, uint32_t by) const {
    return by == 0 ? x : apply<arith::ShRUIOp>(x, by);
  }
  Value bitOr(Value x, Value y) const {
    return arith::OrIOp::create(b, loc, x, y);
  }

private:
  OpBuilder &b;
  Location loc;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_STAGING_WORDS_H
