//===- EmulateMma.cpp - Emulation of warp instructions --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are tested, and run, on chips that lack their instructions. The table
// here has an emulation for each such instruction.
//
//===----------------------------------------------------------------------===//

#include "Emulation/Emulation.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/SoftwareTensorCore.h"
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

/// The functions that kernels call, one for each instruction of a module.
using EmulatedFunctions =
    llvm::DenseMap<std::pair<Operation *, InstructionAttr>, func::FuncOp>;

/// Replaces `op` by a call of such a function, which it creates if needed.
/// Emits an error if there is no module for it.
template <typename MmaOp>
static LogicalResult emulateMma(Operation *operation,
                                EmulatedFunctions &functions) {
  auto op = cast<MmaOp>(operation);
  // A call can only reach functions of its own module. (Null if an unknown op
  // is in between.)
  auto module = dyn_cast_if_present<gpu::GPUModuleOp>(
      SymbolTable::getNearestSymbolTable(op));
  if (!module)
    return op.emitOpError("expected to be in a function of a gpu.module");
  func::FuncOp &function = functions[{module, op.getInstruction()}];
  if (!function) {
    function = createEmulatedMma(module.getLoc(), op.getInstruction());
    SymbolTable(module).insert(function);
  }
  OpBuilder builder(op);
  auto selector = [&](uint64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, op.getLoc(),
        builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  SmallVector<Value> operands = {op.getA(), op.getB(), op.getC()};
  if constexpr (std::is_same_v<MmaOp, MmaSpOp>)
    operands.push_back(op.getMetadata());
  operands.append({op.getAScale(), selector(op.getAByte()),
                   selector(op.getAThread()), op.getBScale(),
                   selector(op.getBByte()), selector(op.getBThread())});
  auto call = func::CallOp::create(builder, op.getLoc(), function, operands);
  op.getD().replaceAllUsesWith(call.getResult(0));
  op.erase();
  return success();
}

namespace {
struct Row {
  StringRef name;
  LogicalResult (*emulate)(Operation *op, EmulatedFunctions &functions);
};
} // namespace

static const Row kRows[] = {
    {LoadMatrixOp::getOperationName(),
     [](Operation *op, EmulatedFunctions &) {
       emulateLoadMatrix(cast<LoadMatrixOp>(op));
       return success();
     }},
    {MmaSyncOp::getOperationName(), emulateMma<MmaSyncOp>},
    {MmaSpOp::getOperationName(), emulateMma<MmaSpOp>},
};

/// The chip to compile for if none is named: its instructions exist on all.
static const Chip &getLowestChip() {
  return *llvm::find_if(getChips(),
                        [](const Chip &chip) { return !chip.isCpu(); });
}

namespace {
struct EmulateMmaPass final
    : mlir::blockscale::impl::EmulateMmaPassBase<EmulateMmaPass> {
  void runOnOperation() override {
    FailureOr<TargetAttr> found = lookupTarget(getOperation());
    if (failed(found))
      return signalPassFailure();
    TargetAttr target = *found;
    const Chip &chip = target ? target.getFinalChip() : getLowestChip();
    bool emulatesAll = !target || target.getEmulatedOn();

    SmallVector<Operation *> worklist;
    bool isLeft = false;
    getOperation().walk([&](InstructionOpInterface op) {
      // EmulateTcgen05 replaces the NVVM ops that these become.
      if (hasSoftwareTensorCore(target) && needsTensorMemory(op)) {
        isLeft = true;
        return;
      }
      // Block-scaled instructions. (Null for ops without properties.)
      bool isScaled =
          op->getInherentAttr("instruction").value_or(Attribute()) != nullptr;
      if ((emulatesAll && isScaled) || !op.isSupportedOn(chip))
        worklist.push_back(op);
    });
    EmulatedFunctions functions;
    for (Operation *op : worklist)
      if (failed(emulate(op, functions, chip)))
        return signalPassFailure();
    if (target && !isLeft)
      getOperation()->setAttr(kTargetAttrName,
                              TargetAttr::get(&getContext(), &chip, nullptr));
  }

private:
  static LogicalResult emulate(Operation *op, EmulatedFunctions &functions,
                               const Chip &chip) {
    StringRef name = op->getName().getStringRef();
    const Row *row =
        llvm::find_if(kRows, [&](const Row &r) { return r.name == name; });
    if (row != std::end(kRows))
      return row->emulate(op, functions);
    auto instruction = cast<InstructionOpInterface>(op);
    if (!instruction.isSupportedOn(chip))
      return op->emitOpError("expected a chip with ")
             << instruction.describeInstruction() << ", got "
             << StringRef(chip.name);
    return op->emitOpError("not supported in this version: ")
           << instruction.describeInstruction() << " in software";
  }
};
} // namespace
