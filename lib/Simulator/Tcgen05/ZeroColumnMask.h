//===- ZeroColumnMask.h - Columns of B that count as 0 ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The zero-column mask descriptor (64 bits) of tcgen05.mma.ws: which columns of
// B count as 0, and with which column of B the product begins.
//
// Source: PTX ISA, section 9.7.16.4.3 "Zero-Column Mask Descriptor".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TCGEN05_ZEROCOLUMNMASK_H
#define BLOCKSCALE_LIB_SIMULATOR_TCGEN05_ZEROCOLUMNMASK_H

#include "blockscale/Runtime/Error.h"

#include <cstdint>
#include <vector>

namespace mlir::blockscale::sim {

struct ZeroColumnMask {
  /// The first column of B that is multiplied.
  unsigned shift = 0;
  /// For each column of D whether that of B counts as 0; empty if none does.
  std::vector<bool> zeros;

  /// For a product with `m` rows, 32, 64 or 128, and `n` columns. An error
  /// names the field that is illegal or that the ISA does not define well
  /// enough.
  static Result<ZeroColumnMask> decode(uint64_t bits, unsigned m, unsigned n);
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_ZEROCOLUMNMASK_H
