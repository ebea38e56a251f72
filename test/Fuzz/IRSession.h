//===- IRSession.h - The passes that a fuzzer runs --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A context with all dialects, and the passes that IRFuzzer runs.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FUZZ_IRSESSION_H
#define BLOCKSCALE_TEST_FUZZ_IRSESSION_H

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <memory>
#include <vector>

namespace mlir::blockscale {

/// Runs one pass.
struct PassRunner : PassManager {
  PassRunner(MLIRContext *context, std::unique_ptr<Pass> pass);
  /// Runs passes as blockscale-opt names them. In a pipeline with passes of
  /// upstream, none may meet the invalid IR of the one before.
  PassRunner(MLIRContext *context, StringRef pipeline, bool verifiesEach);
};

/// The lowering for GPUs: the passes alone, and all of it.
inline constexpr const char *kGpuPasses[] = {
    "blockscale-swizzle-scale-operands",
    "blockscale-swizzle-scale-operands{change-signature}",
    "blockscale-attach-target{target=sm_90},blockscale-select-path",
    "blockscale-attach-target{target=sm_100a},blockscale-select-path",
    ("blockscale-attach-target{target=sm_120a},"
     "blockscale-select-path{native-only},blockscale-legalize"),
    "blockscale-select-schedule",
    "blockscale-legalize",
    "blockscale-pack-buffers",
    "blockscale-form-kernels",
    "gpu.module(gpu.func(blockscale-to-fragments))",
    "func.func(blockscale-flatten-parallel-loops)",
    "func.func(blockscale-nest-checks)",
    "blockscale-collect-kernels",
    "blockscale-emulate-mma",
    "blockscale-attach-target{target=sm_120a},convert-blockscale-to-nvvm",
    "blockscale-verify-stage{stage=tile}",
    "blockscale-verify-stage{stage=kernel}",
    "blockscale-verify-stage{stage=instr}",
    "blockscale-verify-stage{stage=nvvm}",
};
inline constexpr const char *kGpuPipelines[] = {
    "blockscale-to-nvvm{target=sm_120a}",
    "blockscale-to-nvvm{target=sm_90}",
    "blockscale-to-nvvm{target=sm_100a}",
    "blockscale-to-nvvm{target=sm_120a emulate-on=sm_90}",
};

/// A context, and the passes, which are expensive to set up.
struct IRSession {
  IRSession();

  MLIRContext context;
  PassRunner canonicalize{&context, createCanonicalizerPass()};
  PassRunner verifySizes{&context, createGenerateRuntimeVerificationPass()};
  PassRunner decompose{&context, createDecomposePass()};
  PassRunner narrowToBytes{&context, createNarrowFloatsToBytesPass()};
  PassRunner resolveSizes{&context,
                          memref::createResolveRankedShapeTypeResultDimsPass()};
  /// In the order of kGpuPasses and kGpuPipelines.
  std::vector<std::unique_ptr<PassRunner>> gpuPasses;
  std::vector<std::unique_ptr<PassRunner>> gpuPipelines;
};

/// A context never forgets a type or an attribute, so it is replaced at times.
IRSession &getIRSession();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_TEST_FUZZ_IRSESSION_H
