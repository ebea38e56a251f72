//===- AsyncStores.h - st.async and red.async -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COPIES_ASYNCSTORES_H
#define BLOCKSCALE_LIB_SIMULATOR_COPIES_ASYNCSTORES_H

#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

// Families of st and red, behind .async: AsyncStores.cpp.
void translateAsyncStore(Translator &t, Modifiers &modifiers);
void translateAsyncReduction(Translator &t, Modifiers &modifiers);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_ASYNCSTORES_H
