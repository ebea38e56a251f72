//===- GpuCompilationTest.cpp - Tests of the way in from C++ --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/GpuCompilation.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::blockscale;

static constexpr const char *product = R"mlir(
  func.func @main(%x: tensor<4x32xf8E5M2>, %xs: tensor<4x1xf8E8M0FNU>,
                  %y: tensor<32x2xf6E2M3FN>, %ys: tensor<1x2xf8E8M0FNU>,
                  %acc: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         : tensor<4x32xf8E5M2>, tensor<4x1xf8E8M0FNU>, tensor<32x2xf6E2M3FN>,
           tensor<1x2xf8E8M0FNU>, tensor<4x2xf32>
    return %d : tensor<4x2xf32>
  }
)mlir";

namespace {
/// A compiler that knows the dialects of its modules and no more, and works on
/// several threads.
class GpuCompilationTest : public testing::Test {
protected:
  GpuCompilationTest() {
    context.loadDialect<BlockScaleDialect, arith::ArithDialect,
                        func::FuncDialect>();
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      diagnostics += isa<UnknownLoc>(diagnostic.getLocation()) ? "?: " : "";
      diagnostics += diagnostic.str() + "\n";
    });
  }

  FailureOr<GpuCode> compile(const GpuCompileOptions &options,
                             const char *text = product) {
    module = parseSourceString<ModuleOp>(text, &context);
    return compileForGpu(*module, options);
  }

  static GpuCompileOptions makeOptions(const char *target) {
    GpuCompileOptions options;
    options.target = lookupChip(target);
    return options;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string diagnostics;
};
} // namespace

TEST_F(GpuCompilationTest, PtxAndLaunchInfo) {
  FailureOr<GpuCode> code = compile(makeOptions("sm_120a"));
  ASSERT_TRUE(succeeded(code)) << diagnostics;
  EXPECT_NE(code->text.find(".visible .entry main("), std::string::npos);
  EXPECT_NE(code->text.find("mma.sync.aligned"), std::string::npos);
  ASSERT_TRUE(code->launchInfo.has_value());
  EXPECT_EQ(code->launchInfo->kernels.size(), 1u);
  EXPECT_EQ(code->launchInfo->target, "sm_120a");
  EXPECT_EQ(code->launchInfo->operands.size(), 6u);
  EXPECT_TRUE(code->remarks.empty());
  EXPECT_EQ(diagnostics, "");
}

TEST_F(GpuCompilationTest, RemarksAreListedAndEmitted) {
  FailureOr<GpuCode> code = compile(makeOptions("sm_90"));
  ASSERT_TRUE(succeeded(code)) << diagnostics;
  ASSERT_EQ(code->remarks.size(), 1u);
  EXPECT_EQ(code->remarks[0].message + "\n", diagnostics);
  EXPECT_TRUE(isa<FileLineColLoc>(code->remarks[0].location));
}

TEST_F(GpuCompilationTest, Stages) {
  GpuCompileOptions options = makeOptions("sm_120a");
  options.stage = GpuStage::Tile;
  FailureOr<GpuCode> code = compile(options);
  ASSERT_TRUE(succeeded(code)) << diagnostics;
  EXPECT_NE(code->text.find("blockscale.mma_scaled"), std::string::npos);
  EXPECT_FALSE(code->launchInfo.has_value());
  options.stage = GpuStage::Kernel;
  code = compile(options);
  ASSERT_TRUE(succeeded(code)) << diagnostics;
  EXPECT_NE(code->text.find("gpu.launch_func"), std::string::npos);
  EXPECT_TRUE(code->launchInfo.has_value());
}

TEST_F(GpuCompilationTest, WrongOptionsAreErrorsWithoutLocation) {
  EXPECT_TRUE(failed(compile({})));
  EXPECT_EQ(diagnostics.rfind("?: null, which lookupChip gives for an unknown "
                              "chip, as target: no target given, expected one "
                              "of cpu ",
                              0),
            0u)
      << diagnostics;
  diagnostics.clear();
  EXPECT_TRUE(failed(compile(makeOptions("cpu"))));
  EXPECT_EQ(diagnostics, "?: expected a GPU as target, got cpu\n");
  diagnostics.clear();
  GpuCompileOptions options = makeOptions("sm_120a");
  options.ptxVersion = 79;
  EXPECT_TRUE(failed(compile(options)));
  EXPECT_EQ(diagnostics, "?: unknown PTX version 79, expected one of 70 to 78, "
                         "80 to 88, 90\n");
  diagnostics.clear();
  options.ptxVersion = 86;
  EXPECT_TRUE(failed(compile(options)));
  EXPECT_EQ(diagnostics,
            "?: PTX 8.6 is too old for sm_120a and the instructions of this "
            "program, expected at least 8.7\n");
  diagnostics.clear();
  options.ptxVersion = 0;
  options.schedule = "all";
  EXPECT_TRUE(failed(compile(options)));
  EXPECT_EQ(diagnostics.rfind("?: expected a schedule of the form ", 0), 0u)
      << diagnostics;

  diagnostics.clear();
  options.schedule = "";
  options.accumulation.rebase = true;
  EXPECT_TRUE(failed(compile(options)));
  EXPECT_EQ(diagnostics, "?: expected a chunk of 32, 64 or 128 terms, got 0\n");
}

TEST_F(GpuCompilationTest, ErrorsHaveLocations) {
  GpuCompileOptions options = makeOptions("sm_90");
  options.nativeOnly = true;
  EXPECT_TRUE(failed(compile(options)));
  EXPECT_EQ(diagnostics.rfind("'blockscale.mma_scaled' op no block-scaled "
                              "instruction on sm_90",
                              0),
            0u)
      << diagnostics;
}

TEST_F(GpuCompilationTest, AfterAFailureTheNextCallWorks) {
  const char *text = R"mlir(
    gpu.module @kernels {
      gpu.func @k(%d: memref<4xi32>) kernel {
        llvm.call_intrinsic "llvm.nvvm.barrier.cluster.arrive"() : () -> ()
        gpu.return
      }
    }
  )mlir";
  context
      .loadDialect<gpu::GPUDialect, LLVM::LLVMDialect, memref::MemRefDialect>();
  EXPECT_TRUE(failed(compile(makeOptions("sm_80"), text)));
  EXPECT_EQ(diagnostics,
            "?: the code generator failed: Cannot select: intrinsic "
            "%llvm.nvvm.barrier.cluster.arrive\n");
  diagnostics.clear();
  EXPECT_TRUE(succeeded(compile(makeOptions("sm_90"), text))) << diagnostics;
}
