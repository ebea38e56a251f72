//===- TranslateOperands.cpp - Operands become registers ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps only use registers: constants, special registers and addresses get a
// register that is filled when a frame is made, or that a step before sets.
//
//===----------------------------------------------------------------------===//

#include "Machine/Block.h"
#include "Translation/Translator.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

Slot Translator::filledSlot(FilledSlot::Kind kind, uint64_t value) {
  auto [entry, isNew] = filledSlots.try_emplace({kind, value}, kNoSlot);
  if (isNew) {
    entry->second = newRegister();
    code.filled.push_back({entry->second, kind, value});
  }
  return entry->second;
}

Slot Translator::constantSlot(uint64_t value) {
  return filledSlot(FilledSlot::Kind::Constant, value);
}

/// Whether a register of a declared type may be read or written as `type`.
static bool agree(Type declared, Type type, bool isWide) {
  const TypeInfo &from = getTypeInfo(declared), &to = getTypeInfo(type);
  if (from.kind == TypeClass::Predicate)
    return false;
  if (isWide ? from.bits < to.bits : from.bits != to.bits)
    return false;
  bool isFloat = from.kind == TypeClass::Float;
  switch (to.kind) {
  case TypeClass::Predicate:
    return false;
  case TypeClass::Untyped:
    return true;
  case TypeClass::Unsigned:
  case TypeClass::Signed:
    return !isFloat;
  case TypeClass::Float:
    return !isFloat ? from.kind == TypeClass::Untyped || to.bits < 32 ||
                          to.elements != 1 || type == Type::TF32
                    : from.bits == to.bits;
  }
  return false;
}

Slot Translator::registerSlot(const PtxOperand &operand, Type type,
                              bool isWide) {
  const Register &reg = function.registers[operand.index];
  if (operand.isMinus || !operand.selector.empty()) {
    fail(operand.location,
         operand.isMinus
             ? llvm::Twine("expected a register, got a minus sign before it")
             : "expected a whole register, got ." + operand.selector +
                   " behind it");
    return 0;
  }
  if (operand.isNegated || !agree(reg.type, type, isWide)) {
    fail(operand.location,
         "expected a register for ." + llvm::Twine(getName(type)) + ", got " +
             shortenForMessage(reg.name) + " of type ." + getName(reg.type));
    return 0;
  }
  unsigned size = getBits(reg.type) == 128 ? 2 : 1;
  Slot slot = registerSlots[operand.index];
  if (operand.component > 0)
    slot += operand.component * size;
  if (hasWarpgroups)
    for (unsigned i = 0; i != size; ++i)
      usedRegisters.push_back(slot + i);
  usedSlots.push_back({slot, /*isResult=*/false});
  return slot;
}

Slot Translator::specialSlot(const PtxOperand &operand, Type type) {
  if (operand.name == "WARP_SZ")
    return constantSlot(kLanes);
  std::optional<SpecialValue> value = lookupSpecialValue(operand.name);
  if (!value || value->row->type == Type::Pred) {
    fail(operand.location, "not supported in this version: special register " +
                               shortenForMessage(operand.name));
    return 0;
  }
  // mov.u64 %rd, %laneid and the like convert the size.
  Type own = value->row->type;
  if (getBits(own) > getBits(type)) {
    fail(operand.location, "expected a value of ." +
                               llvm::Twine(getName(type)) + ", got " +
                               operand.name + " of type ." + getName(own));
    return 0;
  }
  if (!value->row->isChanging)
    return filledSlot(FilledSlot::Kind::Special, value->encode());
  Slot slot = newRegister();
  emit(
      [](Warp &warp, const Step &step) {
        readSpecial(step.getForm<SpecialValue>(), warp,
                    warp.reg(step.operands[0]));
      },
      StepClass::Arithmetic, slot, keep(*value));
  // For messages of undefined values.
  if (!value->row->read) {
    code.registerNames.resize(code.numRegisters);
    code.registerNames[slot] = operand.name;
  }
  return slot;
}

/// A predicate with the value of a special register; `kNoSlot` if that is not a
/// predicate.
Slot Translator::specialPredicate(const PtxOperand &operand) {
  std::optional<SpecialValue> value = lookupSpecialValue(operand.name);
  if (!value || value->row->type != Type::Pred)
    return kNoSlot;
  Slot slot = newPredicate() | kPredicateBit;
  emit(
      [](Warp &warp, const Step &step) {
        Lanes lanes;
        readSpecial(step.getForm<SpecialValue>(), warp, lanes);
        Predicate &result = warp.pred(step.operands[0]) = {0, 0};
        for (unsigned lane = 0; lane != kLanes; ++lane)
          result.value |= LaneMask(lanes.value[lane] != 0) << lane;
      },
      StepClass::Arithmetic, slot, keep(*value));
  return slot;
}

/// The address of a variable, as a value or as the base of an access. A
/// function's parameter is in local memory; as a base its address is generic,
/// since `ld.param` also names parameters of kernels.
Slot Translator::variableSlot(const PtxOperand &operand, bool isBase) {
  const Variable &variable = program.module.variables[operand.index];
  if (std::optional<uint64_t> offset = getLocalOffset(operand.index))
    return filledSlot(isBase && variable.space == Space::Param
                          ? FilledSlot::Kind::LocalAddress
                          : FilledSlot::Kind::LocalOffset,
                      *offset + operand.offset);
  uint64_t address = program.addresses[operand.index] + operand.offset;
  if (variable.space == Space::Shared)
    return filledSlot(variable.isUnsized
                          ? FilledSlot::Kind::DynamicSharedAddress
                          : FilledSlot::Kind::SharedAddress,
                      address);
  if (variable.space == Space::Param)
    address += getRegionBase(kParamRegion);
  return constantSlot(address);
}

/// The bits of a floating-point constant as `type`; nothing if it has none.
static std::optional<uint64_t> getFloatBits(const PtxOperand &operand,
                                            Type type) {
  unsigned bits = getBits(type);
  bool isUntyped = getTypeInfo(type).kind == TypeClass::Untyped;
  if (operand.kind == PtxOperand::Kind::Float32)
    return bits == 32 ? std::optional(operand.bits) : std::nullopt;
  if (bits == 64 && (isUntyped || type == Type::F64))
    return operand.bits;
  if (bits == 32 && (isUntyped || type == Type::F32))
    return llvm::bit_cast<uint32_t>(
        static_cast<float>(llvm::bit_cast<double>(operand.bits)));
  return std::nullopt;
}

Slot Translator::source(const PtxOperand &operand, Type type, bool isWide) {
  // A filled register has one slot, and a 128-bit value needs two.
  bool isFillable = getBits(type) <= 64;
  switch (operand.kind) {
  case PtxOperand::Kind::Register:
    return registerSlot(operand, type, isWide);
  case PtxOperand::Kind::SpecialRegister:
    if (!isFillable)
      break;
    return specialSlot(operand, type);
  case PtxOperand::Kind::Integer:
    if (!isFillable)
      break;
    return constantSlot(operand.bits &
                        llvm::maskTrailingOnes<uint64_t>(getBits(type)));
  case PtxOperand::Kind::Float32:
  case PtxOperand::Kind::Float64:
    if (std::optional<uint64_t> bits = getFloatBits(operand, type))
      return constantSlot(*bits);
    break;
  case PtxOperand::Kind::Variable:
    if (getBits(type) < 32 || !isFillable)
      break;
    return variableSlot(operand, /*isBase=*/false);
  case PtxOperand::Kind::Function:
    if (getBits(type) != 64)
      break;
    return constantSlot(getFunctionAddress(operand.index));
  case PtxOperand::Kind::Vector:
    // A single element in braces is the element itself.
    if (operand.elements.size() == 1)
      return source(operand.elements.front(), type, isWide);
    break;
  default:
    break;
  }
  fail(operand.location,
       "expected a register or constant for ." + llvm::Twine(getName(type)));
  return 0;
}

Slot Translator::destination(const PtxOperand &operand, Type type,
                             bool isWide) {
  if (operand.kind == PtxOperand::Kind::Register) {
    Slot slot = registerSlot(operand, type, isWide);
    if (!usedSlots.empty())
      usedSlots.back().isResult = true;
    return slot;
  }
  if (operand.kind == PtxOperand::Kind::Sink) {
    if (unreadRegister == kNoSlot) {
      unreadRegister = newRegister();
      newRegister(); // The upper half of 128 bits.
    }
    return unreadRegister;
  }
  if (operand.kind == PtxOperand::Kind::Vector && operand.elements.size() == 1)
    return destination(operand.elements.front(), type, isWide);
  fail(operand.location,
       "expected a register for ." + llvm::Twine(getName(type)));
  return 0;
}

Slot Translator::predicateSource(const PtxOperand &operand, bool *isNegated) {
  bool negated = operand.isNegated;
  Slot slot = kNoSlot;
  if (operand.kind == PtxOperand::Kind::Register &&
      function.registers[operand.index].type == Type::Pred) {
    slot = registerSlots[operand.index] | kPredicateBit;
  } else if (operand.kind == PtxOperand::Kind::SpecialRegister) {
    slot = specialPredicate(operand);
  } else if (operand.kind == PtxOperand::Kind::Integer) {
    // A predicate with this value, set before each use.
    slot = newPredicate() | kPredicateBit;
    emit(
        [](Warp &warp, const Step &step) {
          warp.pred(step.operands[0]) = {step.getForm<LaneMask>(), 0};
        },
        StepClass::Arithmetic, slot, keep(operand.bits ? kAllLanes : 0));
  }
  if (slot == kNoSlot || (negated && !isNegated)) {
    fail(operand.location, "expected a predicate register");
    return 0;
  }
  if (isNegated)
    *isNegated = negated;
  usedSlots.push_back({slot, /*isResult=*/false});
  return slot;
}

Slot Translator::predicateDestination(const PtxOperand &operand) {
  if (operand.kind == PtxOperand::Kind::Sink) {
    if (unreadPredicate == kNoSlot)
      unreadPredicate = newPredicate() | kPredicateBit;
    return unreadPredicate;
  }
  if (operand.kind == PtxOperand::Kind::SpecialRegister) {
    fail(operand.location, "expected a predicate register");
    return 0;
  }
  Slot slot = predicateSource(operand, nullptr);
  if (!usedSlots.empty())
    usedSlots.back().isResult = true;
  return slot;
}

llvm::ArrayRef<PtxOperand>
Translator::elements(const PtxOperand &operand) const {
  if (operand.kind == PtxOperand::Kind::Vector)
    return operand.elements;
  return operand;
}

void Translator::registers(bool isWritten, const PtxOperand &operand, Type type,
                           unsigned count, llvm::SmallVectorImpl<Slot> &slots,
                           bool isWide) {
  llvm::ArrayRef<PtxOperand> all = elements(operand);
  if (all.size() != count)
    return fail(operand.location, "expected a vector of " + llvm::Twine(count) +
                                      " elements, got " +
                                      llvm::Twine(all.size()));
  for (const PtxOperand &element : all)
    slots.push_back(registerOf(isWritten, element, type, isWide));
}

uint64_t Translator::getRegisterMask(const PtxOperand &operand) const {
  if (operand.kind != PtxOperand::Kind::Register)
    return ~uint64_t(0);
  unsigned bits = getBits(function.registers[operand.index].type);
  return llvm::maskTrailingOnes<uint64_t>(std::min(bits, 64u));
}

int64_t Translator::constant(const PtxOperand &operand, llvm::StringRef what) {
  if (operand.kind == PtxOperand::Kind::Integer)
    return static_cast<int64_t>(operand.bits);
  fail(operand.location, "expected a constant for " + what);
  return 0;
}

Slot Translator::address(const PtxOperand &operand, AddressSpace &space,
                         int64_t &offset) {
  offset = operand.offset;
  if (operand.kind != PtxOperand::Kind::Address ||
      operand.elements.size() != 1) {
    fail(operand.location, "expected an address in brackets");
    return 0;
  }
  const PtxOperand &base = operand.elements.front();
  switch (base.kind) {
  case PtxOperand::Kind::Register: {
    Type declared = function.registers[base.index].type;
    Type type = getBits(declared) == 32 ? Type::U32 : Type::U64;
    return registerSlot(base, type, /*isWide=*/false);
  }
  case PtxOperand::Kind::Integer:
    return constantSlot(base.bits);
  case PtxOperand::Kind::Variable:
    // Without a state space, that of the variable counts.
    if (space == AddressSpace::Generic) {
      Space own = program.module.variables[base.index].space;
      if (own == Space::Shared)
        space = AddressSpace::Shared;
      else if (own == Space::Local)
        space = AddressSpace::Local;
    }
    return variableSlot(base, /*isBase=*/true);
  default:
    fail(base.location, "expected a register, a variable or a constant as the "
                        "base of an address");
    return 0;
  }
}

Slots sim::takeOperands(Translator &t, const Modifiers &modifiers, Type result,
                        llvm::ArrayRef<Type> sources) {
  Slots slots(1 + sources.size());
  if (!t.finish(modifiers) || !t.expectOperands(slots.size()))
    return slots;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  slots[0] = result == Type::Pred ? t.predicateDestination(operands[0])
                                  : t.destination(operands[0], result);
  for (auto [i, type] : llvm::enumerate(sources))
    slots[1 + i] = t.source(operands[1 + i], type);
  return slots;
}
