//===- BufferizeLaunch.cpp - Launches on memory ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are formed on tensors. The interface here tells upstream's
// bufferization how a launch reads and writes buffers.
//
//===----------------------------------------------------------------------===//

#include "Launch/BufferizeTileOps.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blockscale;
using namespace mlir::bufferization;

/// `buffer` with the identity layout: itself, or a copy.
static Value toIdentityLayout(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getLayout().isIdentity())
    return buffer;
  Value copy = memref::AllocOp::create(
      builder, loc, memref::getMixedSizes(builder, loc, buffer),
      type.getElementType());
  memref::CopyOp::create(builder, loc, buffer, copy);
  return copy;
}

static gpu::KernelDim3 makeSizes(OpBuilder &builder, Location loc,
                                 ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> values =
      getValueOrCreateConstantIndexOp(builder, loc, sizes);
  return {values[0], values[1], values[2]};
}

namespace {

struct LaunchModel
    : DstBufferizableOpInterfaceExternalModel<LaunchModel, LaunchOp> {
  /// A kernel overwrites all of its outputs, unless it updates them. What
  /// another kernel has made is never overwritten: these are flags, of which
  /// each kernel sets some.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &state) const {
    auto launch = cast<LaunchOp>(op);
    return launch.getUpdates() || launch.isDpsInput(&operand) ||
           operand.get().getDefiningOp<LaunchOp>();
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto launch = cast<LaunchOp>(op);
    Location loc = op->getLoc();
    SmallVector<Value> arguments, results, copies;
    for (Value input : launch.getInputs()) {
      if (!isa<TensorType>(input.getType())) {
        arguments.push_back(input);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
      if (failed(buffer))
        return failure();
      arguments.push_back(toIdentityLayout(rewriter, loc, *buffer));
    }
    for (Value output : launch.getOutputs()) {
      FailureOr<Value> buffer = getBuffer(rewriter, output, options, state);
      if (failed(buffer))
        return failure();
      results.push_back(*buffer);
      copies.push_back(toIdentityLayout(rewriter, loc, *buffer));
    }
    llvm::append_range(arguments, copies);
    if (launch.getTensorMaps())
      for (auto [map, number] :
           llvm::zip_equal(launch.getTensorMaps()->getAsRange<TensorMapAttr>(),
                           *launch.getMapped()))
        arguments.push_back(
            TensorMapOp::create(rewriter, loc, arguments[number], map));
    gpu::KernelDim3 blocks = makeSizes(rewriter, loc, launch.getBlocks());
    gpu::KernelDim3 threads = makeSizes(
        rewriter, loc,
        getAsIndexOpFoldResult(op->getContext(), launch.getThreads()));
    Value shared;
    if (launch.getShared() != 0)
      shared = arith::ConstantIntOp::create(
          rewriter, loc, rewriter.getI32Type(),
          static_cast<int64_t>(launch.getShared()));
    std::optional<gpu::KernelDim3> cluster;
    if (launch.getCluster())
      cluster = makeSizes(
          rewriter, loc,
          getAsIndexOpFoldResult(op->getContext(), *launch.getCluster()));
    gpu::LaunchFuncOp::create(rewriter, loc, launch.getKernel(), blocks,
                              threads, shared, arguments,
                              /*asyncObject=*/nullptr, cluster);
    for (auto [copy, result] : llvm::zip_equal(copies, results))
      if (copy != result)
        memref::CopyOp::create(rewriter, loc, copy, result);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};

} // namespace

void blockscale::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, BlockScaleDialect *) {
    LaunchOp::attachInterface<LaunchModel>(*context);
    context->loadDialect<arith::ArithDialect, gpu::GPUDialect,
                         memref::MemRefDialect>();
  });
  refuseToBufferizeTileOps(registry);
}
