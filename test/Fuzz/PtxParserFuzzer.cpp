//===- PtxParserFuzzer.cpp - Fuzzes the PTX parser ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libFuzzer target. Whatever the bytes are, they give a module or a message
// with a line; in a module every index is in range, and every view lies in the
// text. Seeds are PTX texts of compilers; build it together with lib/Simulator,
// lib/Runtime and -fsanitize=fuzzer,address,undefined.
//
//===----------------------------------------------------------------------===//

#include "Ptx/Parser.h"

#include <cstdint>
#include <cstdlib>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static void check(bool condition) {
  if (!condition)
    std::abort();
}

static void checkView(const Module &module, llvm::StringRef view) {
  check(view.empty() ||
        (view.begin() >= module.text->data() &&
         view.end() <= module.text->data() + module.text->size()));
}

static void checkRegister(const Function &function, const PtxOperand &operand) {
  check(operand.index < function.registers.size());
  unsigned size = function.registers[operand.index].vectorSize;
  check(operand.component == -1 ||
        (operand.component >= 0 && unsigned(operand.component) < size));
}

static void checkAddress(const PtxOperand &operand) {
  check(!operand.elements.empty());
  const PtxOperand &base = operand.elements.front();
  check(!base.isNegated && base.offset == 0);
  check(base.kind == PtxOperand::Kind::Register ||
        base.kind == PtxOperand::Kind::Variable ||
        base.kind == PtxOperand::Kind::Integer);
}

static void checkOperand(const Module &module, const Function &function,
                         const PtxOperand &operand) {
  using Kind = PtxOperand::Kind;
  checkView(module, operand.name);
  check(!operand.isNegated || operand.kind == Kind::Register);
  switch (operand.kind) {
  case Kind::Register:
    checkRegister(function, operand);
    break;
  case Kind::SpecialRegister:
  case Kind::Prototype:
    check(!operand.name.empty());
    break;
  case Kind::Variable:
    check(operand.index < module.variables.size());
    break;
  case Kind::Function:
    check(operand.index < module.functions.size());
    break;
  case Kind::Label:
    check(operand.index < function.labels.size());
    break;
  case Kind::BranchTargets:
    check(operand.index < function.branchTargets.size());
    break;
  case Kind::Address:
    checkAddress(operand);
    break;
  case Kind::Pair:
    check(operand.elements.size() == 2);
    break;
  case Kind::Float32:
    check(operand.bits <= UINT32_MAX);
    break;
  case Kind::Integer:
  case Kind::Float64:
  case Kind::Vector:
  case Kind::Sink:
    break;
  }
  for (const PtxOperand &element : operand.elements)
    checkOperand(module, function, element);
}

static void checkParameters(const Module &module, const Function &function,
                            const std::vector<Parameter> &parameters) {
  for (const Parameter &parameter : parameters)
    check(parameter.index < (parameter.isRegister ? function.registers.size()
                                                  : module.variables.size()));
}

static void checkFunction(const Module &module, const Function &function) {
  check(!function.name.empty());
  checkView(module, function.name);
  check(function.isDefined || function.instructions.empty());
  checkParameters(module, function, function.returns);
  checkParameters(module, function, function.parameters);
  for (const Register &reg : function.registers)
    checkView(module, reg.name);
  for (Index variable : function.variables)
    check(variable < module.variables.size());
  for (const Label &label : function.labels)
    check(label.instruction <= function.instructions.size());
  for (const std::vector<Index> &targets : function.branchTargets)
    for (Index target : targets)
      check(target < function.labels.size());
  for (const PtxInstruction &instruction : function.instructions) {
    check(!instruction.opcode.empty());
    if (instruction.guard) {
      check(instruction.guard->reg < function.registers.size());
      check(function.registers[instruction.guard->reg].type == Type::Pred);
    }
    check(!instruction.hasReturns || instruction.operands.size() >= 2);
    for (llvm::StringRef modifier : instruction.modifiers)
      checkView(module, modifier);
    for (const PtxOperand &operand : instruction.operands)
      checkOperand(module, function, operand);
  }
}

static void checkVariable(const Module &module, const Variable &variable) {
  checkView(module, variable.name);
  check(variable.alignment != 0 &&
        (variable.alignment & (variable.alignment - 1)) == 0);
  check(variable.size <= INT64_MAX);
  check(variable.initializer.size() <= variable.size);
  check(variable.isUnsized || variable.size != 0);
  for (const Relocation &relocation : variable.relocations) {
    check(relocation.offset + relocation.size <= variable.initializer.size());
    check(relocation.shift < 64);
    check(relocation.target < (relocation.isFunction
                                   ? module.functions.size()
                                   : module.variables.size()));
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  Result<Module> module = parsePtx(std::string(bytes, bytes + size));
  if (!module) {
    check(module.message().compare(0, 5, "line ") == 0);
    for (char c : module.message())
      check(c >= ' ' && c <= '~');
    return 0;
  }
  checkView(*module, module->target);
  for (Index global : module->globals)
    check(global < module->variables.size());
  for (const Variable &variable : module->variables)
    checkVariable(*module, variable);
  for (const Function &function : module->functions)
    checkFunction(*module, function);
  return 0;
}
