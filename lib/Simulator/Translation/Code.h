//===- Code.h - Translated functions ----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A translated function is an array of steps. A step has a function that
// executes it for the participating lanes, and the indices of its registers.
// Constants, special registers and addresses of variables are registers too,
// which are filled when the function is entered, so that the function never
// checks the kind of an operand.
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

/// The class of a step in `--stats`.
enum class StepClass : uint8_t {
  Arithmetic,
  Conversion,
  Memory,
  Control,
  Synchronization,
  Matrix,
};
inline constexpr unsigned kNumStepClasses = 6;

/// The pipe of an SM that executes an instruction.
enum class Pipe : uint8_t {
  /// Costs nothing: compilers remove it.
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
  /// Takes only an issue slot of the scheduler.
  Issue,
};
inline constexpr unsigned kNumPipes = 9;

/// The pipe of an instruction, for time estimates. The instructions that ptxas
/// generates differ: moves between registers vanish, and 64-bit addresses take
/// two instructions.
Pipe getPipe(const PtxInstruction &instruction);

/// A collective that lanes may execute together from different instructions of
/// a function, if opcode and qualifiers are equal.
struct Gathering {
  /// Opcode and qualifiers.
  llvm::StringRef name;
  /// Bit i says whether operand i is a predicate, and whether it is a result.
  uint8_t predicates, results;
};

struct Step {
  using Execute = void (*)(Warp &warp, const Step &step);

  Execute execute = nullptr;
  /// The static parameters of the function; the type depends on the function.
  const void *form = nullptr;
  llvm::ArrayRef<Slot> operands;
  /// Null if all lanes have to reach the same instruction.
  const Gathering *gathering = nullptr;
  /// The predicate that guards the step.
  Slot guard = kNoSlot;
  bool isGuardNegated = false;
  /// The program promises that all lanes that get here take part (`.uni`).
  bool isUniform = false;
  StepClass kind = StepClass::Arithmetic;
  /// Its name in statistics (empty if the function counts itself), and how many
  /// multiply-adds it counts as.
  llvm::StringRef name;
  uint32_t multiplyAdds = 0;
  /// In the PTX text.
  uint32_t line = 0;
  /// For time estimates: the pipe (for Matrix, also the matrix class, and
  /// whether A is sparse), and which of its operands are results. Bit i:
  /// operand i is a predicate.
  Pipe pipe = Pipe::None;
  MatrixClass matrixClass = MatrixClass::Halves;
  bool isSparse = false;
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
    /// The same, relative to the kernel's dynamic shared memory.
    DynamicSharedAddress,
  };
  Slot slot;
  Kind kind;
  uint64_t value;
};

/// The location of a parameter or result of a call in a frame: a register, or
/// bytes of its local variables.
struct ParameterLocation {
  bool isRegister;
  Slot slot;
  /// The type of a register.
  Type type;
  uint64_t offset, size;
};
using ParameterLocations = std::vector<ParameterLocation>;

/// Facilities that only some kernels use.
enum Facility : uint8_t {
  /// Atomics, volatile or acquire accesses of global memory, by which blocks
  /// may see each other's stores while they run. Such blocks run one after
  /// another.
  UsesGlobalSynchronization = 1,
  /// Operations of the async proxy, so stores that a proxy fence has followed
  /// must be tracked.
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
  /// Parameters of a function; kernels have theirs elsewhere.
  ParameterLocations parameters, returns;
  Slot numRegisters = 0;
  Slot numPredicates = 0;
  std::vector<FilledSlot> filled;
  /// Names in the PTX text, by slot; registers of the translator have none.
  std::vector<llvm::StringRef> registerNames, predicateNames;
  /// Bytes of the local and param variables of a frame, and their largest
  /// alignment.
  uint64_t localSize = 0, localAlignment = 1;
  /// Ranges of them that belong to a variable: [begin, end).
  std::vector<std::pair<uint64_t, uint64_t>> localVariables;
  /// Bits of Facility.
  uint8_t facilities = 0;
  /// The number in .cta_group, which must be the same in all instructions; 0 if
  /// there is none.
  unsigned tensorBlocks = 0;
  /// By step, if the function has a wgmma: the registers of the step that some
  /// wgmma also uses.
  std::vector<llvm::ArrayRef<Slot>> registersOfSteps;
  /// Owns forms and lists of operands.
  std::unique_ptr<llvm::BumpPtrAllocator> allocator =
      std::make_unique<llvm::BumpPtrAllocator>();
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_CODE_H
