//===- AtomLayout.cpp - Layouts in atoms ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtomLayout.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

int64_t blockscale::countAtoms(int64_t size, int64_t extent) {
  return ShapedType::isDynamic(size) ? size
                                     : llvm::divideCeilSigned(size, extent);
}

OpFoldResult blockscale::countAtoms(OpBuilder &builder, Location loc,
                                    OpFoldResult size, int64_t extent) {
  OpFoldResult atoms = affine::makeComposedFoldedAffineApply(
      builder, loc, builder.getAffineDimExpr(0).ceilDiv(extent), {size});
  // A negative size, in an invalid program, does not become static.
  if (getConstantIntValue(atoms).value_or(0) < 0)
    return getValueOrCreateConstantIndexOp(builder, loc, atoms);
  return atoms;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult blockscale::verifyInAtoms(Operation *op, ShapedType rowMajor,
                                        const NamedShape &inAtoms,
                                        ArrayRef<int64_t> expected,
                                        StringRef layout, bool isInferred) {
  ArrayRef<int64_t> shape = inAtoms.type().getShape();
  bool matches = expected.size() == shape.size();
  for (auto [want, got] : llvm::zip(expected, shape))
    matches &= want == got || (!isInferred && (ShapedType::isDynamic(want) ||
                                               ShapedType::isDynamic(got)));
  // The atom itself is never dynamic.
  matches &= shape.size() >= 2 && shape.take_back(2) == expected.take_back(2);
  if (matches)
    return success();
  std::string text;
  for (int64_t size : expected)
    text += (text.empty() ? "" : "x") +
            (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return op->emitOpError("expected ")
         << inAtoms.name << " to have shape " << text << ", the " << layout
         << " of " << rowMajor << ", got " << inAtoms.type();
}

LogicalResult blockscale::verifyNumSizes(Operation *op, ShapedType result,
                                         ValueRange sizes) {
  if (sizes.size() == result.getNumDynamicDims())
    return success();
  return op->emitOpError("expected ")
         << result.getNumDynamicDims() << " sizes, one for each dynamic size "
         << "of " << result << ", got " << sizes.size();
}

void blockscale::checkLeast(SizeChecker &check, ArrayRef<OpFoldResult> sizes,
                            int64_t dim, StringRef lastName) {
  // There may be no rows.
  int64_t least = dim + 1 == static_cast<int64_t>(sizes.size()) ? 1 : 0;
  if (auto size = dyn_cast<Value>(sizes[dim]))
    check.expect(check.isAtLeast(size, least),
                 "sizes of at least 0, and " + lastName + " of at least 1");
}

void blockscale::checkAtoms(SizeChecker &check, Value source, int64_t dim,
                            Value atoms) {
  check.expect(check.isEqual(atoms, check.getSize(source, dim)),
               "sizes that round up to the atoms of the source");
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

bool blockscale::canReplace(Value original, Value result) {
  return original.getType() == result.getType() && original != result;
}

bool blockscale::fillsAtoms(ShapedType rowMajor, ArrayRef<int64_t> extents) {
  return rowMajor.hasStaticShape() &&
         llvm::all_of_zip(
             rowMajor.getShape().take_back(2), extents,
             [](int64_t size, int64_t extent) { return size % extent == 0; });
}

LogicalResult blockscale::replaceByOriginal(PatternRewriter &rewriter,
                                            Operation *op,
                                            ArrayRef<OpFoldResult> sizes,
                                            Value original, StringRef inverse) {
  if (!original)
    return rewriter.notifyMatchFailure(op, "source is not " + inverse);
  if (original == op->getResult(0))
    return rewriter.notifyMatchFailure(op, "cycle in a graph region");
  if (!isa<RankedTensorType>(original.getType()))
    return rewriter.notifyMatchFailure(op, "vectors are left to the folder");
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    FailureOr<bool> equal = ValueBoundsConstraintSet::areEqual(
        ValueBoundsConstraintSet::Variable(size),
        ValueBoundsConstraintSet::Variable(original,
                                           static_cast<int64_t>(dim)));
    if (failed(equal) || !*equal)
      return rewriter.notifyMatchFailure(op, "sizes may differ");
  }
  Type type = op->getResult(0).getType();
  if (original.getType() == type)
    rewriter.replaceOp(op, original);
  else
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, type, original);
  return success();
}

MixedShape blockscale::useConstantSizes(
    ArrayRef<int64_t> rowMajor, ValueRange sizes, ArrayRef<int64_t> inAtoms,
    function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> getInAtoms) {
  MixedShape result{SmallVector<int64_t>(rowMajor), {}};
  auto isPossible = [&](int64_t size) {
    if (size < 1)
      return false;
    for (auto [want, got] : llvm::zip(getInAtoms(result.shape), inAtoms))
      if (want != got && !ShapedType::isDynamic(want) &&
          !ShapedType::isDynamic(got))
        return false;
    return true;
  };
  for (int64_t &size : result.shape) {
    if (!ShapedType::isDynamic(size))
      continue;
    Value operand = sizes.front();
    sizes = sizes.drop_front();
    std::optional<int64_t> constant = getConstantIntValue(operand);
    size = constant.value_or(ShapedType::kDynamic);
    if (constant && isPossible(*constant))
      continue;
    size = ShapedType::kDynamic;
    result.sizes.push_back(operand);
  }
  return result;
}
