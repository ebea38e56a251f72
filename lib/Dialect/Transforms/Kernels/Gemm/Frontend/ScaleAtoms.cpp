//===- ScaleAtoms.cpp - Scales in the 32x4x4 layout -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a `swizzle_scales`, which gets a kernel of its own.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/ScaleAtoms.h"

#include "Kernels/Gemm/Problem/OperandMemory.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

StoredView blockscale::swizzleForKernel(OpBuilder &builder, Location loc,
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
