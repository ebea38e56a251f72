//===- BufferizeTileOps.cpp - What to run before bufferization ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of the tile level have no form on memory: passes make loops or kernels of
// them while they are on tensors. Without an interface, upstream's
// bufferization says no more than that an op was not bufferized.
//
//===----------------------------------------------------------------------===//

#include "Launch/BufferizeTileOps.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/IR/Rebase.h"
#include "blockscale/Dialect/IR/Routing.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

using namespace mlir;
using namespace mlir::blockscale;
using namespace mlir::bufferization;

namespace {

template <typename Op>
struct RefusingModel
    : BufferizableOpInterface::ExternalModel<RefusingModel<Op>, Op> {
  // Results are new tensors.
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &,
                          const BufferizationOptions &,
                          BufferizationState &) const {
    return op->emitOpError(
        "cannot be bufferized: run blockscale-decompose before bufferization "
        "for loops, or blockscale-form-kernels for kernels of a GPU");
  }
};

template <typename... Ops>
void refuse(MLIRContext &context) {
  (Ops::template attachInterface<RefusingModel<Ops>>(context), ...);
}

} // namespace

void blockscale::refuseToBufferizeTileOps(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, BlockScaleDialect *) {
    refuse<CombineRowsOp, CompressOp, DecompressOp, DequantizeOp,
           GroupedMatmulOp, GroupedMmaScaledOp, MmaScaledOp, QuantizeOp,
           RebaseOp, RouteOp, SortRoutesOp, SparseMmaScaledOp, SparsifyOp,
           SwizzleGroupScalesOp, SwizzleScalesOp, TileMetadataOp,
           UnswizzleScalesOp, UntileMetadataOp>(*context);
  });
}
