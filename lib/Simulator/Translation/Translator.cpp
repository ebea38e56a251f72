//===- Translator.cpp - Translates instructions to steps ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates the instructions of a function in one pass; forward references to
// steps are patched at the end.
//
//===----------------------------------------------------------------------===//

#include "Translation/Translator.h"

#include "Machine/Block.h"
#include "Translation/OpcodeTable.h"
#include "Translation/Reconvergence.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

Translator::Translator(TranslatedModule &program, const Function &function,
                       Code &code)
    : program(program), function(function), code(code) {}

void sim::executeNothing(Warp &warp, const Step &step) {}

void sim::executeReturn(Warp &warp, const Step &step) { warp.leave(); }

static bool isWarpgroup(const PtxInstruction &instruction) {
  return instruction.opcode == "wgmma";
}

Error Translator::run() {
  code.name = function.name.str();
  layOutRegisters(function.registers);
  layOutParameters();
  layOutLocals();
  if (firstError)
    return *firstError;
  if (!function.isEntry) {
    code.parameters =
        getParameterLocations(program, function, /*ofReturns=*/false);
    code.returns = getParameterLocations(program, function, /*ofReturns=*/true);
  }
  reconvergence = computeReconvergence(function);
  hasWarpgroups = llvm::any_of(function.instructions, isWarpgroup);
  firstSteps.reserve(function.instructions.size() + 1);
  for (const PtxInstruction &instruction : function.instructions) {
    index = firstSteps.size();
    firstSteps.push_back(code.steps.size());
    current = &instruction;
    usedSlots.clear();
    auto row = getOpcodeTable().find(instruction.opcode);
    Modifiers modifiers(instruction);
    if (row == getOpcodeTable().end())
      fail("not supported in this version: instruction " +
           llvm::Twine(quoteForMessage(instruction.opcode)));
    else
      row->second(*this, modifiers);
    if (firstError)
      return *firstError;
    if (hasWarpgroups)
      noteRegisters();
  }
  // Lanes that run past the end return.
  firstSteps.push_back(code.steps.size());
  Step &last = code.steps.emplace_back();
  last.execute = executeReturn;
  last.kind = StepClass::Control;
  last.line = function.instructions.empty() ? function.location.line
                                            : current->location.line;
  for (const Patch &patch : patches)
    *patch.destination = patch.instruction == kFunctionEnd
                             ? code.steps.size()
                             : firstSteps[patch.instruction];
  if (hasWarpgroups)
    keepRegisters();
  return Error::success();
}

/// All steps of an instruction use its registers; wgmma checks its own.
void Translator::noteRegisters() {
  if (isWarpgroup(*current)) {
    warpgroupRegisters.insert_range(usedRegisters);
    usedRegisters.clear();
  }
  usedByStep.resize(code.steps.size(), usedRegisters);
  usedRegisters.clear();
}

void Translator::keepRegisters() {
  usedByStep.resize(code.steps.size());
  for (std::vector<Slot> &used : usedByStep) {
    llvm::erase_if(
        used, [&](Slot slot) { return !warpgroupRegisters.contains(slot); });
    code.registersOfSteps.push_back(keepArray<Slot>(used));
  }
}

void Translator::layOutRegisters(llvm::ArrayRef<Register> registers) {
  for (const Register &reg : registers) {
    if (reg.type == Type::Pred) {
      if (reg.vectorSize != 1)
        fail(function.location, "expected no vector of predicates, got " +
                                    shortenForMessage(reg.name));
      registerSlots.push_back(code.numPredicates++);
      code.predicateNames.push_back(reg.name);
      continue;
    }
    registerSlots.push_back(code.numRegisters);
    // 128 bits are two registers, the low half first; a vector has consecutive
    // registers for its elements.
    code.numRegisters += reg.vectorSize * (getBits(reg.type) == 128 ? 2 : 1);
    code.registerNames.resize(code.numRegisters, reg.name);
  }
}

/// Assigns a variable its offset in the frame.
void Translator::layOutLocal(Index number) {
  const Variable &variable = program.module.variables[number];
  uint64_t gap = code.localVariables.empty() ? 0 : kVariableGap;
  uint64_t begin = llvm::alignTo(code.localSize + gap, variable.alignment);
  localOffsets[number] = begin;
  code.localSize = begin + variable.size;
  code.localAlignment = std::max(code.localAlignment, variable.alignment);
  code.localVariables.push_back({begin, code.localSize});
  if (code.localSize > kMaxLocalBytes)
    fail(variable.location, "expected at most " + llvm::Twine(kMaxLocalBytes) +
                                " bytes of local memory for a thread, got " +
                                llvm::Twine(code.localSize));
}

void Translator::layOutParameters() {
  if (function.isEntry)
    return;
  for (const auto *parameters : {&function.returns, &function.parameters})
    for (const Parameter &parameter : *parameters) {
      if (!parameter.isRegister)
        layOutLocal(parameter.index);
      else if (const Register &reg = function.registers[parameter.index];
               reg.vectorSize != 1)
        fail(function.location, "not supported in this version: parameter in "
                                "register " +
                                    shortenForMessage(reg.name) +
                                    " of a vector type");
    }
}

void Translator::layOutLocals() {
  for (Index number : function.variables) {
    Space space = program.module.variables[number].space;
    if (space == Space::Local || space == Space::Param)
      layOutLocal(number);
  }
}

ParameterLocations Translator::getParameterLocations(TranslatedModule &program,
                                                     const Function &function,
                                                     bool ofReturns) {
  // Lays out the parameters again, as callers may come before callees.
  // Parameters come first, so that the cost of a call depends only on its
  // parameters.
  Code unused;
  Translator layout(program, function, unused);
  size_t numRegisters = 0;
  for (const auto *parameters : {&function.returns, &function.parameters})
    numRegisters += llvm::count_if(
        *parameters, [](const Parameter &each) { return each.isRegister; });
  layout.layOutRegisters(
      llvm::ArrayRef(function.registers).take_front(numRegisters));
  layout.layOutParameters();
  ParameterLocations locations;
  for (const Parameter &parameter :
       ofReturns ? function.returns : function.parameters) {
    ParameterLocation &location = locations.emplace_back();
    location.isRegister = parameter.isRegister;
    if (parameter.isRegister) {
      location.slot = layout.registerSlots[parameter.index];
      location.type = function.registers[parameter.index].type;
    } else {
      location.offset = *layout.getLocalOffset(parameter.index);
      location.size = program.module.variables[parameter.index].size;
    }
  }
  return locations;
}

std::optional<uint64_t> Translator::getLocalOffset(Index variable) const {
  auto found = localOffsets.find(variable);
  if (found == localOffsets.end())
    return std::nullopt;
  return found->second;
}

Step &Translator::emit(Step::Execute execute, StepClass kind,
                       llvm::ArrayRef<Slot> operands, const void *form) {
  Step &step = code.steps.emplace_back();
  step.execute = execute;
  step.kind = kind;
  step.form = form;
  llvm::MutableArrayRef<Slot> slots = keepArray(operands);
  for (auto [i, slot] : llvm::enumerate(slots)) {
    if (slot == kNoSlot || !(slot & kPredicateBit))
      continue;
    slot &= ~kPredicateBit;
    if (i < 32)
      step.predicates |= uint32_t(1) << i;
  }
  step.operands = slots;
  step.line = current->location.line;
  step.name = current->opcode;
  if (current->guard) {
    step.guard = registerSlots[current->guard->reg];
    step.isGuardNegated = current->guard->isNegated;
  }
  step.pipe = getPipe(*current);
  noteResults(step, operands);
  return step;
}

/// Translators mostly request operands in the order of the step. Results are
/// consecutive.
void Translator::noteResults(Step &step, llvm::ArrayRef<Slot> operands) const {
  const UsedSlot *next = usedSlots.begin();
  for (auto [i, slot] : llvm::enumerate(operands)) {
    auto isSlot = [slot = slot](const UsedSlot &used) {
      return used.slot == slot;
    };
    const UsedSlot *used = std::find_if(next, usedSlots.end(), isSlot);
    if (used == usedSlots.end())
      used = llvm::find_if(usedSlots, isSlot);
    if (used == usedSlots.end())
      continue;
    next = used + 1;
    if (!used->isResult)
      continue;
    if (step.numResults == 0)
      step.firstResult = i;
    step.numResults += step.firstResult + step.numResults == i;
  }
}

void Translator::patchTarget(uint32_t *destination, Index label) {
  patches.push_back({destination, function.labels[label].instruction});
}

void Translator::patchReconvergence(uint32_t *destination) {
  patches.push_back({destination, reconvergence[index]});
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void Translator::fail(Location location, const llvm::Twine &text) {
  if (!firstError)
    firstError = Error("line " + std::to_string(location.line) + ":" +
                       std::to_string(location.column) + ": " + text.str());
}

bool Translator::finish(const Modifiers &modifiers) {
  if (!modifiers.rest().empty())
    fail("not supported in this version: modifier " +
         llvm::Twine(quoteForMessage(modifiers.rest().front())) + " of " +
         current->opcode);
  return !firstError;
}

bool Translator::expectOperands(unsigned minimum, unsigned maximum) {
  unsigned count = current->operands.size();
  if (count < minimum || count > maximum)
    fail("expected " + llvm::Twine(minimum) +
         (maximum == minimum ? "" : " to " + std::to_string(maximum)) +
         " operands of " + current->opcode + ", got " + llvm::Twine(count));
  return !firstError;
}
