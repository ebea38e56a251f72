//===- VerifySplits.h - Into how many parts K is divided --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What schedules of all kinds ask of their parts of K.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_VERIFYSPLITS_H
#define BLOCKSCALE_LIB_DIALECT_IR_VERIFYSPLITS_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::blockscale {

inline LogicalResult verifySplits(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t splits) {
  constexpr int64_t kMaxSplits = 64;
  if (splits < 1 || splits > kMaxSplits)
    return emitError() << "expected K to be divided into 1 to " << kMaxSplits
                       << " parts, got " << splits;
  return success();
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_VERIFYSPLITS_H
