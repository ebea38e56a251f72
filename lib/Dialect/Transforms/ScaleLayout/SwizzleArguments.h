//===- SwizzleArguments.h - Swizzled scales as arguments --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SCALELAYOUT_SWIZZLEARGUMENTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SCALELAYOUT_SWIZZLEARGUMENTS_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blockscale {

/// Changes arguments of the functions of `module` to the 32x4x4 layout if they
/// are used only as scales of `mma_scaled` ops for which `wantsSwizzled` is
/// true, and changes their calls. A remark says why other arguments with scales
/// stay.
void swizzleArguments(ModuleOp module,
                      function_ref<bool(MmaScaledOp)> wantsSwizzled);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SCALELAYOUT_SWIZZLEARGUMENTS_H
