//===- WidenToE4M3.h - fp6 and fp4 as e4m3 ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An exact conversion, for an instruction whose other operand has 8 bits.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_WIDENTOE4M3_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_WIDENTOE4M3_H

#include "blockscale/Support/Formats.h"
#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// Four fp6 or fp4 elements (`format`), in the low bits of the bytes of the u32
/// `word`, as e4m3, which has all their values.
Value emitWiden(OpBuilder &b, Location loc, Value word, Format format);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_WIDENTOE4M3_H
