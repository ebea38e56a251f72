//===- Modifiers.h - Modifiers of an instruction ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The modifiers behind an opcode, in any order: a family takes out those that
// it knows; the rest is an error.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_MODIFIERS_H
#define BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_MODIFIERS_H

#include "Ptx/Ast.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace mlir::blockscale::sim {

/// The modifiers of an instruction, taken out one by one. Those that are left
/// at the end are not supported.
class Modifiers {
public:
  explicit Modifiers(const PtxInstruction &instruction)
      : names(instruction.modifiers.begin(), instruction.modifiers.end()) {}

  /// Takes `name` out, at any position; false if it is not there.
  bool take(llvm::StringRef name);
  /// Takes out the first of `choices` that is there.
  std::optional<unsigned> takeOneOf(llvm::ArrayRef<llvm::StringRef> choices);
  /// Takes out the name of the first row that is there; null if none is.
  template <typename Row, size_t n>
  const Row *takeRow(const Row (&rows)[n]) {
    for (const Row &row : rows)
      if (take(row.name))
        return &row;
    return nullptr;
  }
  /// Takes out the first (or last) modifier that names a type.
  std::optional<Type> takeType();
  std::optional<Type> takeLastType();

  llvm::ArrayRef<llvm::StringRef> rest() const { return names; }

private:
  llvm::SmallVector<llvm::StringRef, 6> names;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_MODIFIERS_H
