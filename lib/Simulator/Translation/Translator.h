//===- Translator.h - Translates instructions to steps ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates the body of one function: the table of opcodes has a function for
// each instruction, which checks modifiers and operands and emits a step.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_TRANSLATOR_H
#define BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_TRANSLATOR_H

#include "Machine/SpecialRegisters.h"
#include "Machine/Warp.h"
#include "Translation/Modifiers.h"
#include "Translation/TranslatedModule.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Twine.h"

#include <map>
#include <optional>

namespace mlir::blockscale::sim {

/// Steps of more than one family: one that does nothing, and one at which lanes
/// leave the function.
void executeNothing(Warp &warp, const Step &step);
void executeReturn(Warp &warp, const Step &step);

using Slots = llvm::SmallVector<Slot, 6>;

/// Calls `body` for the active lanes one after the other, until one fails.
template <void (*body)(Warp &warp, const Step &step, unsigned lane)>
void executeInLanes(Warp &warp, const Step &step) {
  forEachLane(warp.active, [&](unsigned lane) {
    if (warp.state != WarpState::Failed)
      body(warp, step, lane);
  });
}

class Translator {
public:
  Translator(TranslatedModule &program, const Function &function, Code &code);

  /// Translates the body.
  Error run();

  //===--------------------------------------------------------------------===//
  // Interface for translators of instructions
  //===--------------------------------------------------------------------===//

  /// Reports an error at an operand or at the instruction. Only the first
  /// counts, and what is emitted after it is dropped.
  void fail(Location location, const llvm::Twine &text);
  void fail(const llvm::Twine &text) { fail(current->location, text); }
  Failure error(Location location, const llvm::Twine &text) {
    fail(location, text);
    return {};
  }
  Failure error(const llvm::Twine &text) {
    return error(current->location, text);
  }
  bool hasFailed() const { return firstError.has_value(); }

  /// Fails if modifiers are left, or if the number of operands is wrong.
  bool finish(const Modifiers &modifiers);
  bool expectOperands(unsigned minimum, unsigned maximum);
  bool expectOperands(unsigned count) { return expectOperands(count, count); }

  /// The register of an operand that is read as `type`: a register, a constant,
  /// a special register, or the address of a variable. The size of a register
  /// must be that of the type (`isWide`: or larger), and its class must agree
  /// (PTX ISA, section 6.2 "Operand type information").
  Slot source(const PtxOperand &operand, Type type, bool isWide = false);
  /// The register of an operand that is written. `_` becomes an unused
  /// register.
  Slot destination(const PtxOperand &operand, Type type, bool isWide = false);
  /// One of them.
  Slot registerOf(bool isWritten, const PtxOperand &operand, Type type,
                  bool isWide = false) {
    return isWritten ? destination(operand, type, isWide)
                     : source(operand, type, isWide);
  }
  /// The same for predicates: slots with kPredicateBit, which `emit` removes.
  /// `isNegated` is set for `!%p`; a null pointer refuses it. Integer constants
  /// are accepted if a source may be one.
  Slot predicateSource(const PtxOperand &operand, bool *isNegated);
  Slot predicateDestination(const PtxOperand &operand);
  /// The elements of a vector operand, or the operand itself.
  llvm::ArrayRef<PtxOperand> elements(const PtxOperand &operand) const;
  /// The registers of all elements, which are read or written.
  void registers(bool isWritten, const PtxOperand &operand, Type type,
                 unsigned count, llvm::SmallVectorImpl<Slot> &slots,
                 bool isWide = false);
  void sources(const PtxOperand &operand, Type type, unsigned count,
               llvm::SmallVectorImpl<Slot> &slots) {
    registers(/*isWritten=*/false, operand, type, count, slots);
  }
  void destinations(const PtxOperand &operand, Type type, unsigned count,
                    llvm::SmallVectorImpl<Slot> &slots) {
    registers(/*isWritten=*/true, operand, type, count, slots);
  }
  /// A mask of the bits of an operand's register; all 64 for other operands and
  /// wider registers.
  uint64_t getRegisterMask(const PtxOperand &operand) const;
  /// The value of an operand that must be an integer constant; 0 after an
  /// error.
  int64_t constant(const PtxOperand &operand, llvm::StringRef what);

  /// A register with this value in all lanes.
  Slot constantSlot(uint64_t value);
  /// A register of the translator's own.
  Slot newRegister() { return code.numRegisters++; }
  Slot newPredicate() { return code.numPredicates++; }
  /// The predicate that is the function's carry flag (`add.cc`).
  Slot carryFlag() {
    if (carrySlot == kNoSlot)
      carrySlot = newPredicate();
    return carrySlot;
  }

  /// The base register of `[...]`; its offset goes to `offset`. The space is
  /// the one that the instruction names. Kernel parameters, which have fixed
  /// addresses, and parameters of functions, which are in local memory, get
  /// their actual space.
  Slot address(const PtxOperand &operand, AddressSpace &space, int64_t &offset);
  /// The same in a space that the instruction names.
  Slot addressIn(AddressSpace space, const PtxOperand &operand,
                 int64_t &offset) {
    return address(operand, space, offset);
  }

  /// Registers and predicates are numbered separately; this bit distinguishes
  /// them until a step is emitted.
  static constexpr Slot kPredicateBit = Slot(1) << 31;
  /// Adds a step for the current instruction, with its guard.
  Step &emit(Step::Execute execute, StepClass kind,
             llvm::ArrayRef<Slot> operands, const void *form = nullptr);
  /// Keeps a form as long as the code.
  template <typename T>
  T *keep(const T &form) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (code.allocator->Allocate<T>()) T(form);
  }
  template <typename T>
  llvm::MutableArrayRef<T> keepArray(llvm::ArrayRef<T> elements) {
    return elements.copy(*code.allocator);
  }

  /// Writes the index of the step of a label to `destination` as soon as it is
  /// known; `destination` is a member of a form.
  void patchTarget(uint32_t *destination, Index label);
  /// The same for the step where lanes of the current branch reconverge.
  void patchReconvergence(uint32_t *destination);

  /// The offset of a local or param variable of this function in its frame.
  std::optional<uint64_t> getLocalOffset(Index variable) const;

  /// The locations of the parameters (or results) of a function, which are
  /// known before it is translated.
  static ParameterLocations getParameterLocations(TranslatedModule &program,
                                                  const Function &function,
                                                  bool ofReturns);

  TranslatedModule &program;
  const Function &function;
  Code &code;
  const PtxInstruction *current = nullptr;
  /// The number of `current`.
  Index index = 0;

private:
  Slot filledSlot(FilledSlot::Kind kind, uint64_t value);
  Slot specialSlot(const PtxOperand &operand, Type type);
  Slot specialPredicate(const PtxOperand &operand);
  Slot variableSlot(const PtxOperand &operand, bool isBase);
  Slot registerSlot(const PtxOperand &operand, Type type, bool isWide);
  void layOutRegisters(llvm::ArrayRef<Register> registers);
  void layOutParameters();
  void layOutLocals();
  void layOutLocal(Index number);
  void noteResults(Step &step, llvm::ArrayRef<Slot> operands) const;
  void noteRegisters();
  void keepRegisters();

  /// An index of a step that is still to be written.
  struct Patch {
    uint32_t *destination;
    Index instruction;
  };
  /// By number of the register.
  std::vector<Slot> registerSlots;
  std::map<std::pair<FilledSlot::Kind, uint64_t>, Slot> filledSlots;
  llvm::DenseMap<Index, uint64_t> localOffsets;
  /// By number of the instruction: its first step.
  std::vector<uint32_t> firstSteps;
  std::vector<Index> reconvergence;
  std::vector<Patch> patches;
  Slot unreadRegister = kNoSlot, unreadPredicate = kNoSlot;
  Slot carrySlot = kNoSlot;
  /// Registers and predicates of the current instruction, in the order of
  /// requests.
  struct UsedSlot {
    Slot slot;
    bool isResult;
  };
  llvm::SmallVector<UsedSlot, 8> usedSlots;
  /// If the function has a wgmma: the registers of the current instruction, of
  /// each step, and of all wgmma.
  bool hasWarpgroups = false;
  std::vector<Slot> usedRegisters;
  std::vector<std::vector<Slot>> usedByStep;
  llvm::DenseSet<Slot> warpgroupRegisters;
  std::optional<Error> firstError;
};

/// The registers of the operands of the current instruction, which has no more
/// modifiers: a result, then sources. Zeros after an error.
Slots takeOperands(Translator &t, const Modifiers &modifiers, Type result,
                   llvm::ArrayRef<Type> sources);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_TRANSLATOR_H
