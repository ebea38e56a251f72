//===- KernelModule.h - Where kernels are put -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_KERNELMODULE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_KERNELMODULE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::blockscale {

/// Returns the `gpu.module` for kernels of functions: the one named `kernels`,
/// which is created if there is none. If another op has that name, a new module
/// gets another name. Makes `module` a container of kernels. `symbols` caches
/// the symbol tables of both, because there may be many functions and kernels.
inline gpu::GPUModuleOp getKernelModule(ModuleOp module,
                                        SymbolTableCollection &symbols) {
  constexpr StringLiteral kName = "kernels";
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  UnitAttr::get(module.getContext()));
  SymbolTable &names = symbols.getSymbolTable(module);
  if (auto existing = names.lookup<gpu::GPUModuleOp>(kName))
    return existing;
  OpBuilder builder(module.getContext());
  auto created = gpu::GPUModuleOp::create(builder, module.getLoc(), kName);
  names.insert(created);
  return created;
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_KERNELMODULE_H
