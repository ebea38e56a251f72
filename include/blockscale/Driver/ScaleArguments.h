//===- ScaleArguments.h - Arguments that are scales -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A code of type f8E4M3FN is e4m3 or, as a scale, ue4m3, whose sign bit should
// be 0. The type does not tell; what becomes of the argument does.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_SCALEARGUMENTS_H
#define BLOCKSCALE_DRIVER_SCALEARGUMENTS_H

#include "mlir/IR/Value.h"

namespace mlir::blockscale {

/// Whether `argument`, moved or not, becomes scales of `mma_scaled` or
/// `dequantize`, here or in a function that is called.
bool becomesScales(BlockArgument argument);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_SCALEARGUMENTS_H
