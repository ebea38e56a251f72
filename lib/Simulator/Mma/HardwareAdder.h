//===- HardwareAdder.h - The adder of a tensor core -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MMA_HARDWAREADDER_H
#define BLOCKSCALE_LIB_SIMULATOR_MMA_HARDWAREADDER_H

#include "Mma/AdderRules.h"
#include "Mma/MatrixOperands.h"

namespace mlir::blockscale::sim {

/// The elements of D, row by row.
void multiplyInHardware(const MmaForm &form, const AdderRule &rule,
                        const MmaMatrices &matrices, uint64_t *bits);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MMA_HARDWAREADDER_H
