//===- VerifySplitK.h - Checks of split-K -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_VERIFYSPLITK_H
#define BLOCKSCALE_LIB_DIALECT_IR_VERIFYSPLITK_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::blockscale {

inline LogicalResult verifySplitK(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t splitK) {
  constexpr int64_t kMaxSplitK = 64;
  if (splitK < 1 || splitK > kMaxSplitK)
    return emitError() << "expected 1 to " << kMaxSplitK
                       << " split-K ranges, got " << splitK;
  return success();
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_VERIFYSPLITK_H
