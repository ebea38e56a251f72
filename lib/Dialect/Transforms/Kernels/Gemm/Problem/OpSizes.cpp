//===- OpSizes.cpp - The sizes that a schedule is chosen by ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each path chooses by M, N, K and the batch, before dynamic ones are known.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/OpSizes.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

OpSizes blockscale::getOpSizes(ProductOpInterface op, int64_t dynamicSize) {
  auto sizeOr = [&](int64_t size) {
    return ShapedType::isDynamic(size) ? dynamicSize : size;
  };
  auto type = cast<ShapedType>(op.getAcc().getType());
  unsigned rank = type.getRank();
  auto x = cast<ShapedType>(op.getX().getType());
  int64_t k = x.getDimSize(MmaScaledOp::getKDim(Side::X, x.getRank()));
  return {sizeOr(type.getDimSize(rank - 2)), sizeOr(type.getDimSize(rank - 1)),
          sizeOr(k), rank == 3 ? sizeOr(type.getDimSize(0)) : 1};
}
