//===- KernelsToNVVM.cpp - Kernels to the LLVM and NVVM dialects ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The patterns of `convert-gpu-to-nvvm`, without what that pass does in front:
// a greedy rewrite that merges blocks of equal ops. Kernels have hundreds of
// blocks behind `convert-scf-to-cf`, whose merging may take hours, as each
// merge adds block arguments. LLVM does it in no time.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/BlockScaleToNVVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_CONVERTKERNELSTONVVMPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {

struct ConvertKernelsToNVVMPass final
    : mlir::blockscale::impl::ConvertKernelsToNVVMPassBase<
          ConvertKernelsToNVVMPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerConvertToLLVMDependentDialectLoading(registry);
  }

  void runOnOperation() override {
    gpu::GPUModuleOp kernels = getOperation();
    MLIRContext *context = kernels.getContext();
    RewritePatternSet inFront(context);
    populateGpuRewritePatterns(inFront);
    vector::populateVectorFromElementsUnrollPatterns(inFront);
    GreedyRewriteConfig keepBlocks;
    keepBlocks.setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(kernels, std::move(inFront), keepBlocks)))
      return signalPassFailure();

    LowerToLLVMOptions options(context, DataLayout(kernels));
    options.useBarePtrCallConv = true;
    LLVMTypeConverter converter(context, options);
    configureGpuToNVVMTypeConverter(converter);
    RewritePatternSet patterns(context);
    LLVMConversionTarget target(*context);
    for (Dialect *dialect : context->getLoadedDialects()) {
      // Patterns of NVVM have functions of math that those of LLVM lack.
      auto *interface = dyn_cast<ConvertToLLVMPatternInterface>(dialect);
      if (interface && !isa<math::MathDialect>(dialect))
        interface->populateConvertToLLVMConversionPatterns(target, converter,
                                                           patterns);
    }
    // Before those of LLVM, as for `cf.assert`.
    constexpr unsigned kFirst = 10;
    populateGpuToNVVMConversionPatterns(converter, patterns, kFirst);
    populateGpuWMMAToNVVMConversionPatterns(converter, patterns, kFirst);
    populateGpuSubgroupReduceOpLoweringPattern(converter, patterns, kFirst);
    configureGpuToNVVMConversionLegality(target);
    ConversionConfig config;
    config.allowPatternRollback = false; // Takes half the time.
    if (failed(applyPartialConversion(kernels, target, std::move(patterns),
                                      config)))
      signalPassFailure();
  }
};

} // namespace
