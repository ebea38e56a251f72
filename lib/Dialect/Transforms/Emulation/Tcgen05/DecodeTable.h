//===- DecodeTable.h - Decode table of formats ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table in memory with the value of each code. One load is cheaper than
// arithmetic on the fields of a code, and the format is known only at run time,
// from the instruction descriptor.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_DECODETABLE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_DECODETABLE_H

#include "Emulation/Tcgen05/TensorMemory.h"

namespace mlir::blockscale {

class DecodeTable {
public:
  /// Rows of the table. The row of an element format of kind mxf8f6f4 is its
  /// code in an instruction descriptor. The rows after these are ue4m3 and
  /// ue8m0, in the order of the bit for the scale format.
  static constexpr int64_t kE2M1 = 5, kScales = 6;

  explicit DecodeTable(gpu::GPUModuleOp module);

  /// The value, an f64, of the lowest 8 bits of `code` in the format of a row.
  Value get(const Word &row, const Word &code) const;

private:
  /// A constant of the module.
  LLVM::GlobalOp table;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_DECODETABLE_H
