//===- ScaleOuter.cpp - Outer indices of scales --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uses the layout table, so that copies and loads cannot disagree.
//
//===----------------------------------------------------------------------===//

#include "Utils/ScaleOuter.h"

#include "Utils/OperandView.h"
#include "blockscale/Support/SharedLayout.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The terms of dimension `dim` at `value`, as a sum.
static AffineExpr applyTerms(ArrayRef<LayoutTerm> terms, unsigned dim,
                             AffineExpr value) {
  SmallVector<LayoutTerm> ofDim;
  for (LayoutTerm term : terms) {
    if (term.dim != dim)
      continue;
    term.dim = 0;
    ofDim.push_back(term);
  }
  AffineMap map = getLayoutMap(value.getContext(), ofDim, /*numLayoutDims=*/1,
                               /*numLayoutResults=*/1, /*numDims=*/1);
  return map.getResult(0).replaceDims(value);
}

AffineExpr blockscale::getScaleOuterExpr(AffineExpr row) {
  return applyTerms(kScaleOuterTerms, /*dim=*/0, row);
}

AffineExpr blockscale::getScaleRowExpr(AffineExpr outer) {
  return applyTerms(kScaleRowTerms, /*dim=*/0, outer);
}

AffineExpr blockscale::getScaleSkewExpr(AffineExpr part) {
  return applyTerms(kScaleOuterTerms, /*dim=*/1, part);
}
