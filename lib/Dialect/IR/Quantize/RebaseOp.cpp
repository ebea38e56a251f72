//===- RebaseOp.cpp - One scale for each row ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verifier, and the numbers of each format, which are computed from the
// table of formats.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/Rebase.h"

#include "NamedShape.h"
#include "SizeChecker.h"
#include "blockscale/Dialect/IR/ScaleRules.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

uint32_t blockscale::getFirstSpecial(Format element) {
  uint32_t magnitude = 0, mask = getFormatInfo(element).magnitudeMask();
  while (magnitude <= mask && std::isfinite(decode(element, magnitude)))
    ++magnitude;
  return magnitude;
}

Format blockscale::getRebasedFormat(Format element) {
  return getLargestNumber(element) <= getLargestNumber(Format::E4M3)
             ? Format::E4M3
             : Format::E5M2;
}

Type blockscale::getRebasedType(MLIRContext *context, Format element) {
  if (getRebasedFormat(element) == Format::E4M3)
    return Float8E4M3FNType::get(context);
  return Float8E5M2Type::get(context);
}

int blockscale::getRebaseShift(Format element) {
  return std::ilogb(getLargestNumber(getRebasedFormat(element)) /
                    getLargestNumber(element));
}

int blockscale::getRebaseUnderflow(Format element) {
  // Half of the smallest element is a tie, which becomes zero.
  double smallest = decode(getRebasedFormat(element), 1);
  return std::ilogb(smallest / 2) - getLargestExponent(element) - 1;
}

//===----------------------------------------------------------------------===//
// rebase
//===----------------------------------------------------------------------===//

Format RebaseOp::getElementFormat() {
  return *blockscale::getElementFormat(
      getElements().getType().getElementType());
}

Format RebaseOp::getRebasedFormat() {
  return blockscale::getRebasedFormat(getElementFormat());
}

void RebaseOp::build(OpBuilder &builder, OperationState &state, Value elements,
                     Value scales, int64_t blockSize) {
  auto type = cast<RankedTensorType>(elements.getType());
  Format format = *blockscale::getElementFormat(type.getElementType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = 1;
  build(builder, state,
        type.clone(getRebasedType(builder.getContext(), format)),
        RankedTensorType::get(shape, builder.getF32Type()), elements, scales,
        static_cast<uint64_t>(blockSize));
}

/// (H2): sizes of `value` are those of the elements, except for the last one,
/// if `columns` is given. An inferred type has the same sizes as the elements.
static LogicalResult verifyShape(RebaseOp op, const NamedShape &value,
                                 std::optional<int64_t> columns,
                                 bool isInferred) {
  ShapedType elements = op.getElements().getType(), type = value.type();
  int64_t rank = elements.getRank();
  auto isRight = [&](int64_t dim) {
    int64_t got = type.getDimSize(dim), expected = elements.getDimSize(dim);
    if (columns && dim == rank - 1)
      expected = *columns;
    return got == expected ||
           (!isInferred &&
            (ShapedType::isDynamic(got) || ShapedType::isDynamic(expected)));
  };
  if (type.getRank() == rank &&
      llvm::all_of(llvm::seq<int64_t>(0, rank), isRight))
    return success();
  InFlightDiagnostic error = op.emitOpError("expected ") << value.name;
  if (columns)
    error << " to have the rows of elements, and ";
  if (!columns)
    error << " to have the shape of elements";
  else if (ShapedType::isDynamic(*columns))
    error << "any number of columns";
  else
    error << *columns << (*columns == 1 ? " column" : " columns");
  return error << ", got " << type << " with " << elements;
}

LogicalResult RebaseOp::verify() {
  NamedShape elements = {"elements", getElements()},
             scales = {"scales", getScales()},
             rebased = {"rebased", getRebased()},
             rowScales = {"row_scales", getRowScales()};
  if (failed(verifySameKind(*this, {elements, scales, rebased, rowScales})))
    return failure();
  for (const NamedShape &value : {elements, scales, rebased, rowScales}) // (H5)
    if (llvm::is_contained(value.type().getShape(), 0))
      return emitOpError("expected all sizes to be at least 1, got ")
             << value.type() << " for " << value.name;
  constexpr int64_t kLeast = 16, kMost = 128; // (H3)
  auto block = static_cast<int64_t>(getBlockSize());
  if (block < kLeast || block > kMost || !llvm::isPowerOf2_64(block))
    return emitOpError("expected a block size of 16, 32, 64 or 128, got ")
           << block;
  int64_t k = elements.type().getShape().back();
  int64_t blocks =
      ShapedType::isDynamic(k) ? k : llvm::divideCeilSigned(k, block);
  if (failed(verifyShape(*this, scales, blocks, /*isInferred=*/false)) ||
      failed(verifyShape(*this, rebased, std::nullopt, /*isInferred=*/true)) ||
      failed(verifyShape(*this, rowScales, 1, /*isInferred=*/true)))
    return failure();
  Type type = getRebased().getType().getElementType(); // (H4)
  Type expected = getRebasedType(getContext(), getElementFormat());
  if (type == expected)
    return success();
  return emitOpError("expected rebased elements of ")
         << expected << " for " << getElements().getType().getElementType()
         << ", got " << type;
}

/// Ops with dynamic sizes may fail at run time, so they stay where they are.
Speculation::Speculatability RebaseOp::getSpeculatability() {
  return hasStaticShapes(getOperation()) ? Speculation::Speculatable
                                         : Speculation::NotSpeculatable;
}

LogicalResult
RebaseOp::reifyResultShapes(OpBuilder &builder,
                            ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getElements());
  reifiedReturnShapes = {sizes, sizes};
  reifiedReturnShapes[1].back() = builder.getIndexAttr(1);
  return success();
}

void RebaseOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  if (hasStaticShapes(getOperation()))
    return;
  SizeChecker check(builder, loc, getOperation(), generateErrorMessage);
  auto block = static_cast<int64_t>(getBlockSize());
  int64_t rank = getElements().getType().getRank();
  for (int64_t dim = 0; dim != rank; ++dim) {
    bool isK = dim + 1 == rank;
    if (isK && isDynamic(getElements(), dim))
      check.expect(check.isPositive(check.getSize(getElements(), dim)),
                   "K to be at least 1");
    if (!isDynamic(getElements(), dim) && !isDynamic(getScales(), dim))
      continue;
    Value size = check.getSize(getElements(), dim);
    if (isK)
      size = check.apply(builder.getAffineDimExpr(0).ceilDiv(block),
                         {OpFoldResult(size)});
    check.expect(check.isEqual(size, check.getSize(getScales(), dim)),
                 "scales of blocks of " + Twine(block) + " of the elements");
  }
}
