//===- SoftFunctions.h - Instructions of tcgen05 as functions -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that kernels call in place of what one thread would tell the tensor
// core to do. They take the operands of the instruction as words, and then the
// number of the thread among those that share the work, and how many these are:
// 0 and 1 for one thread, or the lane and 32.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTFUNCTIONS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTFUNCTIONS_H

#include "Emulation/Tcgen05/TensorMemory.h"
#include "blockscale/Support/InstructionTable.h"

namespace mlir::blockscale {

/// `tcgen05.mma.kind.block_scale.blockN`, of one block: the address of D, the
/// descriptors of A and B (i64; the address of an A `isInTensor`), the
/// instruction descriptor, the addresses of scales of A and B, and whether D is
/// added.
func::FuncOp getSoftMma(gpu::GPUModuleOp module, Kind kind, unsigned blockSize,
                        bool isInTensor);

/// `tcgen05.cp.32x128b.warpx4`: an address, and a descriptor (i64).
func::FuncOp getSoftCopy(gpu::GPUModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTFUNCTIONS_H
