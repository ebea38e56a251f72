//===- blockscale-opt.cpp - mlir-opt with blockscale ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's mlir-opt with this dialect linked in, and with the limits on
// sources and outputs that all programs here have.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/BlockScaleToNVVM.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Driver/SourceFile.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Runtime/OutputFile.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;

/// Registers the project's passes and pipelines.
static void registerOurs() {
  blockscale::registerBlockScalePasses();
  blockscale::registerBlockScaleConversionPasses();
  blockscale::registerPipelines();
}

/// Prints the level and the name of each op of the dialect, by level and name.
static void printLevels() {
  MLIRContext context;
  context.loadDialect<blockscale::BlockScaleDialect>();
  llvm::SmallVector<std::pair<blockscale::OpLevel, llvm::StringRef>> ops;
  for (RegisteredOperationName op : context.getRegisteredOperations())
    if (auto level = blockscale::getOpLevel(op))
      ops.emplace_back(*level, op.getStringRef());
  llvm::sort(ops);
  for (auto [level, op] : ops)
    llvm::outs() << blockscale::stringifyOpLevel(level) << ' ' << op << '\n';
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  auto isGiven = [&](llvm::StringRef flag) {
    return llvm::is_contained(llvm::ArrayRef(argv, argc), flag);
  };
  if (isGiven("--show-levels")) {
    printLevels();
    return EXIT_SUCCESS;
  }
  registerOurs();
  // --help of all passes has a thousand lines.
  if (isGiven("--help-blockscale")) {
    constexpr size_t indent = 4, column = 35;
    llvm::outs() << "Pipelines:\n";
    for (llvm::StringRef name : {"blockscale-to-cpu", "blockscale-to-nvvm"})
      PassPipelineInfo::lookup(name)->printHelpStr(indent, column);
    printRegisteredPasses();
    return EXIT_SUCCESS;
  }
  registerAllPasses();
  DialectRegistry registry;
  blockscale::registerPipelineDialects(registry);

  auto [inputFile, outputFile] = registerAndParseCLIOptions(
      argc, argv, "blockscale-opt: mlir-opt with the blockscale dialect\n",
      registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();

  if (config.shouldShowDialects() || config.shouldListPasses()) {
    // These need no input, and must not wait for one.
    return asMainReturnCode(
        MlirOptMain(argc, argv, inputFile, outputFile, registry));
  }
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      blockscale::readSourceFile(inputFile, error);
  if (!buffer) {
    llvm::errs() << error << "\n";
    return EXIT_FAILURE;
  }
  if (outputFile == "-")
    return asMainReturnCode(
        MlirOptMain(llvm::outs(), std::move(buffer), registry, config));

  // A file appears whole or not at all.
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(MlirOptMain(stream, std::move(buffer), registry, config)))
    return EXIT_FAILURE;
  if (blockscale::Error failure = blockscale::writeOutput(outputFile, text)) {
    llvm::errs() << "error: " << failure.message() << "\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
