//===- ExpandCasts.cpp - Casts of narrow floats as arithmetic -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Casts to and from floats of at most 8 bits have no instructions on most
// machines, f64 to bf16 has none on a CPU, and upstream's constant folders
// change NaN and infinity. So all of these casts become exact arithmetic before
// any folder runs.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_EXPANDCASTSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Which casts are rewritten
//===----------------------------------------------------------------------===//

/// The most elements of constants that are cast at compile time.
static constexpr int64_t kMaxFoldedElements = 1 << 16;

static FloatType getFloatType(Type type) {
  return dyn_cast<FloatType>(getElementTypeOrSelf(type));
}

/// The format of `type`, including f16 and bf16.
static std::optional<Format> getFormat(Type type) {
  for (auto lookup : {getElementFormat, getScaleFormat, getHighPrecisionFormat})
    if (std::optional<Format> format = lookup(type))
      return format;
  return std::nullopt;
}

static bool isNarrow(FloatType type) { return type.getWidth() <= 8; }

/// Whether `type` is a type of the table, or one for arithmetic.
static bool isKnown(FloatType type) {
  return type && (type.isF32() || type.isF64() || getFormat(type));
}

static bool isScaling(Operation *op) {
  return isa<arith::ScalingExtFOp, arith::ScalingTruncFOp>(op);
}

/// Whether the pass rewrites or refuses the op.
static bool isRewritten(Operation *op) {
  if (isScaling(op))
    return true;
  if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
    return false;
  FloatType from = getFloatType(op->getOperand(0).getType());
  FloatType to = getFloatType(op->getResult(0).getType());
  if (!isKnown(from) || !isKnown(to))
    return false;
  // f64 to 16 bits must round once on all targets; machines have the other
  // casts.
  return isNarrow(from) || isNarrow(to) ||
         (from.isF64() && to.getWidth() == 16);
}

static LogicalResult checkRounding(Operation *op) {
  auto rounding = dyn_cast<arith::ArithRoundingModeInterface>(op);
  arith::RoundingModeAttr mode =
      rounding ? rounding.getRoundingModeAttr() : arith::RoundingModeAttr();
  if (!mode || mode.getValue() == arith::RoundingMode::to_nearest_even)
    return success();
  return op->emitError("not supported in this version: expected '")
         << op->getName() << "' to round to_nearest_even, got "
         << arith::stringifyRoundingMode(mode.getValue());
}

static LogicalResult checkScaling(Operation *op) {
  for (Type type : {op->getOperand(0).getType(), op->getResult(0).getType()})
    if (!isKnown(getFloatType(type)))
      return op->emitError("not supported in this version: '")
             << op->getName() << "' on " << getElementTypeOrSelf(type);
  FloatType scale = getFloatType(op->getOperand(1).getType());
  if (isa<Float8E8M0FNUType>(scale) || (isKnown(scale) && !isNarrow(scale)))
    return success();
  return op->emitError("not supported in this version: expected '")
         << op->getName()
         << "' with a scale of f8E8M0FNU, f16, bf16, f32 or f64, got " << scale;
}

//===----------------------------------------------------------------------===//
// The arithmetic
//===----------------------------------------------------------------------===//

namespace {

/// Emits casts of scalars, or of vectors or tensors of static shape.
class CastEmitter {
public:
  CastEmitter(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  /// `value` as `to`, rounded at most once.
  Value cast(Value value, FloatType to) {
    FloatType from = getFloatType(value.getType());
    if (from == to)
      return value;
    if (isNarrow(from)) {
      // In f32, the values of all formats except e8m0 are normal.
      bool isWide = to.isF64() || isa<Float8E8M0FNUType>(from);
      Value number = emitDecode(b, loc, toCode(value), *getFormat(from),
                                isWide ? b.getF64Type() : b.getF32Type());
      return cast(number, to);
    }
    if (isNarrow(to) || (from.isF64() && to.getWidth() == 16))
      return fromCode(emitEncode(b, loc, value, *getFormat(to), Overflow::Ieee),
                      to);
    Type type = withShapeOf(value, to);
    if (from.getWidth() < to.getWidth())
      return arith::ExtFOp::create(b, loc, type, value);
    if (from.getWidth() > to.getWidth())
      return arith::TruncFOp::create(b, loc, type, value);
    // bf16 and f16.
    return cast(cast(value, b.getF32Type()), to);
  }

  /// `value` times the scale, or divided by it, as `to`.
  Value castScaled(Value value, Value scale, FloatType to, bool divides) {
    if (!isa<Float8E8M0FNUType>(getFloatType(scale.getType())))
      scale = cast(scale, b.getType<Float8E8M0FNUType>());
    Value code = toCode(scale);
    if (divides) {
      // The codes of 2^-e and 2^e add up to 254. NaN, which is 255, is mapped
      // to itself modulo 256.
      Value sum = constantLike(code, 254);
      code = arith::SubIOp::create(b, loc, sum, code);
    }
    // Products with a power of two are exact in f64, except far below the
    // values of `to`.
    Value factor = emitDecode(b, loc, code, Format::UE8M0, b.getF64Type());
    Value product =
        arith::MulFOp::create(b, loc, cast(value, b.getF64Type()), factor);
    return cast(product, to);
  }

private:
  static Type withShapeOf(Value value, Type element) {
    auto shape = dyn_cast<ShapedType>(value.getType());
    return shape ? Type(shape.clone(element)) : element;
  }

  Value constantLike(Value code, uint64_t value) {
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(code), value);
    if (auto shape = dyn_cast<ShapedType>(code.getType()))
      attr = DenseElementsAttr::get(shape, attr);
    return arith::ConstantOp::create(b, loc, attr);
  }

  /// Converts a narrow float to a byte with its code, and the result of
  /// `emitEncode` to a float.
  Value toCode(Value value) {
    unsigned width = getFloatType(value.getType()).getWidth();
    Value code = arith::BitcastOp::create(
        b, loc, withShapeOf(value, b.getIntegerType(width)), value);
    if (width < 8)
      code = arith::ExtUIOp::create(b, loc, withShapeOf(code, b.getI8Type()),
                                    code);
    return code;
  }
  Value fromCode(Value code, FloatType to) {
    if (to.getWidth() < 8)
      code = arith::TruncIOp::create(
          b, loc, withShapeOf(code, b.getIntegerType(to.getWidth())), code);
    return arith::BitcastOp::create(b, loc, withShapeOf(code, to), code);
  }

  OpBuilder &b;
  Location loc;
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct ExpandCastsPass final
    : mlir::blockscale::impl::ExpandCastsPassBase<ExpandCastsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> casts;
    WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
      if (failed(checkRounding(op)) ||
          (isScaling(op) && failed(checkScaling(op))))
        return WalkResult::interrupt();
      if (isRewritten(op))
        casts.push_back(op);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (Operation *op : casts) {
      if (isa<UnrankedTensorType>(op->getResult(0).getType()))
        continue;
      op = becomesLoop(op) ? makeLoop(op) : op;
      rewrite(op);
    }
  }

private:
  /// Casts of tensors become a loop over elements, unless they can be folded.
  static bool becomesLoop(Operation *op) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type)
      return false;
    return !type.hasStaticShape() ||
           type.getNumElements() > kMaxFoldedElements ||
           !llvm::all_of(op->getOperands(), [](Value value) {
             DenseElementsAttr attr;
             return matchPattern(value, m_Constant(&attr));
           });
  }

  /// Moves the cast into a `linalg.generic`, and returns it.
  static Operation *makeLoop(Operation *op) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim != type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(tensor::DimOp::create(b, loc, op->getOperand(0), dim));
    Value init = tensor::EmptyOp::create(b, loc, type, sizes);
    SmallVector<AffineMap> maps(
        op->getNumOperands() + 1,
        AffineMap::getMultiDimIdentityMap(type.getRank(), b.getContext()));
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    Operation *inner = nullptr;
    auto generic = linalg::GenericOp::create(
        b, loc, type, op->getOperands(), init, maps, iterators,
        [&](OpBuilder &b, Location loc, ValueRange elements) {
          inner = b.clone(*op);
          inner->setOperands(elements.drop_back());
          inner->getResult(0).setType(type.getElementType());
          linalg::YieldOp::create(b, loc, inner->getResult(0));
        });
    op->replaceAllUsesWith(generic);
    op->erase();
    return inner;
  }

  static void rewrite(Operation *op) {
    OpBuilder builder(op);
    CastEmitter emit(builder, op->getLoc());
    FloatType to = getFloatType(op->getResult(0).getType());
    Value result = isScaling(op)
                       ? emit.castScaled(op->getOperand(0), op->getOperand(1),
                                         to, isa<arith::ScalingTruncFOp>(op))
                       : emit.cast(op->getOperand(0), to);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
};

} // namespace
