//===- ControlFlow.cpp - Branches and exits -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A branch only sets where its lanes continue. Warp.cpp keeps the sets of
// diverged lanes, and Translation/Reconvergence.cpp finds where they
// reconverge.
//
// Source: PTX ISA, section 9.7.12 "Control Flow Instructions".
//
//===----------------------------------------------------------------------===//

#include "Machine/Block.h"
#include "Translation/OpcodeTable.h"
#include "Translation/Reconvergence.h"
#include "Translation/Translator.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

namespace {
struct BranchForm {
  uint32_t target, reconverge;
  /// Run the lanes that leave the kernel first, so that no lane waits for them.
  bool othersFirst;
};

struct IndexedBranchForm {
  llvm::ArrayRef<uint32_t> targets;
  uint32_t reconverge;
};
} // namespace

static void executeBranch(Warp &warp, const Step &step) {
  const auto &form = step.getForm<BranchForm>();
  warp.branch(form.target, form.reconverge, form.othersFirst);
}

static void translateBranch(Translator &t, Modifiers &modifiers) {
  bool isUniform = modifiers.take("uni");
  if (!t.finish(modifiers) || !t.expectOperands(1))
    return;
  const PtxOperand &label = t.current->operands[0];
  if (label.kind != PtxOperand::Kind::Label)
    return t.fail(label.location, "expected a label");
  auto *form = t.keep(BranchForm());
  t.patchTarget(&form->target, label.index);
  t.patchReconvergence(&form->reconverge);
  form->othersFirst =
      leadsToExit(t.function, t.index + 1) &&
      !leadsToExit(t.function, t.function.labels[label.index].instruction);
  t.emit(executeBranch, StepClass::Control, {}, form).isUniform = isUniform;
}

static void executeIndexedBranch(Warp &warp, const Step &step) {
  const auto &form = step.getForm<IndexedBranchForm>();
  Slot index = step.operands[0];
  if (!warp.requireDefined(index, warp.active, "the index of a branch"))
    return;
  uint32_t targets[kLanes] = {};
  LaneMask active = warp.active;
  forEachLane(active, [&](unsigned lane) {
    uint64_t value = warp.reg(index).value[lane];
    if (value < form.targets.size())
      targets[lane] = form.targets[value];
    else
      warp.fail(lane, "expected an index of a branch below " +
                          llvm::Twine(form.targets.size()) + ", got " +
                          llvm::Twine(value));
  });
  unsigned first = __builtin_ctz(active);
  if (step.isUniform)
    forEachLane(active, [&](unsigned lane) {
      if (targets[lane] != targets[first])
        warp.fail(lane, "brx.idx.uni expected the same target in all lanes, "
                        "but this one and lane " +
                            llvm::Twine(first) + " go apart");
    });
  if (warp.state != WarpState::Failed)
    warp.branch(targets, form.reconverge);
}

static void translateIndexedBranch(Translator &t, Modifiers &modifiers) {
  bool isIndexed = modifiers.take("idx"), isUniform = modifiers.take("uni");
  if (!isIndexed)
    t.fail("expected brx.idx");
  if (!t.finish(modifiers) || !t.expectOperands(2))
    return;
  const PtxOperand &list = t.current->operands[1];
  if (list.kind != PtxOperand::Kind::BranchTargets)
    return t.fail(list.location, "expected a label of .branchtargets");
  const std::vector<Index> &labels = t.function.branchTargets[list.index];
  auto targets = t.keepArray(
      llvm::ArrayRef<uint32_t>(std::vector<uint32_t>(labels.size())));
  for (size_t i = 0; i != labels.size(); ++i)
    t.patchTarget(&targets[i], labels[i]);
  auto *form = t.keep(IndexedBranchForm{targets, 0});
  t.patchReconvergence(&form->reconverge);
  t.emit(executeIndexedBranch, StepClass::Control,
         t.source(t.current->operands[0], Type::U32), form)
      .isUniform = isUniform;
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

/// `trap` or `brkpt`: there is no debugger that could continue.
static void executeTrap(Warp &warp, const Step &step) {
  warp.fail(__builtin_ctz(warp.active), "the kernel executes a " + step.name);
}

/// An instruction without operands and modifiers but the `.uni` of `ret`.
template <void (*execute)(Warp &, const Step &)>
static void translateEnd(Translator &t, Modifiers &modifiers) {
  bool isUniform = t.current->opcode == "ret" && modifiers.take("uni");
  if (t.finish(modifiers) && t.expectOperands(0))
    t.emit(execute, StepClass::Control, {}).isUniform = isUniform;
}

static void executeExit(Warp &warp, const Step &step) { warp.exit(); }
/// Instructions without a visible effect.
static void translateHint(Translator &t, Modifiers &modifiers) {
  t.emit(executeNothing, StepClass::Control, {});
}

void sim::addControlInstructions(OpcodeTable &table) {
  table["bra"] = translateBranch;
  table["brx"] = translateIndexedBranch;
  table["ret"] = translateEnd<executeReturn>;
  table["exit"] = translateEnd<executeExit>;
  table["trap"] = translateEnd<executeTrap>;
  table["brkpt"] = translateEnd<executeTrap>;
  table["nanosleep"] = translateHint;
  table["pmevent"] = translateHint;
}
