//===- LaunchChecks.h - Launches that are not run ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What CUDA refuses, and what would need something that a launch before has
// left elsewhere than in buffers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FAKECUDART_LAUNCHCHECKS_H
#define BLOCKSCALE_TEST_FAKECUDART_LAUNCHCHECKS_H

#include "Launches.h"

#include <optional>
#include <string>

namespace capture {

struct Refusal {
  cudaError_t status;
  std::string text;
};

/// Nothing if a launch can be run.
std::optional<Refusal> checkLaunch(const Launch &launch);

/// How many variables a module has in global and constant memory; each has a
/// region of the simulator's addresses.
unsigned countRegions(const PtxCode &code);

/// Keeps in mind what a launch that is run may leave in variables and on the
/// heap, for those behind it.
void rememberUses(const VariableUses &uses);
/// The same of a variable whose address a launch has left in a buffer.
void rememberPointer(const std::string &name);

/// Where a variable is for kernels.
struct AddressRange {
  uint64_t begin, end;
  std::string name;
};

/// Of those that a kernel uses.
std::vector<AddressRange> findRanges(const VariableUses &uses,
                                     const PtxCode &code);

} // namespace capture

#endif // BLOCKSCALE_TEST_FAKECUDART_LAUNCHCHECKS_H
