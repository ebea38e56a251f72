//===- DecomposeRebase.cpp - rebase as loops ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference semantics of `rebase` in upstream ops: the largest code of each
// row, then scales of rows, then elements.
//
//===----------------------------------------------------------------------===//

#include "Quantize/BlockArithmetic.h"
#include "Utils/BlockMap.h"
#include "Utils/OperandView.h"
#include "Utils/PackedElements.h"
#include "blockscale/Dialect/IR/Rebase.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class RebaseDecomposition {
public:
  RebaseDecomposition(RebaseOp op, RewriterBase &rewriter)
      : op(op), rewriter(rewriter), loc(op.getLoc()),
        elements(getOperandView(rewriter, loc, op.getElements())),
        scales(getOperandView(rewriter, loc, op.getScales())),
        sizes(getOperandSizes(rewriter, loc, op.getElements(), elements)),
        rank(sizes.size()), format(op.getElementFormat()),
        shift(getRebaseShift(format)) {}

  void rewrite() {
    Value largest = makeLargest();
    Value rowScales = generate(getRowSizes(), rewriter.getF32Type(), largest,
                               rewriter.getMultiDimIdentityMap(rank),
                               [&](BlockArithmetic &arithmetic, ValueRange of) {
                                 return emitRowScale(arithmetic, of[0]);
                               });
    AffineMap block = getBlockMap(rewriter.getContext(), rank, getBlock());
    Value rebased =
        generate(sizes, op.getRebased().getType().getElementType(),
                 {elements.tensor, scales.tensor, largest},
                 {elements.map, scales.map.compose(block), getRowMap()},
                 [&](BlockArithmetic &arithmetic, ValueRange of) {
                   return emitElement(arithmetic, of[0], of[1], of[2]);
                 });
    rewriter.replaceOp(op, {convertFromTensor(rewriter, loc, rebased,
                                              op.getRebased().getType()),
                            convertFromTensor(rewriter, loc, rowScales,
                                              op.getRowScales().getType())});
  }

private:
  using Body = function_ref<Value(BlockArithmetic &, ValueRange)>;

  int64_t getBlock() { return static_cast<int64_t>(op.getBlockSize()); }

  SmallVector<OpFoldResult> getRowSizes() {
    SmallVector<OpFoldResult> result(sizes);
    result.back() = rewriter.getIndexAttr(1);
    return result;
  }

  /// From a position to that of its row in a tensor of one column.
  AffineMap getRowMap() {
    AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
    SmallVector<AffineExpr> exprs(identity.getResults());
    exprs.back() = rewriter.getAffineConstantExpr(0);
    return AffineMap::get(rank, 0, exprs, rewriter.getContext());
  }

  Value generate(ArrayRef<OpFoldResult> of, Type type, ValueRange inputs,
                 ArrayRef<AffineMap> maps, Body body) {
    Value empty = tensor::EmptyOp::create(rewriter, loc, of, type);
    return computeElements(rewriter, loc, inputs, maps, empty,
                           [&](OpBuilder &b, Location inner, ValueRange args) {
                             BlockArithmetic arithmetic(b, inner);
                             return body(arithmetic, args);
                           });
  }

  static Value toCode(BlockArithmetic &arithmetic, Value element) {
    OpBuilder &b = arithmetic.b;
    Value bits = arith::BitcastOp::create(
        b, arithmetic.loc,
        b.getIntegerType(element.getType().getIntOrFloatBitWidth()), element);
    return arithmetic.widen(bits);
  }

  /// The largest code of each row of scales, as i32 of one column.
  Value makeLargest() {
    Value count = getValueOrCreateConstantIndexOp(
        rewriter, loc,
        getOperandSizes(rewriter, loc, op.getScales(), scales).back());
    return generate(
        getRowSizes(), rewriter.getI32Type(), {}, {},
        [&](BlockArithmetic &arithmetic, ValueRange) {
          OpBuilder &b = arithmetic.b;
          SmallVector<Value> position = getLoopIndices(b, loc, rank);
          auto loop =
              scf::ForOp::create(b, loc, arithmetic.index(0), count,
                                 arithmetic.index(1), arithmetic.integer(0));
          OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
          BlockArithmetic ofBody(inner, loc);
          position.back() = loop.getInductionVar();
          SmallVector<Value> at = applyMap(inner, loc, scales.map, position);
          Value code = toCode(
              ofBody, tensor::ExtractOp::create(inner, loc, scales.tensor, at));
          scf::YieldOp::create(inner, loc,
                               ofBody.maxU(loop.getRegionIterArg(0), code));
          return loop.getResult(0);
        });
  }

  /// Exact, as the smallest f32 is 2^-149.
  Value emitRowScale(BlockArithmetic &arithmetic, Value largest) const {
    Value scale = arithmetic.decode(Format::UE8M0, largest);
    return arithmetic.mul(scale, std::ldexp(1.0, -shift));
  }

  Value emitElement(BlockArithmetic &arithmetic, Value element, Value scale,
                    Value largest) {
    constexpr int kBias = 127;
    Type type = op.getRebased().getType().getElementType();
    Value code = toCode(arithmetic, element);
    Value exponent = arithmetic.add(
        arithmetic.sub(toCode(arithmetic, scale), largest), shift);
    // Lower powers make zeros, too, but f32 may lack them.
    exponent = arithmetic.maxS(exponent, getRebaseUnderflow(format));
    Value power = arithmetic.fromBits(arithmetic.shiftLeft(
        arithmetic.add(exponent, kBias), kF32MantissaBits));
    Value value = arithmetic.mul(arithmetic.decode(format, code), power);
    Value rebased = arithmetic.encode(getRebasedFormat(format), value);
    const FormatInfo &info = getFormatInfo(format);
    if (uint32_t special = getFirstSpecial(format);
        special <= info.magnitudeMask()) {
      Value magnitude = arithmetic.bitAnd(code, info.magnitudeMask());
      rebased = arithmetic.select(arithmetic.isAtLeast(magnitude, special),
                                  code, rebased);
    }
    return arith::BitcastOp::create(
        arithmetic.b, arithmetic.loc, type,
        arithmetic.narrow(rebased, type.getIntOrFloatBitWidth()));
  }

  RebaseOp op;
  RewriterBase &rewriter;
  Location loc;
  OperandView elements, scales;
  SmallVector<OpFoldResult> sizes;
  unsigned rank;
  Format format;
  int shift;
};
} // namespace

static LogicalResult decomposeRebase(RebaseOp op, PatternRewriter &rewriter) {
  RebaseDecomposition(op, rewriter).rewrite();
  return success();
}

void blockscale::populateDecomposeRebasePatterns(RewritePatternSet &patterns) {
  patterns.add(decomposeRebase);
}
