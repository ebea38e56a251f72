//===- consumer.cpp - Uses blockscale from outside ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static constexpr const char *program = R"mlir(
  func.func @mma(%x: tensor<4x32xf8E5M2>, %xs: tensor<4x1xf8E8M0FNU>,
                 %y: tensor<32x2xf6E2M3FN>, %ys: tensor<1x2xf8E8M0FNU>,
                 %acc: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         : tensor<4x32xf8E5M2>, tensor<4x1xf8E8M0FNU>, tensor<32x2xf6E2M3FN>,
           tensor<1x2xf8E8M0FNU>, tensor<4x2xf32>
    return %d : tensor<4x2xf32>
  }
)mlir";

int main() {
  DialectRegistry registry;
  blockscale::registerPipelineDialects(registry);
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(program, &context);
  if (!module)
    return 1;
  module->walk([](blockscale::MmaScaledOp op) {
    llvm::outs() << "block size " << op.getBlock() << "\n";
  });
  PassManager pm(&context);
  blockscale::buildCpuPipeline(pm);
  if (failed(pm.run(*module)))
    return 1;
  llvm::outs() << "lowered\n";
  return 0;
}
