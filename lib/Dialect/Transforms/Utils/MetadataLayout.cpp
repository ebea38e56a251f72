//===- MetadataLayout.cpp - Atoms of metadata as maps ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utils/MetadataLayout.h"

#include "Utils/OperandView.h"
#include "blockscale/Support/SparseMetadata.h"

using namespace mlir;
using namespace mlir::blockscale;

AffineMap blockscale::getTileMetadataMap(MLIRContext *context, unsigned rank) {
  return getLayoutMap(context, kTileMetadataTerms, /*numLayoutDims=*/2,
                      /*numLayoutResults=*/4, rank);
}

AffineMap blockscale::getUntileMetadataMap(MLIRContext *context,
                                           unsigned rank) {
  return getLayoutMap(context, kUntileMetadataTerms, /*numLayoutDims=*/4,
                      /*numLayoutResults=*/2, rank + 2);
}
