//===- SpecialRegisters.h - Special registers -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, types and values of special registers: the parser looks up names, the
// translator types, and warps read the values.
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
  /// The name with the percent sign, without a component; `#` is a number.
  llvm::StringRef name;
  Type type;
  /// Has the components x, y, z and w.
  bool isVector;
  /// Null if the simulator knows only the name.
  uint64_t (*read)(const SpecialReader &reader);
  /// The value may change during a function, so it is read at each use.
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

  /// Encodes the value in an integer, and decodes it.
  uint64_t encode() const;
  static SpecialValue decode(uint64_t number);
};

/// The value that an operand such as `%tid.x` names; nothing if the simulator
/// has none for it.
std::optional<SpecialValue> lookupSpecialValue(llvm::StringRef name);

/// Fills the values of all lanes of a warp.
void readSpecial(const SpecialValue &value, const Warp &warp, Lanes &lanes);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_SPECIALREGISTERS_H
