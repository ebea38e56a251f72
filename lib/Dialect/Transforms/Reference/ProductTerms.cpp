//===- ProductTerms.cpp - Products as one sum of terms --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Reference/ProductTerms.h"

#include "Reference/ScaledProduct.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/Accumulation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

static constexpr StringLiteral kLicensedSum = "licensed_sum";

std::optional<LicensedSum> blockscale::getLicensedSum(Operation *op) {
  auto attr = op->getAttrOfType<ArrayAttr>(kLicensedSum);
  if (!attr)
    return std::nullopt;
  auto number = [&](unsigned i) {
    return cast<FloatAttr>(attr[i]).getValueAsDouble();
  };
  return LicensedSum{static_cast<int64_t>(number(0)), number(1), number(2)};
}

void blockscale::unmarkLicensedSum(Operation *op) {
  op->removeAttr(kLicensedSum);
}

namespace {
/// One operand of a product, dequantized.
struct Terms {
  Value values;
  AffineMap map;
  /// The smallest normal numbers, see the header.
  Value floors = {};
  AffineMap floorMap = {};
  double move = 0;
};

class TermsBuilder {
public:
  TermsBuilder(PatternRewriter &rewriter, MmaScaledOp op)
      : rewriter(rewriter), op(op), loc(op.getLoc()),
        product(rewriter, op, op.getAcc()) {}

  void replace() {
    Terms x = decode(Side::X), y = decode(Side::Y);
    AccumulateAttr licence = op.getAccumulateAttr();
    if (!licence) {
      product.replaceByTerms(x.values, y.values);
      return;
    }
    int64_t piece = licence.getChunk();
    for (Side side : {Side::X, Side::Y})
      if (!licence.getRebase())
        piece = getFinerBlock(piece, op.getBlockShape(side).k);
    addFloors(Side::X, x, licence.getRebase());
    addFloors(Side::Y, y, licence.getRebase());
    Operation *sum = product.replaceByTerms(
        x.values, y.values, {x.floors, y.floors}, {x.floorMap, y.floorMap});
    sum->setAttr(
        kLicensedSum,
        rewriter.getF64ArrayAttr({static_cast<double>(piece), x.move, y.move}));
  }

private:
  Terms decode(Side side) {
    bool isX = side == Side::X;
    Value values = decode(side, isX ? op.getX() : op.getY());
    return {values, isX ? product.getXMap(values) : product.getYMap(values)};
  }

  /// `elements`, of the sizes of the operand, times the scales.
  Value decode(Side side, Value elements) {
    auto rank = static_cast<unsigned>(op.getMatrixType(side).getRank());
    return product.decode(
        elements, side == Side::X ? op.getXScale() : op.getYScale(),
        MmaScaledOp::getRowDim(side, rank), MmaScaledOp::getKDim(side, rank),
        op.getBlockShape(side));
  }

  /// Tensor cores read fp8 as it is; other elements are values of e4m3, too.
  void addFloors(Side side, Terms &terms, bool rebase) {
    Type type = op.getMatrixType(side).getElementType();
    if (!isa<Float8E5M2Type>(type))
      type = Float8E4M3FNType::get(rewriter.getContext());
    auto smallest =
        FloatAttr::get(type, APFloat::getSmallestNormalized(
                                 cast<FloatType>(type).getFloatSemantics()));
    terms.floors = decode(side, fillLike(side, smallest));
    terms.floorMap = terms.map;
    if (!rebase)
      return;
    unsigned k = MmaScaledOp::getKDim(side, terms.map.getNumResults());
    terms.floors = findLargest(terms.floors, k);
    terms.floorMap = terms.map.dropResult(k);
    terms.move = std::ldexp(1.0, -kRebaseBits) / smallest.getValueAsDouble();
  }

  Value fillLike(Side side, FloatAttr number) {
    ShapedType type = op.getMatrixType(side).clone(number.getType());
    if (type.hasStaticShape())
      return arith::ConstantOp::create(rewriter, loc,
                                       SplatElementsAttr::get(type, number));
    Value scalar = arith::ConstantOp::create(rewriter, loc, number);
    Value like = side == Side::X ? op.getX() : op.getY();
    return tensor::SplatOp::create(rewriter, loc, scalar,
                                   tensor::getMixedSizes(rewriter, loc, like));
  }

  /// The largest magnitudes along dimension `dim`, which is gone then.
  Value findLargest(Value values, unsigned dim) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, values);
    size_t rank = sizes.size();
    sizes.erase(sizes.begin() + dim);
    Value zero =
        arith::ConstantOp::create(rewriter, loc, rewriter.getF64FloatAttr(0.0));
    Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, zero.getType());
    Value zeros =
        linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
    AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    iterators[dim] = utils::IteratorType::reduction;
    return linalg::GenericOp::create(
               rewriter, loc, zeros.getType(), values, zeros,
               ArrayRef<AffineMap>{identity, identity.dropResult(dim)},
               iterators,
               [](OpBuilder &b, Location bodyLoc, ValueRange args) {
                 Value magnitude = math::AbsFOp::create(b, bodyLoc, args[0]);
                 Value largest =
                     arith::MaximumFOp::create(b, bodyLoc, args[1], magnitude);
                 linalg::YieldOp::create(b, bodyLoc, largest);
               })
        .getResult(0);
  }

  PatternRewriter &rewriter;
  MmaScaledOp op;
  Location loc;
  ScaledProduct product;
};
} // namespace

static LogicalResult decomposeProductTerms(MmaScaledOp op,
                                           PatternRewriter &rewriter) {
  if (!op.hasCoarseScales() && !op.getAccumulateAttr())
    return rewriter.notifyMatchFailure(op, "neither coarse scales nor licence");
  TermsBuilder(rewriter, op).replace();
  return success();
}

void blockscale::populateDecomposeProductTermsPatterns(
    RewritePatternSet &patterns) {
  patterns.add(decomposeProductTerms, /*benefit=*/2);
}
