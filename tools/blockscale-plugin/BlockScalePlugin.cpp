//===- BlockScalePlugin.cpp - Plugin for mlir-opt -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For users of the stock mlir-opt, who need not build one of their own. The
// dialect brings all that the pipelines need: mlir-opt has upstream's dialects
// and models of interfaces, but not this project's models.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/BlockScaleToNVVM.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

extern "C" LLVM_ATTRIBUTE_WEAK
    LLVM_ATTRIBUTE_VISIBILITY_DEFAULT DialectPluginLibraryInfo
    mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "BlockScale", BLOCKSCALE_VERSION,
          [](DialectRegistry *registry) {
            blockscale::registerPipelineDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK
    LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
    mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "BlockScale", BLOCKSCALE_VERSION, [] {
            blockscale::registerBlockScalePasses();
            blockscale::registerBlockScaleConversionPasses();
            blockscale::registerPipelines();
          }};
}
