//===- Code.h - A function in the form that is executed ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A translated function is an array of steps. A step has a routine that carries
// it out for the lanes that take part, and the numbers of the registers it
// works on. Constants, special registers and addresses of variables are
// registers too, which are filled when the function is entered, so that a
// routine never asks what kind an operand is.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_CODE_H
#define BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_CODE_H

#include "Machine/Lanes.h"
#include "Ptx/Ast.h"
#include "Translation/MatrixClass.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Allocator.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir::blockscale::sim {

class Warp;

/// The number of a register, or of a predicate, in a frame.
using Slot = uint32_t;
inline constexpr Slot kNoSlot = ~Slot(0);

/// What `--stats` counts a step as.
enum class StepClass : uint8_t {
  Arithmetic,
  Conversion,
  Memory,
  Control,
  Synchronization,
  Matrix,
};
inline constexpr unsigned kNumStepClasses = 6;

/// What carries out the instructions of warps in a SM.
enum class Pipe : uint8_t {
  /// Costs nothing: compilers do without.
  None,
  /// Integers, logic, comparisons, conversions.
  Integer,
  /// Multiplications of integers.
  Multiply,
  Float,
  Double,
  /// Square roots, sines and the like.
  Special,
  Memory,
  Matrix,
  /// Takes a slot of the scheduler and no more.
  Issue,
};
inline constexpr unsigned kNumPipes = 9;

/// A collective at whose instances lanes may meet, wherever in a function they
/// are, if opcode and qualifiers are equal.
struct Gathering {
  /// Opcode and qualifiers.
  llvm::StringRef name;
  /// Bit i: operand i is a predicate; it is a result.
  uint8_t predicates, results;
};

struct Step {
  using Execute = void (*)(Warp &warp, const Step &step);

  Execute execute = nullptr;
  /// What the routine knows beyond operands; of a type of its own.
  const void *form = nullptr;
  llvm::ArrayRef<Slot> operands;
  /// Null where all lanes have to come to the same instruction.
  const Gathering *gathering = nullptr;
  /// The predicate that guards the step.
  Slot guard = kNoSlot;
  bool isGuardNegated = false;
  /// The program promises that the lanes that come here agree (`.uni`).
  bool isUniform = false;
  StepClass kind = StepClass::Arithmetic;
  /// What statistics call it (nothing where the routine counts itself), and how
  /// many multiply-adds it counts as.
  llvm::StringRef name;
  uint32_t multiplyAdds = 0;
  /// In the PTX text.
  uint32_t line = 0;
  /// For the time that a chip would take: what carries it out (Matrix: what it
  /// multiplies), and which of its operands are results. Bit i: operand i is a
  /// predicate.
  Pipe pipe = Pipe::None;
  MatrixClass matrixClass = MatrixClass::Halves;
  uint16_t firstResult = 0, numResults = 0;
  uint32_t predicates = 0;

  template <typename T>
  const T &getForm() const {
    return *static_cast<const T *>(form);
  }
};

/// A register that is filled when a frame is made.
struct FilledSlot {
  enum class Kind : uint8_t {
    /// `value` in all lanes.
    Constant,
    /// The SpecialValue with the number `value`.
    Special,
    /// `value` plus the address of the frame's local variables, as an offset in
    /// local memory.
    LocalOffset,
    /// The same as a generic address.
    LocalAddress,
    /// `value` in the shared memory of the block, as an address in the cluster.
    SharedAddress,
    /// The same, counted from where the kernel has dynamic shared memory.
    DynamicSharedAddress,
  };
  Slot slot;
  Kind kind;
  uint64_t value;
};

/// Where a frame has what a call hands over or takes back: a register, or bytes
/// of its local variables.
struct ParameterPlace {
  bool isRegister;
  Slot slot;
  /// Of a register.
  Type type;
  uint64_t offset, size;
};
using ParameterPlaces = std::vector<ParameterPlace>;

/// What not all kernels use.
enum Facility : uint8_t {
  /// Blocks may see each other's work while they run (atomics, volatile and
  /// acquire accesses of global memory): then they run one after another.
  UsesGlobalSynchronization = 1,
  /// Something goes through the async proxy, so that stores have to be told
  /// from those that a proxy fence follows.
  UsesAsyncProxy = 2,
  /// tcgen05.
  UsesTensorMemory = 4,
  /// wgmma.
  UsesWarpgroups = 8,
  /// clusterlaunchcontrol: takes clusters that have not begun.
  UsesLaunchControl = 16,
};

struct Code {
  std::string name;
  std::vector<Step> steps;
  /// Of a function; kernels have theirs elsewhere.
  ParameterPlaces parameters, returns;
  Slot numRegisters = 0;
  Slot numPredicates = 0;
  std::vector<FilledSlot> filled;
  /// By slot: names in the PTX text; what has none is the translator's own.
  std::vector<llvm::StringRef> registerNames, predicateNames;
  /// Bytes of the local and param variables of a frame, and the largest
  /// alignment of one.
  uint64_t localSize = 0, localAlignment = 1;
  /// Parts of them that belong to a variable: [begin, end).
  std::vector<std::pair<uint64_t, uint64_t>> localVariables;
  /// Bits of Facility.
  uint8_t facilities = 0;
  /// Of .cta_group, which all instructions have in common; 0 if there is none.
  unsigned tensorBlocks = 0;
  /// By number of the step, where there is a wgmma in this function: those
  /// registers that it uses which a wgmma uses, too.
  std::vector<llvm::ArrayRef<Slot>> registersOfSteps;
  /// Owns forms and lists of operands.
  std::unique_ptr<llvm::BumpPtrAllocator> allocator =
      std::make_unique<llvm::BumpPtrAllocator>();
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_CODE_H
