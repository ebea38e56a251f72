//===- LaunchPlan.h - Kernels with all numbers worked out -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is left to do when arguments are known: every kernel with its grid and
// the value of each parameter. Knows nothing of devices, so that a simulator
// and a CUDA card carry out the same plan.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_LAUNCHPLAN_H
#define BLOCKSCALE_RUNTIME_LAUNCHPLAN_H

#include "blockscale/Runtime/LaunchArguments.h"

namespace mlir::blockscale {

struct PlannedField;

/// The value of one parameter.
struct PlannedParam {
  enum class Kind : uint8_t {
    /// `value` holds the bits.
    Scalar,
    /// The address of the buffer of argument number `value` in the list, plus
    /// `offset`.
    Buffer,
    /// The address of the workspace plus `value`.
    Workspace,
    /// `bytes`, into which `fields` are put.
    Struct,
  };

  PlannedParam(Kind kind, uint64_t value, unsigned size,
               std::optional<TensorMap> tensorMap = std::nullopt,
               uint64_t offset = 0)
      : kind(kind), value(value), size(size), tensorMap(std::move(tensorMap)),
        offset(offset) {}

  Kind kind;
  uint64_t value;
  /// Bytes that the parameter has in the kernel; 0 for a struct whose file is
  /// not loaded.
  unsigned size;
  /// In place of the address: a tensor map of the memory there.
  std::optional<TensorMap> tensorMap;
  uint64_t offset;
  std::vector<uint8_t> bytes;
  std::vector<PlannedField> fields;
};

/// A part of a struct, which is no struct itself and within its bytes.
struct PlannedField {
  /// In bytes, from the start of the struct.
  uint64_t offset;
  PlannedParam param;
};

struct PlannedKernel {
  std::string name;
  Dim3 grid = {1, 1, 1};
  Dim3 block = {1, 1, 1};
  Dim3 cluster = {1, 1, 1};
  /// Dynamic shared memory in bytes.
  uint32_t shared = 0;
  /// See KernelLaunch.
  bool isProgrammatic = false;
  std::vector<PlannedParam> params;

  /// Whether its grid has no blocks.
  bool isEmpty() const { return grid[0] == 0 || grid[1] == 0 || grid[2] == 0; }
};

/// Kernels in launch order, without those whose grids are empty: perhaps none.
struct LaunchPlan {
  std::vector<PlannedKernel> kernels;
  /// Bytes of memory that the kernels share, undefined at first.
  uint64_t workspace = 0;
};

/// The parameters of a kernel that takes the arguments, which
/// `checkReferences` accepts, as they come. Before buffers are loaded, only
/// their sizes in bytes are right.
std::vector<PlannedParam>
planParams(const std::vector<LaunchArgument> &arguments);

/// Holds the number of arguments, and which of them are results, against the
/// launch info; needs no buffers. An error is one of the command line.
Error checkArguments(const LaunchInfo &info,
                     const std::vector<LaunchArgument> &arguments);

/// The kernels of a function, for arguments that `checkArguments` accepts and
/// whose buffers are loaded: one for each argument of the function, then one
/// for each result. Where a size is packed, the array's is in bytes. Refuses
/// buffers that are not as large as the launch info says.
Result<LaunchPlan> planLaunch(const LaunchInfo &info,
                              const std::vector<LaunchArgument> &arguments,
                              uint32_t sms);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_LAUNCHPLAN_H
