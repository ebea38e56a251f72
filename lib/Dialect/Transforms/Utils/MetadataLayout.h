//===- MetadataLayout.h - Atoms of metadata as maps -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_METADATALAYOUT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_METADATALAYOUT_H

#include "mlir/IR/AffineMap.h"

namespace mlir::blockscale {

/// (row, byte) -> atoms of metadata and its inverse, for row-major metadata of
/// `rank`.
AffineMap getTileMetadataMap(MLIRContext *context, unsigned rank);
AffineMap getUntileMetadataMap(MLIRContext *context, unsigned rank);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_METADATALAYOUT_H
