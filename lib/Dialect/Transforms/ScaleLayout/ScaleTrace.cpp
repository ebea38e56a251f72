//===- ScaleTrace.cpp - Scales through transposes and slices --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slice of row-major scales corresponds to a slice of swizzled scales only if
// it cuts no atom. This file converts slices and checks that.
//
//===----------------------------------------------------------------------===//

#include "ScaleLayout/ScaleTrace.h"

#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "blockscale/Support/ScaleLayout.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Tracing
//===----------------------------------------------------------------------===//

TransposeKind blockscale::classifyTranspose(linalg::TransposeOp op) {
  ArrayRef<int64_t> order = op.getPermutation();
  int64_t rank = order.size();
  auto input = dyn_cast<RankedTensorType>(op.getInput().getType());
  if (!input || input.getEncoding() || rank < 2)
    return TransposeKind::Other;
  for (int64_t dim = 0; dim != rank - 2; ++dim)
    if (order[dim] != dim)
      return TransposeKind::Other;
  return order.back() == rank - 1 ? TransposeKind::Identity
                                  : TransposeKind::SwapsMatrix;
}

bool blockscale::isMatrixSlice(tensor::ExtractSliceOp slice) {
  RankedTensorType source = slice.getSourceType();
  int64_t from = source.getRank();
  if ((from != 2 && from != 3) || source.getEncoding() ||
      llvm::is_contained(source.getShape(), 0) ||
      llvm::is_contained(slice.getType().getShape(), 0))
    return false;
  if (slice.getType().getRank() == from)
    return true;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  return from == 3 && dropped.count() == 1 && dropped.test(0);
}

static constexpr unsigned kMaxTraced = 64;

ScaleTrace blockscale::traceScales(Value scales, bool rowsLast,
                                   function_ref<bool(Operation *)> mayPass) {
  ScaleTrace trace = {scales, rowsLast, {}};
  // In a graph region, ops may form a cycle. Long chains, which do not occur in
  // practice, must not take quadratic time.
  llvm::SmallPtrSet<Operation *, 8> visited;
  while (Operation *op = trace.source.getDefiningOp()) {
    if (!visited.insert(op).second || visited.size() > kMaxTraced ||
        !mayPass(op))
      break;
    if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
      TransposeKind kind = classifyTranspose(transpose);
      if (kind == TransposeKind::Other)
        break;
      trace.rowsLast ^= kind == TransposeKind::SwapsMatrix;
      trace.source = transpose.getInput();
      continue;
    }
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    if (!slice || !isMatrixSlice(slice))
      break;
    trace.slices.push_back({slice, trace.rowsLast});
    trace.source = slice.getSource();
  }
  std::reverse(trace.slices.begin(), trace.slices.end());
  return trace;
}

ScaleTrace blockscale::traceScales(Value scales, bool rowsLast) {
  return traceScales(scales, rowsLast, [](Operation *) { return true; });
}

Operation *blockscale::getHoistPoint(Operation *user, Value source) {
  Operation *home = source.getParentBlock()->getParentOp();
  Operation *point = user;
  for (Operation *parent = user->getParentOp();
       parent && (!home || !parent->isAncestor(home));
       parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      point = parent;
  return point;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Rows and blocks, in this order, of a slice's `values` (offsets or sizes).
template <typename T>
static std::array<T, 2> getRowsAndBlocks(ArrayRef<T> values, bool rowsLast) {
  std::array<T, 2> matrix = {values[values.size() - 2], values.back()};
  if (rowsLast)
    std::swap(matrix[0], matrix[1]);
  return matrix;
}

static std::string print(OpFoldResult value) {
  std::optional<int64_t> constant = getConstantIntValue(value);
  return constant ? std::to_string(*constant) : "one that is not known";
}

std::string blockscale::describeCutAtom(const ScaleSlice &slice,
                                        bool toItsEnd) {
  tensor::ExtractSliceOp op = slice.op;
  if (!areAllConstantIntValue(op.getMixedStrides(), 1))
    return "expected strides of 1";
  SmallVector<OpFoldResult> allOffsets = op.getMixedOffsets();
  SmallVector<OpFoldResult> allSizes = op.getMixedSizes();
  auto offsets = getRowsAndBlocks<OpFoldResult>(allOffsets, slice.rowsLast);
  auto sizes = getRowsAndBlocks<OpFoldResult>(allSizes, slice.rowsLast);
  auto ends =
      getRowsAndBlocks<int64_t>(op.getSourceType().getShape(), slice.rowsLast);
  static constexpr const char *names[] = {"rows", "blocks along K"};
  for (auto [offset, size, end, extent, name] :
       llvm::zip_equal(offsets, sizes, ends, kScaleAtomExtents, names)) {
    std::optional<int64_t> from = getConstantIntValue(offset);
    std::optional<int64_t> length = getConstantIntValue(size);
    std::string what = std::string(" of ") + name + " to be a multiple of " +
                       std::to_string(extent);
    // Invalid sizes do not become static.
    if (from.value_or(0) < 0 || length.value_or(1) < 1)
      return "expected offsets and sizes in the source";
    if (!isKnownMultiple(offset, extent))
      return "expected the offset" + what + ", got " + print(offset);
    bool reachesEnd =
        from && length && !ShapedType::isDynamic(end) && *from == end - *length;
    bool endsWell = reachesEnd || (length && *length % extent == 0);
    if (toItsEnd && !endsWell)
      return "expected the size" + what +
             " or to reach the end of the source, got " + print(size);
  }
  return "";
}

SmallVector<OpFoldResult>
blockscale::getResultSizes(tensor::ExtractSliceOp slice) {
  return llvm::to_vector(ArrayRef<OpFoldResult>(slice.getMixedSizes())
                             .take_back(slice.getType().getRank()));
}

/// `value` / `extent`, rounded down or up. A value stays a value, even if it is
/// constant, so that types do not change.
static OpFoldResult divide(OpBuilder &builder, Location loc, OpFoldResult value,
                           int64_t extent, bool up) {
  if (auto attr = dyn_cast<Attribute>(value)) {
    int64_t number = cast<IntegerAttr>(attr).getInt();
    return builder.getIndexAttr(up ? llvm::divideCeilSigned(number, extent)
                                   : number / extent);
  }
  AffineExpr d0 = builder.getAffineDimExpr(0);
  AffineExpr quotient = up ? d0.ceilDiv(extent) : d0.floorDiv(extent);
  return getValueOrCreateConstantIndexOp(
      builder, loc,
      affine::makeComposedFoldedAffineApply(builder, loc, quotient, {value}));
}

Value blockscale::sliceSwizzled(OpBuilder &builder, Location loc,
                                ScaleSlice slice, Value swizzled) {
  tensor::ExtractSliceOp op = slice.op;
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  unsigned numBatchDims = offsets.size() - 2;
  auto from = getRowsAndBlocks<OpFoldResult>(offsets, slice.rowsLast);
  auto length = getRowsAndBlocks<OpFoldResult>(sizes, slice.rowsLast);
  offsets.truncate(numBatchDims);
  sizes.truncate(numBatchDims);
  for (auto [start, size, extent] :
       llvm::zip_equal(from, length, kScaleAtomExtents)) {
    offsets.push_back(divide(builder, loc, start, extent, /*up=*/false));
    sizes.push_back(divide(builder, loc, size, extent, /*up=*/true));
  }
  for (int64_t size : {kScaleAtomOuter, kScaleAtomInner}) {
    offsets.push_back(builder.getIndexAttr(0));
    sizes.push_back(builder.getIndexAttr(size));
  }
  SmallVector<int64_t> shape;
  SmallVector<Value> ignored;
  dispatchIndexOpFoldResults(
      ArrayRef<OpFoldResult>(sizes).take_back(op.getType().getRank() + 2),
      ignored, shape);
  auto type = RankedTensorType::get(shape, op.getType().getElementType());
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, type, swizzled, offsets,
                                        sizes, strides);
}

//===----------------------------------------------------------------------===//
// Swizzles
//===----------------------------------------------------------------------===//

/// `values` with the last two swapped.
template <typename T>
static SmallVector<T> swapMatrix(ArrayRef<T> values) {
  SmallVector<T> swapped(values);
  std::swap(swapped[swapped.size() - 2], swapped.back());
  return swapped;
}

RankedTensorType blockscale::getRowsFirstType(RankedTensorType type,
                                              bool rowsLast) {
  if (!rowsLast)
    return type;
  return RankedTensorType::get(swapMatrix(type.getShape()),
                               type.getElementType());
}

RankedTensorType blockscale::getSwizzledType(RankedTensorType type) {
  return RankedTensorType::get(getSwizzledShape(type.getShape()),
                               type.getElementType());
}

/// `scales` transposed, of `type`; `sizes` are those of the result.
static Value transposeMatrix(OpBuilder &builder, Location loc, Value scales,
                             RankedTensorType type,
                             ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  for (auto [size, expected] : llvm::zip_equal(sizes, type.getShape()))
    if (ShapedType::isDynamic(expected))
      dynamic.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  Value init = tensor::EmptyOp::create(builder, loc, type, dynamic);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return linalg::TransposeOp::create(builder, loc, scales, init,
                                     swapMatrix(ArrayRef<int64_t>(order)))
      ->getResult(0);
}

Value blockscale::emitSwizzle(OpBuilder &builder, Location loc, Value source,
                              bool rowsLast) {
  if (rowsLast) {
    auto type = cast<RankedTensorType>(source.getType());
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, source);
    source =
        transposeMatrix(builder, loc, source, getRowsFirstType(type, rowsLast),
                        swapMatrix(ArrayRef<OpFoldResult>(sizes)));
  }
  return SwizzleScalesOp::create(builder, loc, source);
}

Value blockscale::getSwizzledConstant(OpBuilder &builder, Location loc,
                                      Value source, bool rowsLast) {
  DenseElementsAttr constant;
  if (!matchPattern(source, m_Constant(&constant)))
    return {};
  RankedTensorType type = getSwizzledType(
      getRowsFirstType(cast<RankedTensorType>(source.getType()), rowsLast));
  // The padding may be any byte, so a splat stays a splat.
  DenseElementsAttr swizzled = constant.isSplat()
                                   ? constant.resizeSplat(type)
                                   : swizzleConstant(constant, type, rowsLast);
  if (!swizzled)
    return {};
  return arith::ConstantOp::create(builder, loc, swizzled);
}

Value blockscale::getSwizzled(OpBuilder &builder, Location loc, Value source,
                              bool rowsLast) {
  if (Value constant = getSwizzledConstant(builder, loc, source, rowsLast))
    return constant;

  auto type = cast<RankedTensorType>(source.getType());
  RankedTensorType rowsFirst = getRowsFirstType(type, rowsLast);
  RankedTensorType swizzled = getSwizzledType(rowsFirst);
  ScaleTrace trace = traceScales(source, rowsLast, [](Operation *op) {
    return isa<linalg::TransposeOp>(op);
  });
  auto unswizzle = trace.source.getDefiningOp<UnswizzleScalesOp>();
  if (unswizzle && !trace.rowsLast && unswizzle.getType() == rowsFirst &&
      unswizzle.getSource().getType() == swizzled && rowsFirst.hasStaticShape())
    return unswizzle.getSource();

  return emitSwizzle(builder, loc, source, rowsLast);
}

Value blockscale::getUnswizzled(OpBuilder &builder, Location loc,
                                Value swizzled, RankedTensorType type,
                                bool rowsLast, ArrayRef<OpFoldResult> sizes) {
  RankedTensorType rowsFirst = getRowsFirstType(type, rowsLast);
  SmallVector<OpFoldResult> rowsFirstSizes =
      rowsLast ? swapMatrix(sizes) : SmallVector<OpFoldResult>(sizes);
  SmallVector<Value> dynamic;
  for (auto [size, expected] :
       llvm::zip_equal(rowsFirstSizes, rowsFirst.getShape()))
    if (ShapedType::isDynamic(expected))
      dynamic.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  Value scales =
      UnswizzleScalesOp::create(builder, loc, rowsFirst, swizzled, dynamic);
  if (!rowsLast)
    return scales;
  return transposeMatrix(builder, loc, scales, type, sizes);
}
