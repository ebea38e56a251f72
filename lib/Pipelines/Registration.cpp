//===- Registration.cpp - Dialects and names of pipelines -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers dialects, interface models and pipelines for programs, the plugin
// and users' tools.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace mlir::blockscale;

void blockscale::registerPipelines() {
  PassPipelineRegistration<>(
      "blockscale-to-cpu",
      "Lower functions on tensors to the LLVM dialect, for execution on a CPU",
      [](OpPassManager &pm) { buildCpuPipeline(pm); });
  PassPipelineRegistration<GpuPipelineOptions>(
      "blockscale-to-nvvm",
      "Lower functions on tensors, and kernels, to kernels in the LLVM and "
      "NVVM dialects",
      buildGpuPipeline);
}

void blockscale::registerPipelineDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registry.insert<BlockScaleDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  registerProductOpInterfaceExternalModels(registry);
}
