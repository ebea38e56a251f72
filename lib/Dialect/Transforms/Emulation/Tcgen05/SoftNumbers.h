//===- SoftNumbers.h - What codes stand for ------------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table in memory: one load is less than the bits of a format taken apart,
// and it is chosen by a word when a kernel runs.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTNUMBERS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTNUMBERS_H

#include "Emulation/Tcgen05/TensorMemory.h"

namespace mlir::blockscale {

class SoftNumbers {
public:
  /// Rows of the table: elements of kind mxf8f6f4 have the code that stands for
  /// their format in an instruction descriptor; behind them are ue4m3 and
  /// ue8m0, in the order of the bit for those.
  static constexpr int64_t kE2M1 = 5, kScales = 6;

  explicit SoftNumbers(gpu::GPUModuleOp module);

  /// The number, an f64, that the lowest 8 bits of `code` are in a row.
  Value get(const Word &row, const Word &code) const;

private:
  /// A constant of the module.
  LLVM::GlobalOp table;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTNUMBERS_H
