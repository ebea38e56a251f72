//===- SymbolTable.h - The names of a PTX module ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scopes of names while a module is parsed. Every look-up takes constant time
// at any depth of scopes: there is one table for a function, and a scope
// restores what it has shadowed when it is left.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_PTX_SYMBOLTABLE_H
#define BLOCKSCALE_LIB_SIMULATOR_PTX_SYMBOLTABLE_H

#include "Ptx/Ast.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::blockscale::sim {

struct Symbol {
  enum class Kind : uint8_t {
    Register,
    Variable,
    Function,
    // A name before a colon.
    Label,
    BranchTargets,
    Prototype,
  };
  Kind kind;
  /// Into the list of the module or function for this kind.
  Index index;
};

/// A use of a name that is not declared yet: a label, or a function.
struct Reference {
  enum class Wanted : uint8_t {
    LabelOrFunction,
    Label,
    BranchTargets,
    Prototype,
    Function,
  };
  enum class Site : uint8_t {
    /// An operand: `index` is the instruction, `part` the operand, and
    /// `element`, unless it is `none`, one of the operand's elements.
    PtxOperand,
    /// Element `part` of Function::branchTargets[index].
    BranchTargets,
    /// Element `part` of Function::prototypes[index].targets.
    CallTargets,
    /// Relocation `part` of Module::variables[index].
    Initializer,
    /// The name only has to be declared.
    Nowhere,
  };
  static constexpr Index none = UINT32_MAX;

  llvm::StringRef name;
  Location location;
  Wanted wanted = Wanted::LabelOrFunction;
  Site site = Site::Nowhere;
  /// The function that has the operand; set when the function ends.
  Index function = none;
  Index index = none;
  Index part = none;
  Index element = none;
};

/// Names of the module are global; those of a function are in the scopes that
/// are entered. A scope's labels may be used before they are declared.
class SymbolTable {
public:
  /// False if the name is declared already.
  bool declareGlobal(llvm::StringRef name, Symbol symbol);
  std::optional<Symbol> lookupGlobal(llvm::StringRef name) const;

  void enterScope();
  unsigned getDepth() const { return scopes.size(); }

  /// Leaves the innermost scope: calls `resolve` for the references to labels
  /// of that scope, and passes the others on to the enclosing one. Returns
  /// those that are left after the outermost scope.
  std::vector<Reference>
  leaveScope(llvm::function_ref<void(const Reference &, Symbol)> resolve);

  /// Declares a name in the innermost scope; false if that has it already.
  bool declare(llvm::StringRef name, Symbol symbol);

  /// Declares `prefix0`, `prefix1`, ... with numbers below `count`. Unused
  /// names cost nothing.
  bool declareRange(llvm::StringRef prefix, Type type, unsigned vectorSize,
                    uint64_t count);

  struct Found {
    std::optional<Symbol> symbol;
    /// The innermost scope with the name declares it twice, with overlapping
    /// ranges.
    bool isAmbiguous = false;
  };
  /// A register of a range is added to `registers` when it is found first.
  Found lookup(llvm::StringRef name, std::vector<Register> &registers);

  void addReference(const Reference &reference);

private:
  struct ScopedSymbol {
    Symbol symbol;
    unsigned depth;
  };
  struct Range {
    Type type;
    unsigned vectorSize;
    uint64_t count;
    unsigned depth;
    /// The range of the same prefix in an enclosing scope.
    std::optional<size_t> outer;
    /// The registers that occur, by number.
    llvm::DenseMap<uint64_t, Index> registers;
  };
  struct Member {
    Range *range = nullptr;
    uint64_t number = 0;
    bool isAmbiguous = false;
  };
  using References =
      llvm::DenseMap<llvm::StringRef, llvm::SmallVector<Reference, 1>>;
  struct Scope {
    /// The previous meaning of the names that the scope declares.
    std::vector<std::pair<llvm::StringRef, std::optional<ScopedSymbol>>>
        shadowed;
    std::vector<std::pair<llvm::StringRef, std::optional<size_t>>>
        shadowedRanges;
    References references;
    size_t numReferences = 0;
  };

  Member lookupRange(llvm::StringRef name);
  void passOn(Scope &from, Scope &to);

  llvm::DenseMap<llvm::StringRef, Symbol> globals;
  llvm::DenseMap<llvm::StringRef, ScopedSymbol> symbols;
  /// Into `ranges`, by prefix.
  llvm::DenseMap<llvm::StringRef, size_t> rangesOfPrefix;
  std::vector<Range> ranges;
  std::vector<Scope> scopes;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_PTX_SYMBOLTABLE_H
