//===- AtomLayout.h - Layouts in atoms --------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ops to and from a layout in atoms share: swizzle_scales with
// unswizzle_scales, and tile_metadata with untile_metadata. An op from such a
// layout has operands for the dynamic sizes of its row-major result.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_ATOMLAYOUT_H
#define BLOCKSCALE_LIB_DIALECT_IR_ATOMLAYOUT_H

#include "NamedShape.h"
#include "SizeChecker.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// The atoms of `extent` that hold `size`. A dynamic size stays dynamic.
int64_t countAtoms(int64_t size, int64_t extent);
OpFoldResult countAtoms(OpBuilder &builder, Location loc, OpFoldResult size,
                        int64_t extent);

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// (S2), (U2), (N2), (V2): `inAtoms` has the shape `expected`, which ends with
/// the two sizes of an atom, and which messages call the `layout` of
/// `rowMajor`. Unless `isInferred`, a dynamic size matches a static one.
LogicalResult verifyInAtoms(Operation *op, ShapedType rowMajor,
                            const NamedShape &inAtoms,
                            ArrayRef<int64_t> expected, StringRef layout,
                            bool isInferred);

/// `sizes` has one value for each dynamic size of `result`.
LogicalResult verifyNumSizes(Operation *op, ShapedType result,
                             ValueRange sizes);

/// Checks at run time that the size of dimension `dim` is not negative, and
/// that the last one, `lastName`, is at least 1.
void checkLeast(SizeChecker &check, ArrayRef<OpFoldResult> sizes, int64_t dim,
                StringRef lastName);

/// Checks at run time that dimension `dim` of `source` has `atoms`.
void checkAtoms(SizeChecker &check, Value source, int64_t dim, Value atoms);

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// Whether `original` has the type of `result`, and is another value: in a
/// graph region there may be a cycle.
bool canReplace(Value original, Value result);

/// Whether the last two sizes of `rowMajor` are static and fill atoms of
/// `extents`.
bool fillsAtoms(ShapedType rowMajor, ArrayRef<int64_t> extents);

/// Replaces `op`, which has `sizes` and restores `original` (null if it does
/// not), if the sizes are known to be those of `original`. `inverse` is the
/// name of the op that should define its source.
LogicalResult replaceByOriginal(PatternRewriter &rewriter, Operation *op,
                                ArrayRef<OpFoldResult> sizes, Value original,
                                StringRef inverse);

/// A shape and the values of its dynamic sizes.
struct MixedShape {
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
};

/// The shape `rowMajor` with the constants among `sizes`. Those that do not
/// give the shape `inAtoms` stay values, because they would not verify.
MixedShape useConstantSizes(
    ArrayRef<int64_t> rowMajor, ValueRange sizes, ArrayRef<int64_t> inAtoms,
    function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> getInAtoms);

/// Constants among the sizes of `op` become static sizes of its result.
template <typename Op, auto getInAtoms>
LogicalResult foldConstantSizes(Op op, PatternRewriter &rewriter) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type)
    return rewriter.notifyMatchFailure(op, "vectors have static sizes");
  auto source = cast<ShapedType>(op.getSource().getType());
  MixedShape mixed = useConstantSizes(type.getShape(), op.getSizes(),
                                      source.getShape(), getInAtoms);
  if (mixed.sizes.size() == op.getSizes().size())
    return rewriter.notifyMatchFailure(op, "no size is a usable constant");
  Value rowMajor = Op::create(rewriter, op.getLoc(), type.clone(mixed.shape),
                              op.getSource(), mixed.sizes);
  rewriter.replaceOpWithNewOp<tensor::CastOp>(op, type, rowMajor);
  return success();
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_ATOMLAYOUT_H
