//===- SpecialRegisters.h - Special registers -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, types and values of special registers: the parser knows them by their
// names, the translator by their types, and warps read them.
//
// Source: PTX ISA 9.0, chapter 10 "Special Registers".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_SPECIALREGISTERS_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_SPECIALREGISTERS_H

#include "Machine/Lanes.h"
#include "Ptx/Types.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mlir::blockscale::sim {

class Warp;

/// The lane that reads, and the component of a vector that it wants.
struct SpecialReader {
  const Warp &warp;
  unsigned lane, component;
};

/// One row of the table of special registers.
struct SpecialRegister {
  /// Without a component, and with the percent sign; `#` is a number.
  llvm::StringRef name;
  Type type;
  /// Has the components x, y, z and w.
  bool isVector;
  /// Null where this version has the name alone.
  uint64_t (*read)(const SpecialReader &reader);
  /// Changes while a function is executed, and so is read where it stands.
  bool isChanging = false;
  /// How many numbers `#` stands for, from 0 on.
  unsigned count = 1;
};

/// The row of a name that has no component; null if PTX has no such register.
const SpecialRegister *lookupSpecialRegister(llvm::StringRef name);

/// A special register, or a component of one, that can be read.
struct SpecialValue {
  const SpecialRegister *row;
  unsigned component;

  /// A number for it, and back.
  uint64_t encode() const;
  static SpecialValue decode(uint64_t number);
};

/// What an operand such as `%tid.x` names; nothing if this version has no
/// value for it.
std::optional<SpecialValue> lookupSpecialValue(llvm::StringRef name);

/// Fills the values of all lanes of a warp.
void readSpecial(const SpecialValue &value, const Warp &warp, Lanes &lanes);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_SPECIALREGISTERS_H
