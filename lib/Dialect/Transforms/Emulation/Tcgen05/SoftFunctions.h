//===- SoftFunctions.h - Emulated tcgen05 -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that kernels call instead of instructions of a tensor core. Their
// arguments are the operands of the instruction, then the index of the thread
// among those that share the work, and the number of these threads: 0 and 1 for
// a single thread, or the lane and 32.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTFUNCTIONS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTFUNCTIONS_H

#include "Emulation/Tcgen05/TensorMemory.h"
#include "blockscale/Support/InstructionTable.h"

namespace mlir::blockscale {

/// `tcgen05.mma.kind.block_scale.blockN`, of one block. Arguments: the address
/// of D, the descriptors of A and B (i64; for A `isInTensor`, its address), the
/// instruction descriptor, the addresses of scales of A and B, and whether to
/// accumulate.
func::FuncOp getSoftMma(gpu::GPUModuleOp module, Kind kind, unsigned blockSize,
                        bool isInTensor);

/// `tcgen05.cp.32x128b.warpx4`. Arguments: an address, and a descriptor (i64).
func::FuncOp getSoftCopy(gpu::GPUModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTFUNCTIONS_H
