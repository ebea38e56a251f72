//===- PtxEmission.h - From kernels to PTX -------------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_PTXEMISSION_H
#define BLOCKSCALE_LIB_DRIVER_PTXEMISSION_H

#include "blockscale/Runtime/Error.h"
#include "blockscale/Support/Chips.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace mlir::blockscale {

/// LLVM's code generator for a chip and a PTX version.
Result<std::unique_ptr<llvm::TargetMachine>>
makePtxTargetMachine(const Chip &chip, unsigned ptxVersion);

/// The optimised LLVM IR of all `gpu.module`s of `module`, which are in the
/// LLVM and NVVM dialects. Null after an error has been emitted.
std::unique_ptr<llvm::Module>
translateKernels(ModuleOp module, llvm::LLVMContext &context,
                 llvm::TargetMachine &targetMachine);

/// The PTX of `module`. Fails if the code generator reports an error or tries
/// to end the process.
Result<std::string> emitPtx(llvm::Module &module,
                            llvm::TargetMachine &targetMachine);

/// Assembles PTX with the ptxas on the path or in /usr/local/cuda/bin.
Result<std::string> assemblePtx(const std::string &ptx, const Chip &chip);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DRIVER_PTXEMISSION_H
