//===- SharedMatrix.h - Elements of matrices in shared memory ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of an operand in shared memory; `findChunks` finds its chunks.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_SHAREDMATRIX_H
#define BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_SHAREDMATRIX_H

#include "Memory/Storage.h"
#include "Ptx/Types.h"
#include "SharedDescriptors/SharedTile.h"

#include "llvm/ADT/ArrayRef.h"

namespace mlir::blockscale::sim {

/// Consecutive rows of A, or of the transpose of B, of K elements.
struct DecodedMatrix {
  std::vector<double> values;
  /// The rows with an undefined element.
  std::vector<bool> undefinedRows;
};

/// The value of an element of any type that tensor cores multiply.
double decodeElement(Type type, uint32_t bits);

DecodedMatrix decodeShared(const Storage &storage,
                           llvm::ArrayRef<uint32_t> offsets,
                           const TileShape &shape, Type type, bool isNegated);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_SHAREDMATRIX_H
