//===- StageSync.cpp - When a stage is full or empty ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Apart from the loop, so that a loop can use other barriers.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/StageSync.h"

#include "blockscale/Dialect/IR/PrintedLevel.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

Value blockscale::createCopyGroup(OpBuilder &b, Location loc) {
  auto group = nvgpu::DeviceAsyncCreateGroupOp::create(
      b, loc, nvgpu::DeviceAsyncTokenType::get(b.getContext()), ValueRange());
  group->setAttr(kNoTokensAttrName, b.getUnitAttr());
  return group;
}

void StageSync::commit(OpBuilder &b) {
  if (hasAsyncCopies)
    token = createCopyGroup(b, loc);
}

void StageSync::wait(OpBuilder &b, int64_t left) {
  if (token)
    nvgpu::DeviceAsyncWaitOp::create(
        b, loc, token, b.getI32IntegerAttr(static_cast<int32_t>(left)));
  gpu::BarrierOp::create(b, loc);
}
