//===- ExpandSparse.cpp - Sparse products as dense ones -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dense product with the decompressed x differs from the sparse one if y has
// NaN or infinity: a zero that was not kept makes NaN of it. So NaN and
// infinity of y are replaced by +1 or -1, and two more products count what they
// would have contributed, on operands of 0, 1 and -1:
//
//   count[m, n]: how many kept elements of row m meet one of them in column n;
//   sum[m, n]: the same for infinities, times the signs of both factors. A kept
//              zero or NaN counts as 0.
//
// Where count is 0, the dense product is the result. Where |sum| is count, all
// of these terms are infinities of one sign, which is added; else they add up
// to NaN. Counts are exact in f32. The replacement has the sign of the infinity
// and is not 0, so that it does no harm beside an infinite x.
//
// NaN in a scale reaches all products of its block, of which something is
// always kept.
//
//===----------------------------------------------------------------------===//

#include "Selection/ExpandSparse.h"

#include "Reference/SparseEmitter.h"
#include "Utils/BlockMap.h"
#include "Utils/OperandSpecials.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace mlir::blockscale;

using IP = ArithEmitter::IP;

/// The block size of products of counts, which have e4m3 elements.
static constexpr int64_t kCountBlock = 32;

/// The code of 1.0.
static unsigned getOne(Format format) {
  const FormatInfo &info = getFormatInfo(format);
  return static_cast<unsigned>(info.bias) << info.mantissaBits;
}

static unsigned getSignBit(Format format) {
  return 1u << (getFormatInfo(format).bits - 1);
}

namespace {
/// Tests for the codes of a format that are not finite.
struct Specials {
  SparseEmitter &emit;
  const FormatInfo &info;

  Specials(SparseEmitter &emit, Format format)
      : emit(emit), info(getFormatInfo(format)) {}

  Value magnitude(Value code) const {
    return emit.bitAnd(code, info.magnitudeMask());
  }
  /// The magnitude of infinity; that of NaN is larger, or the largest one.
  uint64_t getInfinity() const {
    return info.magnitudeMask() + 1 - (uint64_t(1) << info.mantissaBits);
  }
  Value isInfinity(Value code) const {
    if (info.special != SpecialCodes::Ieee)
      return emit.flag(false);
    return emit.isEqual(magnitude(code), getInfinity());
  }
  Value isNaN(Value code) const {
    switch (info.special) {
    case SpecialCodes::None:
      return emit.flag(false);
    case SpecialCodes::AllOnesNaN:
      return emit.isEqual(magnitude(code), info.magnitudeMask());
    case SpecialCodes::Ieee:
      return emit.is(IP::ugt, magnitude(code), getInfinity());
    }
    llvm_unreachable("special codes without a row");
  }
};

/// What replaces one sparse product.
class Expansion {
public:
  Expansion(OpBuilder &b, SparseMmaScaledOp op)
      : b(b), op(op), loc(op.getLoc()), units(op.getUnits()),
        xFormat(getFormat(op.getX())), yFormat(getFormat(op.getY())),
        yView(traceOperand(op.getY())) {}

  /// Whether the format of y has infinity, beside NaN.
  bool hasInfinity() const {
    return getFormatInfo(yFormat).special == SpecialCodes::Ieee;
  }

  Value build() {
    Value dense = DecompressOp::create(b, loc, op.getX(), op.getMetadata(),
                                       op.getGranularity().getValue());
    int64_t block = getDenseTypes(op).blockSize;
    Value xScale = op.getXScale(), yScale = op.getYScale();
    if (block != op.getBlock()) {
      xScale = repeatScales(xScale, getRank(xScale) - 1);
      yScale = repeatScales(yScale, getRank(yScale) - 2);
    }
    bool hasSpecials = mayHaveSpecials(op.getY());
    Value y = hasSpecials ? replaceSpecials() : op.getY();
    auto product = MmaScaledOp::create(b, loc, dense, xScale, y, yScale,
                                       op.getAcc(), block);
    // It is checked as that of any other product.
    if (Attribute path = op->getAttr(kPathAttrName))
      product->setAttr(kPathAttrName, path);
    if (!hasSpecials)
      return product;
    Value ones = countProduct(markKept(/*withSigns=*/false),
                              markSpecials(/*onlyInfinity=*/false));
    Value signs = hasInfinity()
                      ? countProduct(markKept(/*withSigns=*/true),
                                     markSpecials(/*onlyInfinity=*/true))
                      : Value();
    return addSpecials(product, ones, signs);
  }

private:
  static Format getFormat(Value value) {
    return *getElementFormat(getElementTypeOrSelf(value.getType()));
  }
  static int64_t getRank(Value value) {
    return cast<ShapedType>(value.getType()).getRank();
  }
  AffineMap getIdentity(unsigned rank) {
    return b.getMultiDimIdentityMap(rank);
  }

  Value generate(ArrayRef<OpFoldResult> sizes, Type element, ValueRange inputs,
                 ArrayRef<AffineMap> maps,
                 function_ref<Value(SparseEmitter &, ValueRange)> body) {
    Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
    return computeElements(
        b, loc, inputs, maps, empty,
        [&](OpBuilder &inner, Location bodyLoc, ValueRange args) {
          SparseEmitter emit(inner, bodyLoc, units);
          return body(emit, args);
        });
  }

  Value repeatScales(Value scales, unsigned dim) {
    OperandView view = traceOperand(scales);
    SmallVector<OpFoldResult> sizes = getOperandSizes(b, loc, scales, view);
    AffineExpr d0 = b.getAffineDimExpr(0);
    sizes[dim] =
        affine::makeComposedFoldedAffineApply(b, loc, d0 * 2, {sizes[dim]});
    SmallVector<AffineExpr> exprs;
    for (unsigned i = 0; i != sizes.size(); ++i) {
      AffineExpr expr = b.getAffineDimExpr(i);
      exprs.push_back(i == dim ? expr.floorDiv(2) : expr);
    }
    AffineMap map = view.map.compose(
        AffineMap::get(sizes.size(), 0, exprs, b.getContext()));
    return generate(sizes, getElementTypeOrSelf(scales.getType()), view.tensor,
                    map,
                    [](SparseEmitter &, ValueRange args) { return args[0]; });
  }

  /// Computes each element of a matrix like y from its code.
  Value mapY(Type element, function_ref<Value(SparseEmitter &, Value)> body) {
    return generate(
        getOperandSizes(b, loc, op.getY(), yView), element, yView.tensor,
        yView.map, [&](SparseEmitter &emit, ValueRange args) {
          return emit.toElement(body(emit, emit.toCode(args[0])), element);
        });
  }

  /// y with 1.0, with the sign of y, for NaN and infinity.
  Value replaceSpecials() {
    Type type = getElementTypeOrSelf(op.getY().getType());
    return mapY(type, [&](SparseEmitter &emit, Value code) {
      Specials specials(emit, yFormat);
      Value isSpecial =
          emit.bitOr(specials.isNaN(code), specials.isInfinity(code));
      Value sign = emit.bitAnd(code, getSignBit(yFormat));
      return emit.select(isSpecial, emit.bitOr(sign, getOne(yFormat)), code);
    });
  }

  /// 1.0 for NaN and infinity of y, or the signs of infinity; else 0.
  Value markSpecials(bool onlyInfinity) {
    return mapY(getMarkType(), [&](SparseEmitter &emit, Value code) {
      Specials specials(emit, yFormat);
      Value one = emit.integer(getOne(Format::E4M3));
      Value isMarked = specials.isInfinity(code);
      if (onlyInfinity)
        one = emit.bitOr(one, getSign(emit, code, yFormat));
      else
        isMarked = emit.bitOr(isMarked, specials.isNaN(code));
      return emit.select(isMarked, one, emit.integer(0));
    });
  }

  /// 1.0 for elements of the dense x that are kept, or their signs, with 0 for
  /// NaN and zero; 0 for others.
  Value markKept(bool withSigns) {
    OperandView x = traceOperand(op.getX());
    OperandView metadata = traceOperand(op.getMetadata());
    SmallVector<OpFoldResult> sizes =
        scaleLastSize(b, loc, getOperandSizes(b, loc, op.getX(), x),
                      kUnitsPerChunk, kKeptUnits);
    unsigned rank = sizes.size();
    AffineMap bytes = metadata.map.compose(
        getBlockMap(b.getContext(), rank, units.elementsPerByte()));
    return generate(sizes, getMarkType(), metadata.tensor, bytes,
                    [&](SparseEmitter &emit, ValueRange args) {
                      SmallVector<Value> at = getLoopIndices(emit.b, loc, rank);
                      Value k = at.back(), chunk = emit.getChunk(k);
                      Value unit = emit.toInteger(emit.getUnit(k));
                      Value field = emit.getField(args[0], chunk);
                      Value code = emit.integer(0);
                      for (unsigned i = 0; i != kKeptUnits; ++i) {
                        Value isHere =
                            emit.is(IP::eq, emit.getPosition(field, i), unit);
                        Value mark = emit.integer(getOne(Format::E4M3));
                        if (withSigns)
                          mark = getSignMark(emit, x, at, chunk, i);
                        code = emit.select(isHere, mark, code);
                      }
                      return emit.toElement(code, getMarkType());
                    });
  }

  /// The sign of the kept element `i` of `chunk`, as 1.0 or -1.0; 0 for NaN and
  /// zero.
  Value getSignMark(SparseEmitter &emit, const OperandView &x,
                    ArrayRef<Value> position, Value chunk, unsigned i) {
    SmallVector<Value> at(position);
    at.back() = emit.join(chunk, emit.index(i), emit.getInUnit(position.back()),
                          kKeptUnits);
    SmallVector<Value> physical;
    for (AffineExpr expr : x.map.getResults())
      physical.push_back(emit.apply(expr, at));
    Value code =
        emit.toCode(tensor::ExtractOp::create(emit.b, loc, x.tensor, physical));
    Value isZero = emit.bitOr(emit.isZero(code, xFormat),
                              Specials(emit, xFormat).isNaN(code));
    Value one = emit.bitOr(getSign(emit, code, xFormat), getOne(Format::E4M3));
    return emit.select(isZero, emit.integer(0), one);
  }

  /// The sign of a code, as the sign bit of a mark.
  static Value getSign(SparseEmitter &emit, Value code, Format format) {
    Value isNegative =
        emit.isDifferent(emit.bitAnd(code, getSignBit(format)), 0);
    return emit.select(isNegative, emit.integer(getSignBit(Format::E4M3)),
                       emit.integer(0));
  }

  Type getMarkType() { return Float8E4M3FNType::get(b.getContext()); }

  Value fill(ArrayRef<OpFoldResult> sizes, TypedAttr value) {
    Value empty = tensor::EmptyOp::create(b, loc, sizes, value.getType());
    Value scalar = arith::ConstantOp::create(b, loc, value);
    return linalg::FillOp::create(b, loc, scalar, empty).getResult(0);
  }

  /// Scales of 1.0 for `marks`, whose K is dimension `dim`.
  Value makeUnitScales(Value marks, unsigned dim) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, marks);
    AffineExpr d0 = b.getAffineDimExpr(0);
    sizes[dim] = affine::makeComposedFoldedAffineApply(
        b, loc, d0.floorDiv(kCountBlock), {sizes[dim]});
    return fill(sizes,
                b.getFloatAttr(Float8E8M0FNUType::get(b.getContext()), 1.0));
  }

  Value countProduct(Value x, Value y) {
    Value zero = fill(tensor::getMixedSizes(b, loc, op.getAcc()),
                      b.getF32FloatAttr(0.0));
    return MmaScaledOp::create(b, loc, x, makeUnitScales(x, getRank(x) - 1), y,
                               makeUnitScales(y, getRank(y) - 2), zero,
                               kCountBlock);
  }

  Value addSpecials(Value product, Value ones, Value signs) {
    SmallVector<Value> inputs = {product, ones};
    if (signs)
      inputs.push_back(signs);
    SmallVector<AffineMap> maps(inputs.size(), getIdentity(getRank(product)));
    Value sum = generate(
        tensor::getMixedSizes(b, loc, op.getAcc()), b.getF32Type(), inputs,
        maps, [&](SparseEmitter &emit, ValueRange args) {
          using FP = ArithEmitter::FP;
          Value special = emit.number(std::numeric_limits<double>::quiet_NaN());
          if (signs) {
            constexpr double kInfinity =
                std::numeric_limits<double>::infinity();
            Value isPositive = emit.is(FP::OEQ, args[2], args[1]);
            Value isNegative = emit.is(FP::OEQ, emit.neg(args[2]), args[1]);
            special = emit.select(isNegative, emit.number(-kInfinity), special);
            special = emit.select(isPositive, emit.number(kInfinity), special);
          }
          Value isAny = emit.is(FP::OGT, args[1], 0.0);
          return emit.select(isAny, emit.add(args[0], special), args[0]);
        });
    return convertFromTensor(b, loc, sum, op.getType());
  }

  OpBuilder &b;
  SparseMmaScaledOp op;
  Location loc;
  const GranularityInfo &units;
  Format xFormat, yFormat;
  OperandView yView;
};
} // namespace

/// The block size of a dense product is half of it, with each scale twice, if
/// there are no dense blocks of this size.
TypeCombination blockscale::getDenseTypes(SparseMmaScaledOp op) {
  TypeCombination types = op.getTypes();
  types.sparsity.reset();
  if (!isLegal(types))
    types.blockSize /= 2;
  return types;
}

unsigned blockscale::getNumDenseProducts(SparseMmaScaledOp op) {
  if (!mayHaveSpecials(op.getY()))
    return 1;
  return getFormatInfo(op.getTypes().rhs).special == SpecialCodes::Ieee ? 3 : 2;
}

void blockscale::expandSparse(SparseMmaScaledOp op,
                              InFlightDiagnostic &remark) {
  OpBuilder builder(op);
  Expansion expansion(builder, op);
  remark << "; x is decompressed for a dense product";
  if (int64_t block = getDenseTypes(op).blockSize; block != op.getBlock())
    remark << " with blocks of " << block;
  if (mayHaveSpecials(op.getY()))
    remark << ", and what NaN"
           << (expansion.hasInfinity()
                   ? " and infinity of y contribute is counted by two more "
                     "products"
                   : " of y contributes is counted by one more product")
           << ", which a y of fp6 or fp4, or one that the program quantizes, "
              "does not need";
  op.replaceAllUsesWith(expansion.build());
  op.erase();
}
