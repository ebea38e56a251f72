//===- SpecialRegisterNames.h - The special registers of PTX ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_PTX_SPECIALREGISTERNAMES_H
#define BLOCKSCALE_LIB_SIMULATOR_PTX_SPECIALREGISTERNAMES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::blockscale::sim {

/// Scalar: `%laneid`. Vector: `%tid`, with the components x, y, z and w.
enum class SpecialRegisterKind { None, Scalar, Vector };

/// `name` has its percent sign, but no component.
SpecialRegisterKind lookupSpecialRegister(llvm::StringRef name);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_PTX_SPECIALREGISTERNAMES_H
