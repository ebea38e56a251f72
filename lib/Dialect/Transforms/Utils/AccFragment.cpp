//===- AccFragment.cpp - Accumulator elements of a lane -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utils/AccFragment.h"

#include "Utils/OperandView.h"

using namespace mlir;
using namespace mlir::blockscale;

AccPosition blockscale::getAccPosition(AffineExpr lane, unsigned reg) {
  MLIRContext *context = lane.getContext();
  AffineMap map =
      getLayoutMap(context, getAccFragment().toElement, /*numLayoutDims=*/3,
                   /*numLayoutResults=*/2, /*numDims=*/3);
  AffineExpr coordinates[] = {lane, getAffineConstantExpr(reg, context),
                              getAffineConstantExpr(0, context)};
  return {map.getResult(0).replaceDims(coordinates),
          map.getResult(1).replaceDims(coordinates)};
}

std::array<int64_t, 2> blockscale::getAccOffset(int64_t reg) {
  const FragmentLayout &layout = getAccFragment();
  auto [row, column] = applyLayout<2>(
      layout.toElement, std::array<int64_t, 3>{0, reg % layout.registers, 0});
  return {row, column + reg / layout.registers * layout.columns};
}

int64_t blockscale::getAccRegister(int64_t row, int64_t column) {
  return applyLayout<3>(getAccFragment().toLane,
                        std::array<int64_t, 2>{row * kGroupRows, column})[1];
}
