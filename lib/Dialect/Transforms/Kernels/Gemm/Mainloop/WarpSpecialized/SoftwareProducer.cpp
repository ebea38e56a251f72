//===- SoftwareProducer.cpp - The software producer -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The non-TMA producer: warps that fill stages with the loaders of the
// multistage mainloop, for operands that no tensor map can describe. They write
// through the generic proxy and the tensor core reads through the async proxy,
// so a proxy fence stands between them.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/RoleEmitter.h"

#include "Kernels/Gemm/Mainloop/Multistage/KLoop.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

void RoleEmitter::emitFill(OpBuilder &at, const WorkTile &tile, Value thread,
                           Value step, const PipelineState &state) {
  auto getArgument = [&](unsigned i) -> Value { return kernel.getArgument(i); };
  bool isAligned =
      areTilesInside() &&
      KernelProblem::isMultiple(problem.k, plan.getSchedule().getK());
  FillContext context = {loc, getArgument, kSoftwareProducerWarps * kWarpLanes,
                         thread,
                         /*isGuarded=*/!isAligned};
  bool hasCopies = false;
  for (GemmOperand id : kGemmOperands) {
    const StagedOperand &operand = operands[id];
    if (!operand.loader)
      continue;
    bool isA = getInfo(id).isA;
    int64_t columns = plan.getColumns(isA);
    SmallVector<int64_t> shape(operand.loader->getTile().shape);
    for (int64_t column = 0; column != columns; ++column) {
      int64_t first = column * ShapedType::getNumElements(shape);
      Value memory =
          emitView(at, shape, at.getI8Type(),
                   emitStageOffset(at, state, plan.getOffset(id) + first));
      AffineExpr d0 = at.getAffineDimExpr(0);
      FillSource source = {
          getOperandBatch(at, kernel, problem[id], tile.matrix),
          isA ? sizes.m : sizes.n, isA && sizes.keptK ? sizes.keptK : sizes.k,
          emitRow(at, tile, id),
          applyExprs(at, loc, {d0 * columns + column}, step)[0]};
      operand.loader->emit(at, context, memory, source);
    }
    hasCopies |= operand.loader->isAsync();
  }
  if (hasCopies) {
    Value token = createCopyGroup(at, loc);
    nvgpu::DeviceAsyncWaitOp::create(at, loc, token, at.getI32IntegerAttr(0));
  }
  // ldmatrix reads through the generic proxy, too: no proxy fence.
  if (!getPathInfo(problem.instruction.getPath()).isWarpLevel)
    emitProxyFence(at);
  emitArriveAtLeader(at, stages.emitFull(at, state));
}

void RoleEmitter::emitSoftwareProducer(OpBuilder role, int64_t first) {
  Value thread = gpu::ThreadIdOp::create(role, loc, gpu::Dimension::x);
  AffineExpr d0 = role.getAffineDimExpr(0);
  thread = applyExprs(role, loc, {d0 % (kSoftwareProducerWarps * kWarpLanes)},
                      addIndex(role, loc, thread, -first))[0];
  fillStages(role, /*isUnrolled=*/false,
             [&](OpBuilder &at, const WorkTile &tile, Value step,
                 const PipelineState &state) {
               emitFill(at, tile, thread, step, state);
             });
}
