//===- WgmmaInstructions.cpp - wgmma --------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates wgmma instructions and their registers.
//
// Source: PTX ISA, section 9.7.15 "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions".
//
//===----------------------------------------------------------------------===//

#include "Collectives/CollectiveInstructions.h"
#include "Machine/BlockGroup.h"
#include "Ptx/Targets.h"
#include "Trace/Recorder.h"
#include "Translation/OpcodeTable.h"
#include "Wgmma/WarpgroupForm.h"
#include "Wgmma/WarpgroupUnit.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

//===----------------------------------------------------------------------===//
// fence, commit_group and wait_group
//===----------------------------------------------------------------------===//

/// Whether the warps of the warpgroup execute the current step together.
static bool noteStep(Warp &warp, llvm::StringRef what) {
  return requireWarpgroup(warp, what) &&
         getWarpgroups(warp).note(warp, {warp.current->line, 0, 0, false});
}

static void executeFence(Warp &warp, const Step &step) {
  if (noteStep(warp, "wgmma.fence"))
    getWarpgroups(warp).getQueue(warp).fence();
}

static void executeCommit(Warp &warp, const Step &step) {
  if (!noteStep(warp, "wgmma.commit_group"))
    return;
  if (Recorder *recorder = warp.block.group.recorder.get())
    recorder->commit(warp, TraceUnit::Warpgroups);
  getWarpgroups(warp).getQueue(warp).commit();
}

static void executeWait(Warp &warp, const Step &step) {
  constexpr llvm::StringRef name = "wgmma.wait_group";
  uint64_t keep = step.getForm<uint64_t>();
  if (!requireWarpgroup(warp, name) ||
      !getWarpgroups(warp).completeReads(warp, keep) || !noteStep(warp, name))
    return;
  if (Recorder *recorder = warp.block.group.recorder.get())
    recorder->awaitGroups(warp, TraceUnit::Warpgroups, keep);
  getWarpgroups(warp).getQueue(warp).wait(keep);
}

template <Step::Execute execute>
static void translateWithoutOperands(Translator &t, Modifiers &modifiers) {
  if (t.finish(modifiers) && t.expectOperands(0))
    t.emit(execute, StepClass::Synchronization, {});
}

static void translateWait(Translator &t, Modifiers &modifiers) {
  if (!t.finish(modifiers) || !t.expectOperands(1))
    return;
  int64_t keep = t.constant(t.current->operands[0], "the number of groups");
  if (keep < 0)
    return t.fail("expected a number of groups that is not negative, got " +
                  llvm::Twine(keep));
  t.emit(executeWait, StepClass::Synchronization, {}, t.keep(uint64_t(keep)));
}

//===----------------------------------------------------------------------===//
// mma_async
//===----------------------------------------------------------------------===//

/// Takes out the shape and the types.
static std::optional<WarpgroupForm> takeForm(Translator &t,
                                             Modifiers &modifiers) {
  if (modifiers.take("b1"))
    return t.error("not supported in this version: wgmma.mma_async with .b1");
  bool isSparse = modifiers.take("sp");
  if (modifiers.rest().empty())
    return t.error(
        "expected a shape behind wgmma.mma_async, such as .m64n8k16");
  llvm::StringRef shape = modifiers.rest().front();
  modifiers.take(shape);
  WarpgroupTypes types = {};
  types.isSparse = isSparse;
  types.isSatfinite = modifiers.take("satfinite");
  for (Type *type : {&types.d, &types.a, &types.b}) {
    std::optional<Type> found = modifiers.takeType();
    if (!found)
      return t.error(
          "expected the types of D, A and B behind wgmma.mma_async." + shape);
    *type = *found;
  }
  const Module &module = t.program.module;
  Result<WarpgroupForm> form = lookupWarpgroupForm(
      shape, types, module.versionMajor * 10 + module.versionMinor);
  if (!form)
    return t.error(form.message());
  form->adder = findAdderRule(MatrixUnit::Warpgroup,
                              getTargetNumber(module.target), form->tile);
  return *form;
}

/// The registers of an operand, which must be a vector.
static void takeRegisters(Translator &t, const PtxOperand &operand, Type type,
                          unsigned count, llvm::SmallVectorImpl<Slot> &slots) {
  size_t got = t.elements(operand).size();
  if (got != count)
    return t.fail(operand.location, "expected a vector of " +
                                        llvm::Twine(count) + " elements, got " +
                                        llvm::Twine(got));
  for (const PtxOperand &element : t.elements(operand)) {
    if (element.kind != PtxOperand::Kind::Register)
      return t.fail(element.location, "expected a register of a matrix");
    slots.push_back(t.destination(element, type));
  }
}

/// A constant with two legal values.
static bool takeFlag(Translator &t, const PtxOperand &operand, const char *what,
                     int64_t isFalse, int64_t isTrue) {
  int64_t value = t.constant(operand, what);
  if (value != isFalse && value != isTrue)
    t.fail(operand.location, "expected " + llvm::Twine(isFalse) + " or " +
                                 llvm::Twine(isTrue) + " for " + what +
                                 ", got " + llvm::Twine(value));
  return value == isTrue;
}

static void takeConstants(Translator &t, llvm::ArrayRef<PtxOperand> operands,
                          WarpgroupForm &form) {
  auto take = [&](const char *what, int64_t isFalse, int64_t isTrue) {
    return takeFlag(t, operands.consume_front(), what, isFalse, isTrue);
  };
  if (form.hasSigns) {
    form.isNegatedA = take("imm-scale-a", 1, -1);
    form.isNegatedB = take("imm-scale-b", 1, -1);
  }
  if (!form.hasTransposes)
    return;
  if (!form.isRegisterA)
    form.isTransposedA = take("imm-trans-a", 0, 1);
  form.isTransposedB = take("imm-trans-b", 0, 1);
}

/// Refuses operands that the ISA does not define: a register twice in D, or in
/// both D and A.
static void checkDistinct(Translator &t, llvm::ArrayRef<Slot> d,
                          llvm::ArrayRef<Slot> a) {
  llvm::SmallSet<Slot, 32> found;
  for (Slot slot : d)
    if (!found.insert(slot).second)
      return t.fail("expected a register for each element of D, got one twice");
  for (Slot slot : a)
    if (found.contains(slot))
      return t.fail("expected other registers for A than for D");
}

static void translateMultiply(Translator &t, Modifiers &modifiers) {
  std::optional<WarpgroupForm> form = takeForm(t, modifiers);
  if (!form)
    return;
  bool isSparse = form->tile.isSparse();
  unsigned fewest = isSparse ? 6 : 4;
  if (!t.finish(modifiers) || !t.expectOperands(fewest, fewest + 4))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  form->isRegisterA = operands[1].kind == PtxOperand::Kind::Vector;
  if (!t.expectOperands(fewest + form->getNumConstants()))
    return;
  MmaRegisters registers = getRegisters(form->tile);
  llvm::SmallVector<Slot> slots, rows;
  takeRegisters(t, operands[0], registers.dType, form->getNumAccumulators(),
                slots);
  if (form->isRegisterA)
    takeRegisters(t, operands[1], registers.aType, registers.a, rows);
  else
    rows.push_back(t.source(operands[1], Type::B64));
  checkDistinct(t, slots, rows);
  slots.append(rows);
  slots.push_back(t.source(operands[2], Type::B64));
  operands = operands.drop_front(3);
  if (isSparse) {
    slots.push_back(t.source(operands[0], Type::B32));
    form->sparsitySelector = takeFlag(t, operands[1], "sp-sel", 0, 1);
    operands = operands.drop_front(2);
  }
  if (operands[0].kind == PtxOperand::Kind::Integer)
    takeFlag(t, operands[0], "scale-d", 0, 1);
  slots.push_back(t.predicateSource(operands[0], &form->isScaleNegated));
  takeConstants(t, operands.drop_front(), *form);
  form->name = llvm::StringRef(makeName(*form)).copy(*t.code.allocator);
  Step &step =
      t.emit(executeWarpgroupMultiply, StepClass::Matrix, slots, t.keep(*form));
  step.name = form->name;
  step.multiplyAdds = kWarpRows * form->n * form->tile.k;
  step.isSparse = isSparse;
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

static void translateWarpgroup(Translator &t, Modifiers &modifiers) {
  static constexpr struct {
    llvm::StringRef name;
    void (*translate)(Translator &t, Modifiers &modifiers);
  } rows[] = {
      {"fence", translateWithoutOperands<executeFence>},
      {"commit_group", translateWithoutOperands<executeCommit>},
      {"wait_group", translateWait},
      {"mma_async", translateMultiply},
  };
  for (const auto &row : rows) {
    if (!modifiers.take(row.name))
      continue;
    const Module &module = t.program.module;
    if (!hasFeature(module.target, Feature::Wgmma))
      return t.fail("expected the target sm_90a for wgmma." +
                    llvm::Twine(row.name) + ", got " + module.target);
    if (module.versionMajor < 8)
      return t.fail("expected PTX version 8.0 or above for wgmma." +
                    llvm::Twine(row.name) + ", got " +
                    llvm::Twine(module.versionMajor) + "." +
                    llvm::Twine(module.versionMinor));
    t.code.facilities |= UsesWarpgroups | UsesAsyncProxy;
    if (!takeSync(t, modifiers))
      return;
    if (!modifiers.take("aligned"))
      return t.fail("expected .aligned behind wgmma." + llvm::Twine(row.name));
    return row.translate(t, modifiers);
  }
  t.fail("expected an instruction of wgmma, such as wgmma.mma_async");
}

void sim::addWarpgroupInstructions(OpcodeTable &table) {
  table["wgmma"] = translateWarpgroup;
}
