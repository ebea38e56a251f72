//===- HostOperand.cpp - An operand of a kernel on the host ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traces views, then copies, swizzles or packs where the kernel needs it.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/HostOperand.h"

#include "Kernels/Gemm/Frontend/TensorMapCopies.h"
#include "Kernels/Gemm/Problem/OperandMap.h"
#include "Kernels/Gemm/Problem/OperandMemory.h"
#include "Utils/OperandView.h"
#include "Utils/PackedElements.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

/// The bit pattern of all elements of `tensor` if it is a splat.
static std::optional<uint8_t> getSplat(Value tensor) {
  DenseElementsAttr attr;
  if (!matchPattern(tensor, m_Constant(&attr)) || !attr.isSplat())
    return std::nullopt;
  if (isa<FloatType>(attr.getElementType()))
    return attr.getSplatValue<APFloat>().bitcastToAPInt().getZExtValue();
  return attr.getSplatValue<APInt>().getZExtValue();
}

/// The elements of `tensor`, in rows that end on a byte, packed.
static Value pack(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(shape.back()))
    shape.back() = *getPackedBytes(shape.back(), type.getElementTypeBitWidth());
  return PackOp::create(
      builder, loc, RankedTensorType::get(shape, builder.getI8Type()), tensor);
}

/// The scales `operand`, whose rows are dimension `rowDim`, as atoms that a
/// `swizzle_scales` makes, which gets a kernel of its own.
static StoredView swizzleForKernel(OpBuilder &builder, Location loc,
                                   Value operand, unsigned rowDim) {
  auto [rows, map] = putRowsFirst(builder, loc, operand, rowDim);
  // A `swizzle_scales` of a constant would be folded.
  if (matchPattern(rows, m_Constant()))
    rows = copyTensor(builder, loc, rows);
  auto type = cast<RankedTensorType>(rows.getType());
  auto swizzled = RankedTensorType::get(getSwizzledShape(type.getShape()),
                                        type.getElementType());
  Value atoms = SwizzleScalesOp::create(builder, loc, swizzled, rows);
  constexpr unsigned kByte = 8;
  return {atoms,
          getSwizzleMap(builder.getContext(), type.getRank()).compose(map),
          kByte};
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
  unsigned rowDim = MmaScaledOp::getRowDim(source.side, rank);
  int64_t batch = type.getDimSize(0);
  AffineMap map = getOperandMap(op->getContext(), rank, rowDim, batch);
  if (source.map)
    map = source.map.compose(map);
  bool hasAtoms = source.isScale && gemm.wantsScaleAtoms();
  if (hasAtoms &&
      getContiguity(view.map.compose(map), rank) != Contiguity::Atoms)
    view = swizzleForKernel(builder, loc, source.value, rowDim);
  if (hasAtoms && !hasOwnMemory(view.tensor))
    view.tensor = copyTensor(builder, loc, view.tensor);
  if (getHighPrecisionFormat(type.getElementType()))
    view.bits = type.getElementTypeBitWidth();
  bool needsTensorMap = gemm.needsTensorMaps(problem);
  if (needsTensorMap)
    if (std::string reason = findTensorMapObstacle(view, rank, map);
        !reason.empty()) {
      op->emitRemark() << (source.side == Side::X ? "x" : "y")
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
                              ? getPackedUnit(view.bits).codes
                              : 1;
  operand.columnMultiple = source.columns;
  if (ShapedType::isDynamic(source.columns))
    operand.columnMultiple = source.isScale ? 1 : problem.types.blockSize;
  // Rows of a padded copy are longer than those of the operand.
  if (needsTensorMap)
    setRowMultiple(operand, view.tensor);
  operand.mayBroadcast = rank == 3 && ShapedType::isDynamic(batch);
  if (gemm.fusesSurroundings() && source.isScale && !hasAtoms)
    operand.splat = getSplat(view.tensor);
  Format format =
      source.side == Side::X ? problem.types.lhs : problem.types.rhs;
  if (!source.isScale && gemm.wantsPackedElements(operand, format, problem)) {
    view.tensor = pack(builder, loc, view.tensor);
    operand.bits = getFormatInfo(format).bits;
  }
  return {operand, view.tensor};
}
