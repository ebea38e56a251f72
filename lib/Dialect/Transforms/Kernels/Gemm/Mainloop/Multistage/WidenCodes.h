//===- WidenCodes.h - Narrow codes as e4m3 ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_WIDENCODES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_WIDENCODES_H

#include "blockscale/Support/Formats.h"
#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// Four codes of `format`, fp6 or fp4, in the low bits of the bytes of `word`,
/// as codes of e4m3, which has all their numbers.
Value emitWiden(OpBuilder &b, Location loc, Value word, Format format);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_WIDENCODES_H
