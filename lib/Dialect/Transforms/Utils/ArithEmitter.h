//===- ArithEmitter.h - Short names for arithmetic --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short names for ops of arith, for code with much arithmetic on registers and
// encodings of floats. They work for integers and floats, and accept constants
// as operands.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_ARITHEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_ARITHEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

#include <map>
#include <memory>

namespace mlir::blockscale {

class ArithEmitter {
public:
  using FP = arith::CmpFPredicate;
  using IP = arith::CmpIPredicate;

  /// Emits arithmetic on floats of `type` (f32 if it is null) and on integers
  /// of as many bits, or on vectors or tensors of them with the static shape of
  /// `shape`.
  ArithEmitter(OpBuilder &b, Location loc, FloatType type = {}, Type shape = {})
      : b(b), loc(loc), type(type ? type : FloatType(b.getF32Type())),
        bits(b.getIntegerType(this->type.getWidth())),
        shape(dyn_cast_or_null<ShapedType>(shape)) {}

  Type withShape(Type element) const {
    ShapedType of = shape;
    return of ? Type(of.clone(element)) : element;
  }

  //===--------------------------------------------------------------------===//
  // Constants
  //===--------------------------------------------------------------------===//

  Value integer(uint64_t value) const {
    return constant(withShape(bits), value);
  }
  Value number(double value) const { return constant(withShape(type), value); }
  Value flag(bool value) const { return constant(b.getI1Type(), value); }
  Value index(int64_t value) const {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  //===--------------------------------------------------------------------===//
  // Operations whose second operand is a value, or a constant
  //===--------------------------------------------------------------------===//

#define BLOCKSCALE_BINARY(name, ...)                                           \
  template <typename Y>                                                        \
  Value name(Value x, const Y &y) const {                                      \
    return emit<__VA_ARGS__>(x, y);                                            \
  }
  BLOCKSCALE_BINARY(add, arith::AddIOp, arith::AddFOp)
  BLOCKSCALE_BINARY(sub, arith::SubIOp, arith::SubFOp)
  BLOCKSCALE_BINARY(mul, arith::MulIOp, arith::MulFOp)
  BLOCKSCALE_BINARY(bitAnd, arith::AndIOp)
  BLOCKSCALE_BINARY(bitOr, arith::OrIOp)
  BLOCKSCALE_BINARY(bitXor, arith::XOrIOp)
  BLOCKSCALE_BINARY(shiftLeft, arith::ShLIOp)
  // Unsigned integers.
  BLOCKSCALE_BINARY(div, arith::DivUIOp, arith::DivFOp)
  BLOCKSCALE_BINARY(rem, arith::RemUIOp)
  BLOCKSCALE_BINARY(shiftRight, arith::ShRUIOp)
  BLOCKSCALE_BINARY(minU, arith::MinUIOp)
  BLOCKSCALE_BINARY(maxU, arith::MaxUIOp)
  // Signed integers.
  BLOCKSCALE_BINARY(shiftRightSigned, arith::ShRSIOp)
  BLOCKSCALE_BINARY(minS, arith::MinSIOp)
  BLOCKSCALE_BINARY(maxS, arith::MaxSIOp)
#undef BLOCKSCALE_BINARY

  template <typename Y>
  Value is(FP predicate, Value x, const Y &y) const {
    return arith::CmpFOp::create(b, loc, predicate, x, get(x, y));
  }
  template <typename Y>
  Value is(IP predicate, Value x, const Y &y) const {
    return arith::CmpIOp::create(b, loc, predicate, x, get(x, y));
  }

  //===--------------------------------------------------------------------===//
  // Others
  //===--------------------------------------------------------------------===//

  Value isEqual(Value x, uint64_t y) const { return is(IP::eq, x, y); }
  Value isDifferent(Value x, uint64_t y) const { return is(IP::ne, x, y); }
  Value isAtLeast(Value x, uint64_t y) const { return is(IP::uge, x, y); }
  Value isNaN(Value x) const { return is(FP::UNO, x, x); }
  /// Negates a float.
  Value neg(Value x) const { return arith::NegFOp::create(b, loc, x); }
  /// The logical negation of a flag.
  Value negate(Value x) const { return bitXor(x, true); }
  Value select(Value condition, Value x, Value y) const {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  /// The encoding of a float, and the reverse.
  Value toBits(Value x) const {
    return arith::BitcastOp::create(b, loc, withShape(bits), x);
  }
  Value fromBits(Value x) const {
    return arith::BitcastOp::create(b, loc, withShape(type), x);
  }
  /// Zero-extends an integer of fewer bits, and the reverse.
  Value widen(Value x) const {
    return arith::ExtUIOp::create(b, loc, withShape(bits), x);
  }
  Value narrow(Value x, unsigned width) const {
    return arith::TruncIOp::create(b, loc, withShape(b.getIntegerType(width)),
                                   x);
  }

  OpBuilder &b;
  Location loc;
  FloatType type;
  IntegerType bits;

protected:
  /// From now on, each i32 constant is created only once, at the current
  /// insertion point: unrolled code uses the same constants thousands of times.
  void keepConstants() {
    kept = std::make_shared<Kept>();
    kept->zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(b.getI32Type()));
  }

private:
  struct Kept {
    Value zero;
    std::map<uint32_t, Value> others;
  };

  template <typename T>
  Value constant(Type type, T value) const {
    Type element = getElementTypeOrSelf(type);
    if constexpr (std::is_integral_v<T>)
      if (kept && type.isInteger(32))
        return getKept(static_cast<uint32_t>(value));
    TypedAttr attribute;
    if (element.isIntOrIndex())
      attribute = b.getIntegerAttr(
          element,
          APInt(element.isIndex() ? 64 : element.getIntOrFloatBitWidth(),
                static_cast<uint64_t>(value), /*isSigned=*/false,
                /*implicitTrunc=*/true));
    else
      attribute = b.getFloatAttr(element, static_cast<double>(value));
    if (auto shaped = dyn_cast<ShapedType>(type))
      attribute = DenseElementsAttr::get(shaped, Attribute(attribute));
    return arith::ConstantOp::create(b, loc, attribute);
  }
  Value getKept(uint32_t value) const {
    Value &known = value == 0 ? kept->zero : kept->others[value];
    if (!known) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfterValue(kept->zero);
      known = arith::ConstantOp::create(
          b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
    }
    return known;
  }
  /// The second operand for `x`: a value, or a constant of the type of `x`.
  template <typename Y>
  Value get(Value x, const Y &y) const {
    if constexpr (std::is_arithmetic_v<Y>)
      return constant(x.getType(), y);
    else
      return y;
  }
  template <typename IntegerOp, typename FloatOp = IntegerOp, typename Y>
  Value emit(Value x, const Y &y) const {
    Value other = get(x, y);
    if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
      return FloatOp::create(b, loc, x, other);
    return IntegerOp::create(b, loc, x, other);
  }

  ShapedType shape;
  /// Shared by copies of the emitter.
  std::shared_ptr<Kept> kept;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_ARITHEMITTER_H
