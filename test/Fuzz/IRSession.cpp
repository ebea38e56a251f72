//===- IRSession.cpp - The passes that a fuzzer runs ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes are expensive to set up, and run on many modules.
//
//===----------------------------------------------------------------------===//

#include "IRSession.h"

#include "blockscale/Conversion/BlockScaleToNVVM.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "mlir/Pass/PassRegistry.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::blockscale;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerPipelineDialects(registry);
  return registry;
}

PassRunner::PassRunner(MLIRContext *context, std::unique_ptr<Pass> pass)
    : PassManager(context) {
  // It would report invalid IR like a failure of the pass.
  enableVerifier(false);
  addPass(std::move(pass));
}

PassRunner::PassRunner(MLIRContext *context, StringRef pipeline,
                       bool verifiesEach)
    : PassManager(context) {
  enableVerifier(verifiesEach);
  if (failed(parsePassPipeline(pipeline, *this)))
    std::abort();
}

IRSession::IRSession()
    : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  for (StringRef pass : kGpuPasses)
    gpuPasses.push_back(
        std::make_unique<PassRunner>(&context, pass, /*verifiesEach=*/false));
  for (StringRef pipeline : kGpuPipelines)
    gpuPipelines.push_back(std::make_unique<PassRunner>(&context, pipeline,
                                                        /*verifiesEach=*/true));
}

/// The tables name passes and pipelines.
static void registerGpuLowering() {
  registerBlockScalePasses();
  registerBlockScaleConversionPasses();
  registerPipelines();
}

IRSession &blockscale::getIRSession() {
  static std::unique_ptr<IRSession> session;
  static unsigned numRuns = 0;
  constexpr unsigned runsPerSession = 1000;
  if (numRuns == 0)
    registerGpuLowering();
  if (numRuns++ % runsPerSession == 0) {
    session.reset();
    session = std::make_unique<IRSession>();
  }
  return *session;
}
