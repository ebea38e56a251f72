//===- DriverFunctions.h - Functions of the driver --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_CONTROL_DRIVERFUNCTIONS_H
#define BLOCKSCALE_LIB_SIMULATOR_CONTROL_DRIVERFUNCTIONS_H

#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

/// Translates the call of a function that is declared in PTX and defined by the
/// driver. False if the simulator knows no such function of the driver.
bool translateDriverCall(Translator &t, const Function &function,
                         llvm::ArrayRef<PtxOperand> arguments,
                         llvm::ArrayRef<PtxOperand> results);

/// The call of such a function by one lane, whose arguments are in the caller's
/// local variables.
class DriverCall {
public:
  /// `step` calls a function of the driver.
  DriverCall(Warp &warp, const Step &step, unsigned lane)
      : warp(warp), lane(lane), step(step) {}

  /// The value of an argument; nothing after a failure, for example if it is
  /// undefined.
  std::optional<uint64_t> read(unsigned argument) const;
  void giveResult(uint64_t value) const;

  /// Loads an integer from a generic address; nothing after a failure. `what`
  /// names the value in the message if it is undefined.
  std::optional<uint64_t> load(uint64_t address, unsigned size,
                               const llvm::Twine &what) const;
  /// The string at a generic address, without the zero at its end, or its first
  /// `most` bytes; nothing after a failure.
  std::optional<std::string> readText(uint64_t address, size_t most) const;

  Warp &warp;
  const unsigned lane;

private:
  uint8_t *getVariable(uint64_t offset,
                       std::array<std::vector<uint8_t>, kLanes> &memory) const;

  const Step &step;
};

/// `vprintf(format, arguments)`: how many arguments a lane prints; nothing
/// after a failure. Printing.cpp says which conversions there are.
std::optional<int> print(const DriverCall &call, uint64_t format,
                         uint64_t arguments);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_CONTROL_DRIVERFUNCTIONS_H
