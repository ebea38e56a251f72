//===- SupportMatrix.h - Table of supported types ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_SUPPORTMATRIX_H
#define BLOCKSCALE_DRIVER_SUPPORTMATRIX_H

#include "blockscale/Support/Chips.h"
#include "mlir/Support/LLVM.h"

namespace mlir::blockscale {

/// Prints, for `chip` or (with null) for all, one line per combination of
/// element types, scale type and block size: whether it is supported, by which
/// instruction, and from which PTX version on.
void printSupportMatrix(raw_ostream &os, const Chip *chip);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_SUPPORTMATRIX_H
