//===- HostOperand.cpp - An operand of a kernel on the host ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/HostOperand.h"

#include "Kernels/Gemm/Problem/KnownMultiples.h"
#include "Kernels/Gemm/Problem/OperandMemory.h"
#include "Utils/MetadataLayout.h"
#include "Utils/OperandView.h"
#include "Utils/PackedElements.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "blockscale/Support/SharedLayout.h"
#include "blockscale/Support/SparseMetadata.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

/// The bits of scales and metadata in memory.
static constexpr unsigned kByte = 8;

/// The elements of `tensor`, in rows that end on a byte, packed.
static Value pack(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(shape.back()))
    shape.back() = *getPackedBytes(shape.back(), type.getElementTypeBitWidth());
  return PackOp::create(
      builder, loc, RankedTensorType::get(shape, builder.getI8Type()), tensor);
}

/// The scales or the metadata `operand`, whose rows are dimension `rowDim`, as
/// atoms that an op makes which gets a kernel of its own.
static StoredView makeAtoms(OpBuilder &builder, Location loc, Value operand,
                            unsigned rowDim, bool isMetadata) {
  auto [rows, map] = putRowsFirst(builder, loc, operand, rowDim);
  // That op of a constant would be folded.
  if (matchPattern(rows, m_Constant()))
    rows = copyTensor(builder, loc, rows);
  auto type = cast<RankedTensorType>(rows.getType());
  MLIRContext *context = builder.getContext();
  if (isMetadata)
    return {TileMetadataOp::create(builder, loc, rows),
            getTileMetadataMap(context, type.getRank()).compose(map), kByte};
  auto swizzled = RankedTensorType::get(getSwizzledShape(type.getShape()),
                                        type.getElementType());
  return {SwizzleScalesOp::create(builder, loc, swizzled, rows),
          getSwizzleMap(context, type.getRank()).compose(map), kByte};
}

/// The scales of x, whose groups of rows have atoms of their own, in the order
/// that `groups` have rows in.
static StoredView makeGroupAtoms(OpBuilder &builder, Location loc, Value scales,
                                 const RowGroupOperands &groups) {
  return {SwizzleGroupScalesOp::create(builder, loc, scales, groups.offsets,
                                       groups.rows),
          getSwizzleMap(builder.getContext(), /*rank=*/2), kByte};
}

/// Whether copies of whole atoms, or of boxes of 128 rows of 16 bytes, bring
/// only metadata of `source`, which has legal fields: beside it, copies bring
/// zeros, and atoms of others have any padding.
static bool isWholeMetadata(const OperandSource &source, AffineMap map,
                            Contiguity contiguity) {
  AffineExpr row = getAffineDimExpr(1, map.getContext());
  return KernelProblem::isMultiple(source.rows, kMetadataAtomRows) &&
         KernelProblem::isMultiple(source.columns, kMetadataAtomBytes) &&
         (contiguity == Contiguity::Atoms ||
          (contiguity == Contiguity::Columns && map.getResultPosition(row)));
}

// TMA reads an operand through a tensor map, which describes whole matrices
// with one contiguous dimension and strides of whole 16 bytes. An operand in
// any other layout is copied first.

/// Strides of tensor maps are multiples of 16 bytes, of elements of so many
/// bits.
static constexpr int64_t kStrideBytes = 16;
static int64_t getStrideElements(unsigned bits) {
  constexpr int64_t kByteBits = 8;
  return kStrideBytes * kByteBits / bits;
}

/// A known divisor of K of a dense product, whose operands have the same one:
/// other sizes are errors.
static int64_t getKnownMultipleOfK(ProductOpInterface op) {
  auto get = [](Side side, Value matrix) {
    unsigned rank = cast<RankedTensorType>(matrix.getType()).getRank();
    return getKnownMultiple(matrix, MmaScaledOp::getKDim(side, rank));
  };
  if (op.getMetadata())
    return 1;
  return std::lcm(get(Side::X, op.getX()), get(Side::Y, op.getY()));
}

/// Why no tensor map can describe `view` of an operand of `rank` whose matrices
/// are at `map`, or why `instruction` does not take it; empty if there is no
/// reason. K is a multiple of `multipleOfK`.
static std::string findTensorMapObstacle(const StoredView &view, unsigned rank,
                                         AffineMap map,
                                         InstructionAttr instruction,
                                         int64_t multipleOfK) {
  if (!hasOwnMemory(view.tensor))
    return "there are no tensor maps of constants, expected an argument or "
           "what an op computes";
  Contiguity contiguity = getContiguity(view.map.compose(map), rank);
  if (contiguity == Contiguity::Other)
    return "expected the rows or the columns of each matrix to be contiguous";
  if (contiguity == Contiguity::Rows &&
      !canLie(instruction.getKind(), view.bits, Major::MN, Storage::Slots))
    return "expected elements that are contiguous along K for wgmma of fp8";
  int64_t last = cast<RankedTensorType>(view.tensor.getType()).getRank() - 1;
  int64_t multiple = getKnownMultiple(view.tensor, last);
  if (contiguity == Contiguity::Columns)
    multiple = std::lcm(multiple, multipleOfK);
  if (multiple * (view.bits / 8) % kStrideBytes != 0)
    return ("expected rows of a multiple of " + Twine(kStrideBytes) + " bytes")
        .str();
  return {};
}

/// A copy of `operand`, whose rows are dimension `rowDim`: columns are
/// contiguous, and rows are padded with zeros as tensor maps need them.
static StoredView copyForTensorMap(OpBuilder &builder, Location loc,
                                   Value operand, unsigned rowDim) {
  auto [rows, map] = putRowsFirst(builder, loc, operand, rowDim);
  auto type = cast<RankedTensorType>(rows.getType());
  unsigned bits = type.getElementTypeBitWidth();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, rows);
  AffineExpr d0 = builder.getAffineDimExpr(0);
  int64_t unit = getStrideElements(bits);
  OpFoldResult padding = affine::makeComposedFoldedAffineApply(
      builder, loc, d0.ceilDiv(unit) * unit - d0, sizes.back());
  SmallVector<OpFoldResult> low(type.getRank(), builder.getIndexAttr(0)),
      high = low;
  high.back() = padding;
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  // It is a copy even if there is no padding.
  if (isZeroInteger(padding))
    return {copyTensor(builder, loc, rows), map, bits};
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(shape.back()))
    shape.back() = llvm::alignTo(shape.back(), unit);
  Value padded = tensor::PadOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), rows,
      low, high, zero);
  return {padded, map, bits};
}

/// Sets the multiples of `operand`, which a tensor map can describe, to those
/// of the padded rows of `tensor`, which holds it.
static void setRowMultiple(KernelOperand &operand, Value tensor) {
  int64_t last = cast<RankedTensorType>(tensor.getType()).getShape().back();
  (operand.contiguity == Contiguity::Rows ? operand.rowMultiple
                                          : operand.columnMultiple) =
      ShapedType::isDynamic(last) ? getStrideElements(operand.bits) : last;
}

HostOperand blockscale::makeHostOperand(OpBuilder &builder,
                                        ProductOpInterface op,
                                        const GemmKernel &gemm,
                                        const KernelProblem &problem,
                                        const OperandSource &source) {
  Location loc = op->getLoc();
  StoredView view = getStoredView(builder, loc, source.value);
  auto type = cast<RankedTensorType>(source.value.getType());
  unsigned rank = type.getRank();
  unsigned rowDim = MmaScaledOp::getRowDim(source.side(), rank);
  int64_t batch = type.getDimSize(0);
  AffineMap map = getOperandMap(op->getContext(), rank, rowDim, batch);
  if (source.map)
    map = source.map.compose(map);
  bool isMetadata = getInfo(source.id).isMetadata;
  bool hasAtoms = (source.isScale() || isMetadata) && gemm.wantsAtoms();
  Contiguity contiguity = getContiguity(view.map.compose(map), rank);
  bool isInPlace =
      isMetadata ? isWholeMetadata(source, view.map.compose(map), contiguity)
                 : contiguity == Contiguity::Atoms;
  RowGroupOperands groups = op.getRowGroups();
  if (hasAtoms && groups && source.side() == Side::X)
    view = makeGroupAtoms(builder, loc, source.value, groups);
  else if (hasAtoms && !isInPlace)
    view = makeAtoms(builder, loc, source.value, rowDim, isMetadata);
  if (hasAtoms && !hasOwnMemory(view.tensor))
    view.tensor = copyTensor(builder, loc, view.tensor);
  if (getHighPrecisionFormat(type.getElementType()))
    view.bits = type.getElementTypeBitWidth();
  bool needsTensorMap = gemm.needsTensorMaps(problem);
  if (needsTensorMap)
    if (std::string reason = findTensorMapObstacle(
            view, rank, map, problem.instruction,
            source.isScale() || isMetadata ? 1 : getKnownMultipleOfK(op));
        !reason.empty()) {
      op->emitRemark() << (source.side() == Side::X ? "x" : "y")
                       << " is copied first, for bulk copies: " << reason;
      view = copyForTensorMap(builder, loc, source.value, rowDim);
    }
  KernelOperand operand;
  operand.argument = 0; // The caller numbers it.
  operand.map = view.map.compose(map);
  operand.bits = view.bits;
  operand.hasOwnMemory = hasOwnMemory(view.tensor);
  operand.contiguity = getContiguity(operand.map, rank);
  // Packed rows end on a byte, since K is a multiple of the size of a block.
  operand.rowMultiple = source.rows;
  if (ShapedType::isDynamic(source.rows))
    operand.rowMultiple = operand.contiguity == Contiguity::Rows
                              ? getPackedUnit(view.bits).elements
                              : 1;
  operand.columnMultiple = source.columns;
  if (ShapedType::isDynamic(source.columns))
    operand.columnMultiple =
        problem.getColumns(source.id, problem.types.blockSize);
  // Rows of a padded copy are longer than those of the operand.
  if (needsTensorMap)
    setRowMultiple(operand, view.tensor);
  operand.mayBroadcast = rank == 3 && ShapedType::isDynamic(batch);
  if (gemm.fusesSurroundings() && source.isScale() && !hasAtoms)
    operand.splat = getSplatByte(view.tensor);
  Format format =
      source.side() == Side::X ? problem.types.lhs : problem.types.rhs;
  if (!source.isScale() && !isMetadata &&
      gemm.wantsPackedElements(operand, format, problem)) {
    view.tensor = pack(builder, loc, view.tensor);
    operand.bits = getFormatInfo(format).bits;
  }
  return {operand, view.tensor};
}
