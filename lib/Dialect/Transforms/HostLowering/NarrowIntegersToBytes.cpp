//===- NarrowIntegersToBytes.cpp - Whole bytes for integers ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers between kernels are in memory, whose sizes callers and launch infos
// count in bytes. Values in registers keep their width.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_NARROWINTEGERSTOBYTESPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;

/// The integer type in memory for `type`; null if it is `type` itself. A single
/// bit has a byte already.
static IntegerType getStored(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() == 1 || integer.getWidth() > 64)
    return {};
  unsigned width =
      std::max<unsigned>(8, llvm::PowerOf2Ceil(integer.getWidth()));
  if (width == integer.getWidth())
    return {};
  return IntegerType::get(type.getContext(), width);
}

static DenseElementsAttr widen(DenseElementsAttr attr, IntegerType stored) {
  return attr.mapValues(stored, [&](const APInt &value) {
    return value.zext(stored.getWidth());
  });
}

namespace {

struct NarrowIntegersToBytesPass final
    : mlir::blockscale::impl::NarrowIntegersToBytesPassBase<
          NarrowIntegersToBytesPass> {
  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](Operation *op) -> WalkResult {
          if (isa<gpu::GPUModuleOp>(op))
            return WalkResult::skip();
          return visit(op, accesses);
        });
    if (result.wasInterrupted())
      return signalPassFailure();
    AttrTypeReplacer replacer;
    replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
      if (IntegerType stored = getStored(type.getElementType()))
        return type.clone(stored);
      return std::nullopt;
    });
    for (Operation &op : *getOperation().getBody()) {
      if (isa<gpu::GPUModuleOp>(op))
        continue;
      if (auto global = dyn_cast<memref::GlobalOp>(op))
        convertInitialValue(global);
      replacer.recursivelyReplaceElementsIn(&op, /*replaceAttrs=*/true,
                                            /*replaceLocs=*/false,
                                            /*replaceTypes=*/true);
    }
    for (Operation *access : accesses)
      convertAccess(access);
  }

private:
  /// Collects loads and stores of narrow integers; other ops must not access
  /// elements.
  static WalkResult visit(Operation *op,
                          SmallVectorImpl<Operation *> &accesses) {
    auto isNarrow = [](Type type) {
      auto memory = dyn_cast<MemRefType>(type);
      return memory && getStored(memory.getElementType());
    };
    if (llvm::none_of(op->getOperandTypes(), isNarrow))
      return WalkResult::advance();
    if (isa<memref::LoadOp, memref::StoreOp>(op)) {
      accesses.push_back(op);
      return WalkResult::advance();
    }
    auto *dialect = op->getDialect();
    bool isMovement = dialect && (dialect->getNamespace() == "memref" ||
                                  dialect->getNamespace() == "func" ||
                                  dialect->getNamespace() == "scf");
    if (isMovement &&
        !isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp, memref::ViewOp>(
            op))
      return WalkResult::advance();
    return op->emitError("not supported in this version: '")
           << op->getName() << "' on " << op->getOperandTypes().front()
           << " on a GPU target, expected loads and stores of its elements";
  }

  static void convertInitialValue(memref::GlobalOp global) {
    auto value =
        dyn_cast_or_null<DenseElementsAttr>(global.getInitialValueAttr());
    IntegerType stored = getStored(global.getType().getElementType());
    if (value && stored)
      global.setInitialValueAttr(widen(value, stored));
  }

  /// Converts a load or a store, whose memory has whole bytes already.
  static void convertAccess(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      Type stored = store.getMemRefType().getElementType();
      store.getValueMutable().assign(
          arith::ExtUIOp::create(builder, loc, stored, store.getValue()));
      return;
    }
    auto load = cast<memref::LoadOp>(op);
    Type type = load.getType();
    load.getResult().setType(load.getMemRefType().getElementType());
    builder.setInsertionPointAfter(load);
    auto narrow = arith::TruncIOp::create(builder, loc, type, load.getResult());
    load.getResult().replaceAllUsesExcept(narrow, narrow);
  }
};

} // namespace
