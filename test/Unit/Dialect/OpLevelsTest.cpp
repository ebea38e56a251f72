//===- OpLevelsTest.cpp - Levels of ops and stages ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests walk all ops that the dialect registers, so that a new one cannot
// be forgotten.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class OpLevelsTest : public testing::Test {
protected:
  OpLevelsTest() {
    context.loadDialect<BlockScaleDialect, gpu::GPUDialect>();
    // Ops here have no operands and would not print.
    context.printOpOnDiagnostic(false);
  }

  /// getRegisteredOperationsByDialect finds no ops here: its binary search
  /// compares dialect names wrongly.
  std::vector<RegisteredOperationName> ops() {
    auto *dialect = context.getLoadedDialect<BlockScaleDialect>();
    std::vector<RegisteredOperationName> found;
    llvm::copy_if(context.getRegisteredOperations(), std::back_inserter(found),
                  [&](RegisteredOperationName op) {
                    return &op.getDialect() == dialect;
                  });
    return found;
  }

  /// Whether the stage allows an op of this name on the host or in a kernel.
  bool isAllowed(StringRef stage, RegisteredOperationName name,
                 bool isInKernel) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder, loc);
    builder.setInsertionPointToEnd(module->getBody());
    if (isInKernel) {
      auto kernels = gpu::GPUModuleOp::create(builder, loc, "kernels");
      builder.setInsertionPointToStart(kernels.getBody());
    }
    OperationState state(loc, name);
    if (name.getStringRef() == MmaScaledOp::getOperationName())
      state.addAttribute(kPathAttrName, PathAttr::get(&context, Path::MmaSync));
    builder.create(state);

    PassManager manager(&context);
    manager.enableVerifier(false);
    VerifyStagePassOptions options;
    options.stage = stage.str();
    manager.addPass(createVerifyStagePass(options));
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    bool isAccepted = succeeded(manager.run(*module));
    EXPECT_EQ(message, isAccepted
                           ? ""
                           : ("'" + name.getStringRef() + "' is not allowed " +
                              (isInKernel ? "in a kernel" : "on the host") +
                              " at the stage '" + stage + "'")
                                 .str());
    return isAccepted;
  }

  MLIRContext context;
};
} // namespace

TEST_F(OpLevelsTest, EveryOpHasOneLevel) {
  ASSERT_FALSE(ops().empty());
  for (RegisteredOperationName op : ops()) {
    bool has[] = {op.hasTrait<OfLevel<OpLevel::Tile>::Impl>(),
                  op.hasTrait<OfLevel<OpLevel::Host>::Impl>(),
                  op.hasTrait<OfLevel<OpLevel::Kernel>::Impl>(),
                  op.hasTrait<OfLevel<OpLevel::Instruction>::Impl>()};
    EXPECT_EQ(llvm::count(has, true), 1) << op.getStringRef().str();
    std::optional<OpLevel> level = getOpLevel(op);
    ASSERT_TRUE(level) << op.getStringRef().str();
    EXPECT_TRUE(has[static_cast<unsigned>(*level)]) << op.getStringRef().str();
  }
}

TEST_F(OpLevelsTest, InstructionsAreOfTheInstructionLevel) {
  for (RegisteredOperationName op : ops())
    EXPECT_EQ(op.hasInterface<InstructionOpInterface>(),
              getOpLevel(op) == OpLevel::Instruction)
        << op.getStringRef().str();
}

TEST_F(OpLevelsTest, OpsOfOtherDialectsHaveNone) {
  EXPECT_FALSE(getOpLevel(OperationName("gpu.barrier", &context)));
  EXPECT_FALSE(getOpLevel(OperationName("blockscale.unknown", &context)));
}

TEST_F(OpLevelsTest, StagesAllowOpsByLevel) {
  struct {
    StringRef stage;
    std::vector<OpLevel> onHost, inKernels;
  } const rows[] = {
      {"tile",
       {OpLevel::Tile, OpLevel::Host},
       {OpLevel::Tile, OpLevel::Kernel, OpLevel::Instruction}},
      {"kernel",
       {OpLevel::Host},
       {OpLevel::Tile, OpLevel::Kernel, OpLevel::Instruction}},
      {"instr", {OpLevel::Host}, {OpLevel::Instruction}},
      {"nvvm", {OpLevel::Host}, {}},
  };
  for (const auto &row : rows)
    for (RegisteredOperationName op : ops())
      for (bool isInKernel : {false, true})
        EXPECT_EQ(isAllowed(row.stage, op, isInKernel),
                  llvm::is_contained(isInKernel ? row.inKernels : row.onHost,
                                     *getOpLevel(op)))
            << op.getStringRef().str() << " at " << row.stage.str()
            << (isInKernel ? " in a kernel" : " on the host");
}
