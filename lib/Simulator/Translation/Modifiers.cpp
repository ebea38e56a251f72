//===- Modifiers.cpp - Modifiers of an instruction ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Modifiers are looked up in any order, as ptxas accepts many orders.
//
//===----------------------------------------------------------------------===//

#include "Translation/Modifiers.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

bool Modifiers::take(llvm::StringRef name) {
  auto *found = llvm::find(names, name);
  if (found == names.end())
    return false;
  names.erase(found);
  return true;
}

std::optional<unsigned>
Modifiers::takeOneOf(llvm::ArrayRef<llvm::StringRef> choices) {
  for (auto [i, choice] : llvm::enumerate(choices))
    if (take(choice))
      return i;
  return std::nullopt;
}

std::optional<Type> Modifiers::takeType() {
  for (auto *name = names.begin(); name != names.end(); ++name)
    if (std::optional<Type> type = lookupType(*name)) {
      names.erase(name);
      return type;
    }
  return std::nullopt;
}

std::optional<Type> Modifiers::takeLastType() {
  for (auto *name = names.end(); name != names.begin(); --name)
    if (std::optional<Type> type = lookupType(*(name - 1))) {
      names.erase(name - 1);
      return type;
    }
  return std::nullopt;
}
