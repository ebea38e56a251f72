//===- MatrixClass.h - Classes of matrix instructions -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classes of operand types of warp matrix instructions that have their own
// rates.
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
  /// 8-bit floats, and narrower ones in 8-bit containers.
  Bytes,
  /// With scale factors, in 8 or 4 bits.
  ScaledBytes,
  ScaledNibbles,
  /// 8-bit and 4-bit integers.
  ByteIntegers,
  NibbleIntegers,
};
inline constexpr unsigned kNumMatrixClasses = 8;

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_MATRIXCLASS_H
