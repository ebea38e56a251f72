//===- MatrixClass.h - Kinds of matrix instructions -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What matrix instructions of warps multiply, as far as chips have a rate of
// its own for it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_MATRIXCLASS_H
#define BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_MATRIXCLASS_H

#include <cstdint>

namespace mlir::blockscale::sim {

enum class MatrixClass : uint8_t {
  /// f16 and bf16.
  Halves,
  TF32,
  Doubles,
  /// Floats of 8 bits, and shorter ones in as many.
  Bytes,
  /// With scale factors, in 8 bits or in 4.
  ScaledBytes,
  ScaledNibbles,
  /// Integers of 8 and 4 bits.
  ByteIntegers,
  NibbleIntegers,
};
inline constexpr unsigned kNumMatrixClasses = 8;

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_MATRIXCLASS_H
