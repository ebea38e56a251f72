//===- EmulateMma.cpp - Instructions in software --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emulation/EmulateMmaFunction.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_EMULATEMMAPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

static void replaceByCall(MmaSyncOp op, func::FuncOp function) {
  OpBuilder builder(op);
  auto selector = [&](uint64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, op.getLoc(),
        builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  auto call = func::CallOp::create(
      builder, op.getLoc(), function,
      ValueRange{op.getA(), op.getB(), op.getC(), op.getAScale(),
                 selector(op.getAByte()), selector(op.getAThread()),
                 op.getBScale(), selector(op.getBByte()),
                 selector(op.getBThread())});
  op.getD().replaceAllUsesWith(call.getResult(0));
  op.erase();
}

static const Chip &getLowestChip() {
  return *llvm::find_if(getChips(),
                        [](const Chip &chip) { return !chip.isCpu(); });
}

namespace {
struct EmulateMmaPass final
    : mlir::blockscale::impl::EmulateMmaPassBase<EmulateMmaPass> {
  using Base::Base;

  void runOnOperation() override {
    const Chip *chip = target.empty() ? nullptr : lookupChip(target);
    if (!target.empty() && !chip) {
      emitError(getOperation()->getLoc(), describeUnknownChip(target));
      return signalPassFailure();
    }
    // What every chip has stays.
    unsigned capability = (chip ? *chip : getLowestChip()).capability;
    SmallVector<LoadMatrixOp> loads;
    getOperation().walk([&](LoadMatrixOp op) {
      if (op.getForm().lowestCapability > capability)
        loads.push_back(op);
    });
    for (LoadMatrixOp op : loads)
      emulateLoadMatrix(op);

    // By gpu.module: a call reaches the functions of its own module only.
    llvm::MapVector<gpu::GPUModuleOp, SmallVector<MmaSyncOp>> instructions;
    bool allInModules = true;
    getOperation().walk([&](MmaSyncOp op) {
      // Null beneath an unknown op.
      Operation *table = SymbolTable::getNearestSymbolTable(op);
      if (auto module = dyn_cast_if_present<gpu::GPUModuleOp>(table)) {
        instructions[module].push_back(op);
        return;
      }
      op.emitOpError("expected to be in a function of a gpu.module");
      allInModules = false;
    });
    if (!allInModules)
      return signalPassFailure();

    for (auto &[module, ops] : instructions) {
      SymbolTable symbols(module);
      llvm::DenseMap<InstructionAttr, func::FuncOp> functions;
      for (MmaSyncOp op : ops) {
        func::FuncOp &function = functions[op.getInstruction()];
        if (!function) {
          function = createEmulatedMma(module.getLoc(), op.getInstruction());
          symbols.insert(function);
        }
        replaceByCall(op, function);
      }
    }
  }
};
} // namespace
