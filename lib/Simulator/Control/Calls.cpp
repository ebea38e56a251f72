//===- Calls.cpp - Calls of functions -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call copies its arguments to a new frame. If lanes call through a register,
// the lanes with the same target go together, one target after the other. The
// parameters of the target have to match those of the call's prototype.
//
// Source: PTX ISA, section 9.7.12 "Control Flow Instructions", "call", and 7.1
// "Function Declarations and Definitions".
//
//===----------------------------------------------------------------------===//

#include "Control/DriverFunctions.h"
#include "Machine/Block.h"
#include "Translation/OpcodeTable.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
struct CallForm {
  /// Null if the address is in the step's operand.
  const Code *callee;
  /// Arguments and results in the caller's frame.
  llvm::ArrayRef<ParameterLocation> arguments, results;
  const TranslatedModule *program;
  /// The functions that may be called; null if the parameters decide.
  const std::vector<Index> *targets;
};
} // namespace

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

static void pass(Warp &warp, llvm::ArrayRef<ParameterLocation> sources,
                 Frame &from, llvm::ArrayRef<ParameterLocation> destinations,
                 Frame &to, LaneMask lanes) {
  for (const auto &[source, destination] :
       llvm::zip_equal(sources, destinations))
    forEachLane(lanes, [&, &source = source,
                        &destination = destination](unsigned lane) {
      if (source.isRegister) {
        const Lanes &value = from.registers[source.slot];
        Lanes &result = to.registers[destination.slot];
        result.set(lane, value.value[lane], value.getUndefined(lane));
        return;
      }
      for (auto *memory : {&warp.local, &warp.localStates}) {
        uint8_t *bytes = (*memory)[lane].data();
        std::memcpy(bytes + to.localBase + destination.offset,
                    bytes + from.localBase + source.offset, source.size);
      }
    });
}

static void enterCallee(Warp &warp, const Step &step, const Code &callee,
                        LaneMask lanes) {
  warp.enter(callee, lanes, &step);
  if (warp.state == WarpState::Failed)
    return;
  size_t depth = warp.frames.size();
  pass(warp, step.getForm<CallForm>().arguments, warp.frames[depth - 2],
       callee.parameters, warp.frames[depth - 1], lanes);
}

void sim::finishCall(Warp &warp, const Step &call) {
  size_t depth = warp.frames.size();
  Frame &callee = warp.frames[depth - 1];
  pass(warp, callee.code->returns, callee, call.getForm<CallForm>().results,
       warp.frames[depth - 2], callee.entered);
}

static void executeCall(Warp &warp, const Step &step) {
  enterCallee(warp, step, *step.getForm<CallForm>().callee, warp.active);
}

static std::string describe(const ParameterLocation &location) {
  return location.isRegister
             ? "a register of type ." + std::string(getName(location.type))
             : std::to_string(location.size) + " bytes";
}

/// How the parameters of a function differ from those of a call; empty if they
/// match.
static std::string describeMismatch(llvm::ArrayRef<ParameterLocation> expected,
                                    llvm::ArrayRef<ParameterLocation> got,
                                    llvm::StringRef what) {
  if (expected.size() != got.size())
    return std::to_string(got.size()) + " " + what.str() + "s instead of " +
           std::to_string(expected.size());
  for (size_t i = 0; i != expected.size(); ++i) {
    const ParameterLocation &x = expected[i], &y = got[i];
    if (x.isRegister != y.isRegister ||
        (x.isRegister ? x.type != y.type : x.size != y.size))
      return what.str() + " " + std::to_string(i) + " with " + describe(y) +
             " instead of " + describe(x);
  }
  return "";
}

/// The function at the address that a lane calls; null after a failure.
static const Code *findCallee(Warp &warp, unsigned lane, const CallForm &form,
                              uint64_t address) {
  const Module &module = form.program->module;
  uint64_t index = getRegionOffset(address) >> kFunctionOffsetBits;
  auto reject = [&](const llvm::Twine &text) -> const Code * {
    return warp.error(lane, "a call expected " + text);
  };
  if (getRegion(address) != kFunctionRegion ||
      index >= module.functions.size() || address != getFunctionAddress(index))
    return reject("the address of a function, got " + printHex(address));
  const Function &function = module.functions[index];
  std::string name = shortenForMessage(function.name.str());
  if (function.isEntry)
    return reject("a function, got the kernel " + name);
  if (!function.isDefined)
    return reject("a function with a body, got " + name +
                  ", which is declared");
  if (form.targets && !llvm::is_contained(*form.targets, index))
    return reject("a function of its .calltargets, got " + name);
  const Code &code = form.program->codes[index];
  std::string mismatch =
      describeMismatch(form.arguments, code.parameters, "parameter");
  if (mismatch.empty())
    mismatch = describeMismatch(form.results, code.returns, "result");
  if (!mismatch.empty())
    return reject("a function with the parameters of its prototype, got " +
                  name + ", which has " + mismatch);
  return &code;
}

static void executeIndirectCall(Warp &warp, const Step &step) {
  Slot slot = step.operands[0];
  LaneMask active = warp.active;
  if (!warp.requireDefined(slot, active, "the address of a call"))
    return;
  const Lanes &addresses = warp.reg(slot);
  unsigned first = __builtin_ctz(active);
  LaneMask same = 0;
  forEachLane(active, [&](unsigned lane) {
    if (addresses.value[lane] == addresses.value[first])
      same |= LaneMask(1) << lane;
  });
  LaneMask others = active & ~same;
  if (others && step.isUniform)
    return warp.fail(__builtin_ctz(others),
                     "call.uni expected the same target in all lanes, but this "
                     "one and lane " +
                         llvm::Twine(first) + " go apart");
  const Code *callee =
      findCallee(warp, first, step.getForm<CallForm>(), addresses.value[first]);
  if (!callee)
    return;
  // The other lanes execute the call again, before all go on behind it.
  if (others) {
    uint32_t pc = &step - warp.frames.back().code->steps.data();
    warp.active = others;
    warp.branch(pc, pc + 1);
  }
  enterCallee(warp, step, *callee, same);
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// Matches the arguments and results of a call with the parameters of the
/// function.
static bool relate(Translator &t, llvm::ArrayRef<PtxOperand> operands,
                   llvm::ArrayRef<ParameterLocation> parameters, bool isReturn,
                   ParameterLocations &own) {
  if (operands.size() != parameters.size())
    return t.error("expected " + llvm::Twine(parameters.size()) +
                   (isReturn ? " results" : " arguments") + " of a call, got " +
                   llvm::Twine(operands.size()));
  for (auto [operand, parameter] : llvm::zip_equal(operands, parameters)) {
    ParameterLocation location = parameter;
    if (parameter.isRegister) {
      if (location.type == Type::Pred || getBits(location.type) > 64)
        return t.error(operand.location,
                       "not supported in this version: parameter of "
                       "type ." +
                           llvm::Twine(getName(location.type)) +
                           " in a register");
      location.slot = isReturn ? t.destination(operand, location.type)
                               : t.source(operand, location.type);
    } else {
      std::optional<uint64_t> offset;
      if (operand.kind == PtxOperand::Kind::Variable)
        offset = t.getLocalOffset(operand.index);
      if (!offset)
        return t.error(operand.location, "expected a variable in .param space");
      uint64_t size = t.program.module.variables[operand.index].size;
      if (size != location.size)
        return t.error(operand.location,
                       "expected a parameter of " + llvm::Twine(location.size) +
                           " bytes, got " + llvm::Twine(size));
      location.offset = *offset;
    }
    own.push_back(location);
  }
  return !t.hasFailed();
}

namespace {
/// The operands of a call.
struct CallOperands {
  llvm::ArrayRef<PtxOperand> results, arguments;
  const PtxOperand *callee;
  /// Null where there is none.
  const PtxOperand *prototype = nullptr;
};
} // namespace

static CallOperands getOperands(const PtxInstruction &instruction) {
  CallOperands call;
  llvm::ArrayRef<PtxOperand> operands = instruction.operands;
  if (instruction.hasReturns) {
    call.results = operands[0].elements;
    operands = operands.drop_front();
  }
  call.callee = &operands[0];
  if (operands.size() > 1 && operands[1].kind == PtxOperand::Kind::Vector)
    call.arguments = operands[1].elements;
  if (operands.back().kind == PtxOperand::Kind::Prototype)
    call.prototype = &operands.back();
  return call;
}

static void emitCall(Translator &t, const CallOperands &call, CallForm form,
                     const ParameterLocations &parameters,
                     const ParameterLocations &returns, bool isUniform) {
  ParameterLocations arguments, results;
  if (!relate(t, call.arguments, parameters, /*isReturn=*/false, arguments) ||
      !relate(t, call.results, returns, /*isReturn=*/true, results))
    return;
  form.arguments = t.keepArray<ParameterLocation>(arguments);
  form.results = t.keepArray<ParameterLocation>(results);
  llvm::SmallVector<Slot, 1> slots;
  if (!form.callee)
    slots.push_back(t.source(*call.callee, Type::U64));
  t.emit(form.callee ? executeCall : executeIndirectCall, StepClass::Control,
         slots, t.keep(form))
      .isUniform = isUniform;
}

static ParameterLocations
getLocations(llvm::ArrayRef<Prototype::Parameter> parameters) {
  ParameterLocations locations;
  for (const Prototype::Parameter &each : parameters)
    locations.push_back({each.isRegister, kNoSlot, each.type, 0, each.size});
  return locations;
}

static void translateIndirectCall(Translator &t, const CallOperands &call,
                                  bool isUniform) {
  if (!call.prototype)
    return t.fail(call.callee->location,
                  "expected a label of .callprototype or .calltargets behind "
                  "a call through a register");
  const Prototype &prototype = t.function.prototypes[call.prototype->index];
  CallForm form = {nullptr, {}, {}, &t.program, nullptr};
  if (!prototype.isList)
    return emitCall(t, call, form, getLocations(prototype.parameters),
                    getLocations(prototype.returns), isUniform);
  for (Index target : prototype.targets)
    if (const Function &function = t.program.module.functions[target];
        function.isEntry)
      return t.fail(call.prototype->location,
                    "expected .calltargets of functions, got the kernel " +
                        shortenForMessage(function.name.str()));
  // The others are compared when they are called.
  form.targets = &prototype.targets;
  const Function &first = t.program.module.functions[prototype.targets.front()];
  emitCall(
      t, call, form,
      Translator::getParameterLocations(t.program, first, /*ofReturns=*/false),
      Translator::getParameterLocations(t.program, first, /*ofReturns=*/true),
      isUniform);
}

/// Of a function by its name or through a register.
static void translateCall(Translator &t, Modifiers &modifiers) {
  bool isUniform = modifiers.take("uni");
  if (!t.finish(modifiers))
    return;
  CallOperands call = getOperands(*t.current);
  if (call.callee->kind != PtxOperand::Kind::Function)
    return translateIndirectCall(t, call, isUniform);
  const Function &function = t.program.module.functions[call.callee->index];
  if (function.isEntry)
    return t.fail(call.callee->location,
                  "expected a function, got the kernel " +
                      shortenForMessage(function.name.str()));
  if (!function.isDefined &&
      translateDriverCall(t, function, call.arguments, call.results))
    return;
  if (!function.isDefined)
    return t.fail(call.callee->location,
                  "expected a function with a body, got " +
                      shortenForMessage(function.name.str()) +
                      ", which is declared");
  emitCall(
      t, call,
      CallForm{&t.program.codes[call.callee->index], {}, {}, nullptr, nullptr},
      Translator::getParameterLocations(t.program, function,
                                        /*ofReturns=*/false),
      Translator::getParameterLocations(t.program, function,
                                        /*ofReturns=*/true),
      isUniform);
}

void sim::addCallInstructions(OpcodeTable &table) {
  table["call"] = translateCall;
}
