//===- Dialect.cpp - The dialect and its passes in C ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Dialect.h"
#include "blockscale/Conversion/BlockScaleToNVVM.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(BlockScale, blockscale,
                                      blockscale::BlockScaleDialect)

void blockscaleRegisterDialects(MlirDialectRegistry registry) {
  blockscale::registerPipelineDialects(*unwrap(registry));
}

void blockscaleRegisterPasses() {
  // LLVM's command line, which the passes are added to, has each name once.
  [[maybe_unused]] static const bool isDone = [] {
    blockscale::registerBlockScalePasses();
    blockscale::registerBlockScaleConversionPasses();
    blockscale::registerPipelines();
    return true;
  }();
}

MlirStringRef blockscaleGetVersion() {
  return wrap(llvm::StringRef(BLOCKSCALE_VERSION));
}
