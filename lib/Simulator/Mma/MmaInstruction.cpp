//===- MmaInstruction.cpp - mma.sync and mma.sp ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates the operands of mma and executes it: unpacks registers to
// matrices, multiplies, and packs the result. MmaSync.h defines the operands.
//
//===----------------------------------------------------------------------===//

#include "Machine/Block.h"
#include "Mma/AdderRules.h"
#include "Mma/MatrixOperands.h"
#include "Mma/MmaSync.h"
#include "Mma/SparseFields.h"
#include "Translation/OpcodeTable.h"
#include "Translation/Translator.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// Registers in the order d, a, b, c, then metadata, then data, byte-id and
/// thread-id of A's scales and of B's.
struct MultiplyForm {
  const MmaForm *form;
  /// See findAdderRule.
  const AdderRule *adder;
  MmaRegisters registers;
  unsigned sparsitySelector;
};
} // namespace

MmaOutcome sim::executeMma(const MmaForm &form, const MmaOperands &operands,
                           const AdderRule *adder) {
  MmaMatrices matrices;
  MmaOutcome outcome = readOperands(form, operands, matrices);
  if (outcome.error)
    return outcome;
  // All operands have been read: d may be registers of a, b or c.
  uint64_t bits[kMaxM * kN];
  multiplyMatrices(form, matrices, adder, bits);
  writeResults(form, matrices, bits, operands.d);
  return outcome;
}

static void executeMultiply(Warp &warp, const Step &step) {
  const auto &form = step.getForm<MultiplyForm>();
  if (!warp.requireWholeWarp("mma"))
    return;
  llvm::SmallVector<Lanes *, 24> lanes;
  for (Slot slot : step.operands)
    lanes.push_back(&warp.reg(slot));
  llvm::ArrayRef<Lanes *> rest = lanes;
  auto take = [&](unsigned count) {
    llvm::ArrayRef<Lanes *> taken = rest.take_front(count);
    rest = rest.drop_front(count);
    return taken;
  };
  auto takeSources = [&](unsigned count) {
    llvm::ArrayRef<Lanes *> taken = take(count);
    return llvm::ArrayRef<const Lanes *>(taken.data(), taken.size());
  };
  MmaOperands operands;
  operands.d = take(form.registers.d);
  operands.a = takeSources(form.registers.a);
  operands.b = takeSources(form.registers.b);
  operands.c = takeSources(form.registers.c);
  if (form.registers.isSparse) {
    operands.metadata = take(1)[0];
    operands.sparsitySelector = form.sparsitySelector;
  }
  if (form.registers.isBlockScaled) {
    for (const Lanes **operand :
         {&operands.scaleA, &operands.byteIdA, &operands.threadIdA,
          &operands.scaleB, &operands.byteIdB, &operands.threadIdB})
      *operand = take(1)[0];
  }
  MmaOutcome outcome = executeMma(
      *form.form, operands,
      warp.block.launch.options->numerics == Numerics::Hardware ? form.adder
                                                                : nullptr);
  if (outcome.error)
    return warp.fail(outcome.error->lane, outcome.error->text);
  if (outcome.strict &&
      !warp.block.reportStrict(warp, outcome.strict->lane, outcome.strict->text,
                               "PTX ISA, \"Sparse matrix storage\""))
    return;
  for (const LaneMessage &warning : outcome.warnings)
    warp.warn(warning.lane, warning.text);
}

/// A scale operand: 32 bits of data and {byte-id, thread-id}.
static void addScale(Translator &t, const PtxOperand &data,
                     const PtxOperand &selectors,
                     llvm::SmallVectorImpl<Slot> &slots) {
  slots.push_back(t.source(data, Type::B32));
  t.sources(selectors, Type::U16, 2, slots);
}

static void translateMultiply(Translator &t, Modifiers &modifiers) {
  Result<const MmaForm *> found = lookupMma(t.current->modifiers);
  if (!found)
    return t.fail(found.message());
  const MmaForm &mma = **found;
  if (!isOnTarget(mma, t.program.module.target))
    return t.fail("expected a target that has " +
                  llvm::Twine(getStatsName(mma)) + ", got " +
                  t.program.module.target);
  const Module &module = t.program.module;
  unsigned version = module.versionMajor * 10 + module.versionMinor;
  if (version < getPtxVersion(mma))
    return t.fail("expected PTX version " + llvm::Twine(getPtxVersion(mma)) +
                  " or above for " + getStatsName(mma) + ", got " +
                  llvm::Twine(version));

  MultiplyForm form = {
      &mma,
      findAdderRule(MatrixUnit::Warp, getTargetNumber(module.target), mma),
      getRegisters(mma), 0};
  const MmaRegisters &registers = form.registers;
  if (!t.expectOperands(4 + (registers.isSparse ? 2 : 0) +
                        (registers.isBlockScaled ? 4 : 0)))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  llvm::SmallVector<Slot> slots;
  t.destinations(operands[0], registers.dType, registers.d, slots);
  t.sources(operands[1], registers.aType, registers.a, slots);
  t.sources(operands[2], registers.bType, registers.b, slots);
  t.sources(operands[3], registers.cType, registers.c, slots);
  operands = operands.drop_front(4);
  if (registers.isSparse) {
    slots.push_back(t.source(operands[0], Type::B32));
    form.sparsitySelector = t.constant(operands[1], "the sparsity selector");
    operands = operands.drop_front(2);
  }
  if (registers.isBlockScaled) {
    addScale(t, operands[0], operands[1], slots);
    addScale(t, operands[2], operands[3], slots);
  }
  if (t.hasFailed())
    return;
  Step &step = t.emit(executeMultiply, StepClass::Matrix, slots, t.keep(form));
  step.name = llvm::StringRef(getStatsName(mma)).copy(*t.code.allocator);
  step.multiplyAdds = getMultiplyAdds(mma);
  step.matrixClass = getMatrixClass(mma);
  step.isSparse = mma.isSparse();
}

void sim::addMatrixInstructions(OpcodeTable &table) {
  table["mma"] = translateMultiply;
}
