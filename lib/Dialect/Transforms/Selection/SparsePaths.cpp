//===- SparsePaths.cpp - Paths of sparse products -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Selection/SparsePaths.h"

#include "Selection/CheckMetadata.h"
#include "Selection/ExpandSparse.h"
#include "Utils/CheckMessage.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

static LogicalResult selectPath(SparseMmaScaledOp op,
                                const PathChooser &chooser, bool nativeOnly) {
  Attribute wanted = op->getAttr(kPathAttrName);
  if (wanted && !isa<PathAttr>(wanted))
    return op.emitOpError("expected the attribute '")
           << kPathAttrName << "' to be a #blockscale.path, got " << wanted;
  std::optional<Path> path = chooser.chooseSparse(op);
  if (path && (!wanted || cast<PathAttr>(wanted).getValue() == *path)) {
    op->setAttr(kPathAttrName, PathAttr::get(op.getContext(), *path));
    checkMetadata(op);
    return success();
  }
  std::optional<InstructionChoice> native =
      chooseNative(op.getTypes(), chooser.chip);
  std::string reason = "no kernel with a sparse instruction for it on " +
                       std::string(chooser.chip.name);
  if (path)
    reason = "the attribute '" + kPathAttrName.str() +
             "' does not request the path " +
             std::string(getPathInfo(*path).name);
  else if (chooser.emulatedOn && native)
    reason = "no " + getOpcode(*native->emitted) + " in software";
  else if (std::string chips = PathChooser::listSparseChips(op.getTypes());
           !chips.empty())
    reason += ", one computes it on " + chips;
  if (nativeOnly)
    return op.emitOpError(reason);
  InFlightDiagnostic remark = op.emitRemark(reason);
  // On vectors it becomes loops, which are exact.
  if (!op.hasTensorSemantics()) {
    remark << "; computed by loops";
    return success();
  }
  if (std::optional<InstructionChoice> kept =
          chooser.chooseDequantizedSparse(op, cast_or_null<PathAttr>(wanted))) {
    SmallVector<AlternativeAttr> list =
        chooser.getSparseAlternatives(op, cast_or_null<PathAttr>(wanted));
    remark << "; dequantized to bf16 for ";
    if (!list.empty()) {
      remark << getOpcode(list.front().getInstruction().getInstruction())
             << " or, where K has no whole units, ";
      op->setAttr(
          kAlternativesAttrName,
          ArrayAttr::get(op.getContext(),
                         SmallVector<Attribute>(list.begin(), list.end())));
    }
    remark << getOpcode(*kept->emitted) << ", which reads the metadata";
    op->setAttr(kPathAttrName,
                PathAttr::get(op.getContext(), kept->emitted->path));
    checkMetadata(op);
    return success();
  }
  expandSparse(op, remark);
  return success();
}

LogicalResult blockscale::selectSparsePaths(Operation *root,
                                            const PathChooser &chooser,
                                            bool nativeOnly) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<SparseMmaScaledOp, SparsifyOp, CompressOp, DecompressOp,
            TileMetadataOp, UntileMetadataOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (op->getParentOfType<gpu::GPUModuleOp>())
      return op->emitError("not supported in this version: '")
             << op->getName() << "' in a kernel";
    OpBuilder builder(op);
    if (auto checked = dyn_cast<RuntimeVerifiableOpInterface>(op))
      checked.generateRuntimeVerification(builder, op->getLoc(),
                                          [](Operation *of, StringRef message) {
                                            return getCheckMessage(of, message);
                                          });
    if (auto product = dyn_cast<SparseMmaScaledOp>(op))
      if (failed(selectPath(product, chooser, nativeOnly)))
        return failure();
  }
  return success();
}
