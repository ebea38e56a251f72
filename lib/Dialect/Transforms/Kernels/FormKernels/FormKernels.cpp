//===- FormKernels.cpp - From tensors to launches -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass that makes kernels for the ops of the tile level: prepare, walk,
// verify.
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/KernelWalk.h"
#include "Kernels/FormKernels/PrepareKernels.h"
#include "Kernels/FormKernels/ResultSizes.h"
#include "Kernels/FormKernels/VerifyKernels.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {
struct FormKernelsPass final
    : mlir::blockscale::impl::FormKernelsPassBase<FormKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkSizes(module)))
      return signalPassFailure();
    packQuantizedElements(module);
    bool isFormed = succeeded(formKernels(module));
    // Any op that is left has a form without a kernel.
    bool isComplete = succeeded(verifyAllFormed(module));
    if (!isFormed || !isComplete || failed(foldSizes(module)))
      signalPassFailure();
  }
};
} // namespace
