//===- Ast.h - A PTX module as it was parsed --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The syntax tree of a PTX text. Names are resolved (a register, variable,
// function or label is an index); instructions are not interpreted yet (an
// opcode, its modifiers and operands). Views point into `Module::text`.
//
// Source: PTX ISA, chapters 4 "Syntax", 5 "State Spaces, Types, and Variables",
// 6 "Instruction Operands", 7 "Abstracting the ABI" and 11 "Directives".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_PTX_AST_H
#define BLOCKSCALE_LIB_SIMULATOR_PTX_AST_H

#include "Ptx/Types.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::blockscale::sim {

/// A line and a column of the PTX text; both count from 1.
struct Location {
  uint32_t line = 0;
  uint32_t column = 0;
};

enum class Space : uint8_t { Const, Global, Local, Param, Shared };

using Index = uint32_t;

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// An address in an initializer: the address of a variable or function plus
/// `addend`, shifted right by `shift` bits; its `size` low bytes are written at
/// `offset`. With `generic(NAME)` the address is generic, else it is in the
/// variable's state space. `0xFF00(NAME)` has a shift of 8.
struct Relocation {
  uint64_t offset;
  unsigned size;
  unsigned shift;
  /// Into Module::functions if `isFunction`, else into Module::variables.
  Index target;
  bool isFunction;
  bool isGeneric;
  int64_t addend;
};

/// A variable of the module, of a function, or a parameter. All of them are in
/// Module::variables; names are unique in their scope only.
struct Variable {
  llvm::StringRef name;
  Location location;
  Space space = Space::Global;
  Type type = Type::B8;
  /// Elements of a vector type (.v2, .v4), else 1.
  unsigned vectorSize = 1;
  /// Bytes of all elements; 0 for `.extern .shared .b8 x[]`.
  uint64_t size = 0;
  /// The declared alignment, or that of the (vector) type.
  uint64_t alignment = 1;
  bool isExtern = false;
  /// `x[]`: the size is not known (dynamic shared memory, or given elsewhere).
  bool isUnsized = false;
  /// The bytes of the initializer; if it is shorter than `size`, the rest is 0.
  std::vector<uint8_t> initializer;
  bool isInitialized = false;
  std::vector<Relocation> relocations;
  /// For a kernel parameter with `.ptr`: the space and the alignment of the
  /// memory that it points to.
  bool isPointer = false;
  std::optional<Space> pointerSpace;
  uint64_t pointerAlignment = 0;
};

struct Register {
  llvm::StringRef name;
  Type type;
  /// Elements of a vector type (.v2, .v4), else 1.
  unsigned vectorSize = 1;
};

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// One operand; the meaning of the members depends on its kind.
struct PtxOperand {
  enum class Kind : uint8_t {
    /// `%r1`: `index` into Function::registers. With `.x`/`.y`/`.z`/`.w` (or
    /// `.r .g .b .a`), `component` is 0 to 3, else -1. `isNegated` for `!%p1`,
    /// `isMinus` for `-%r1`; `selector` is "h0" of `%r1.h0`.
    Register,
    /// `%tid.x`, `%laneid`, `WARP_SZ`: `name` is the text with the percent sign
    /// and the component.
    SpecialRegister,
    /// An integer constant (expression): `bits`, sign-extended to 64 bits.
    Integer,
    /// `0f3F800000`: `bits` are those of the f32.
    Float32,
    /// `0d3FF0000000000000` or a decimal: `bits` are those of the f64.
    Float64,
    /// A variable, with `offset` bytes: `x`, `x+4`; `index` into
    /// Module::variables.
    Variable,
    /// `index` into Module::functions.
    Function,
    /// A label: `index` into Function::labels.
    Label,
    /// A label of `.branchtargets`: `index` into Function::branchTargets.
    BranchTargets,
    /// A label of `.callprototype` or `.calltargets`: `name`, and `index` into
    /// Function::prototypes.
    Prototype,
    /// `[...]`: `elements` is the base (Register, Variable or Integer) followed
    /// by further parts separated by commas (`[tmap, {%r1, %r2}]`); `offset`
    /// is added to the base.
    Address,
    /// `{a, b}`: `elements`.
    Vector,
    /// `p|q`: `elements` are the two destinations, each Register or Sink.
    Pair,
    /// `_`
    Sink,
  };

  Kind kind = Kind::Sink;
  bool isNegated = false, isMinus = false;
  int8_t component = -1;
  Index index = 0;
  uint64_t bits = 0;
  int64_t offset = 0;
  llvm::StringRef name, selector;
  Location location;
  std::vector<PtxOperand> elements;
};

/// The guard `@%p` or `@!%p` of an instruction.
struct Guard {
  Index reg;
  bool isNegated;
};

/// `mma.sync.aligned.m16n8k32... d, a, b, c;`. A call has its operands in the
/// order in which they are written: an optional Vector with the return
/// parameters, the function (Function, or Register for an indirect call), an
/// optional Vector with the parameters, and an optional Prototype; `hasReturns`
/// says whether the first is there.
struct PtxInstruction {
  PtxInstruction() = default;
  // A list of instructions moves them when it grows, instead of copying them.
  PtxInstruction(PtxInstruction &&) noexcept = default;
  PtxInstruction &operator=(PtxInstruction &&) noexcept = default;

  Location location;
  std::optional<Guard> guard;
  /// The text up to the first dot.
  llvm::StringRef opcode;
  /// The parts behind the dots: "sync", "shared::cta", "kind::mxf4".
  llvm::SmallVector<llvm::StringRef, 6> modifiers;
  llvm::SmallVector<PtxOperand, 4> operands;
  bool hasReturns = false;
};

struct Label {
  llvm::StringRef name;
  Location location;
  /// The instruction that follows; the number of instructions at the end.
  Index instruction = 0;
};

/// A parameter of a function: a register (`.reg`) or a `.param` variable.
struct Parameter {
  bool isRegister = false;
  /// Into Function::registers or Module::variables.
  Index index = 0;
};

/// What an indirect call may call: functions with these parameters
/// (`.callprototype`), or those of a list (`.calltargets`).
struct Prototype {
  struct Parameter {
    bool isRegister;
    /// The type of a register.
    Type type;
    /// The size of a `.param` variable.
    uint64_t size;
  };
  bool isList = false;
  std::vector<Parameter> returns, parameters;
  /// Into Module::functions.
  std::vector<Index> targets;
};

struct Function {
  llvm::StringRef name;
  Location location;
  bool isEntry = false;
  bool isExtern = false;
  bool isVisible = false;
  /// Whether there is a body (a declaration has none).
  bool isDefined = false;
  std::vector<Parameter> returns;
  std::vector<Parameter> parameters;

  /// Only registers that occur; a range such as `%r<1000>` adds nothing.
  std::vector<Register> registers;
  std::vector<PtxInstruction> instructions;
  std::vector<Label> labels;
  /// Lists of labels, as indices into `labels`.
  std::vector<std::vector<Index>> branchTargets;
  std::vector<Prototype> prototypes;
  /// Local, shared and param variables of the body, into Module::variables.
  std::vector<Index> variables;

  // Performance directives; nothing if the function has none.
  std::optional<std::array<uint32_t, 3>> requiredBlock;   // .reqntid
  std::optional<std::array<uint32_t, 3>> maximumBlock;    // .maxntid
  std::optional<std::array<uint32_t, 3>> requiredCluster; // .reqnctapercluster
  std::optional<uint32_t> maximumRegisters;               // .maxnreg
  std::optional<uint32_t> minimumBlocksPerSm;             // .minnctapersm
  std::optional<uint32_t> maximumClusterRank;             // .maxclusterrank
  bool isExplicitCluster = false;                         // .explicitcluster
};

struct Module {
  /// The text that the views point into.
  std::unique_ptr<const std::string> text;
  unsigned versionMajor = 0, versionMinor = 0;
  /// "sm_120a"
  llvm::StringRef target;
  unsigned addressSize = 64;
  std::vector<Variable> variables;
  /// `.file` and `.loc` (nvcc's -lineinfo): file names by number, and the
  /// source line from which the PTX text comes, from each line on; file 0 means
  /// none.
  struct SourceLine {
    uint32_t line;
    uint32_t file, fileLine;
  };
  std::map<uint32_t, std::string> files;
  std::vector<SourceLine> sourceLines;
  /// Indices into `variables` of those at module scope.
  std::vector<Index> globals;
  std::vector<Function> functions;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_PTX_AST_H
