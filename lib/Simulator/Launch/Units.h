//===- Units.h - The table of units -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_LAUNCH_UNITS_H
#define BLOCKSCALE_LIB_SIMULATOR_LAUNCH_UNITS_H

#include "Machine/AsyncUnit.h"

namespace mlir::blockscale::sim {

/// Makes the units that the kernel of a group needs; the list is indexed by
/// kind, and units that it does not need are null.
UnitList makeUnits(BlockGroup &group);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_LAUNCH_UNITS_H
