//===- SpecialRegisters.h - Values of special registers ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_SPECIALREGISTERS_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_SPECIALREGISTERS_H

#include "Translation/Code.h"

#include <optional>

namespace mlir::blockscale::sim {

/// One row of the table of special registers.
struct SpecialInfo {
  Special special;
  /// As PTX writes it, with the percent sign.
  llvm::StringRef name;
  Type type;
};

/// The special register of this name; null if this version has none.
const SpecialInfo *lookupSpecial(llvm::StringRef name);

/// Fills the values of all lanes of a warp.
void readSpecial(Special special, const Warp &warp, Lanes &lanes);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_SPECIALREGISTERS_H
