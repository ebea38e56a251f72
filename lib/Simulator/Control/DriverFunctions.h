//===- DriverFunctions.h - Functions that the driver has --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_CONTROL_DRIVERFUNCTIONS_H
#define BLOCKSCALE_LIB_SIMULATOR_CONTROL_DRIVERFUNCTIONS_H

#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

/// Translates the call of a function that is declared in PTX and defined by the
/// driver. False if the driver has none of that name, or the simulator does not
/// know it.
bool translateDriverCall(Translator &t, const Function &function,
                         llvm::ArrayRef<PtxOperand> arguments);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_CONTROL_DRIVERFUNCTIONS_H
