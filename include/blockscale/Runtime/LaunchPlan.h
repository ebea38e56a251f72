//===- LaunchPlan.h - Launches with all numbers computed --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch with known arguments: every kernel with its grid and the value of
// each parameter. It is independent of devices, so that the simulator and a
// CUDA card execute the same plan.
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
    /// The address of the buffer of argument number `value`, plus `offset`.
    Buffer,
    /// The address of the workspace plus `value`.
    Workspace,
    /// `bytes`, with `fields` written into them.
    Struct,
  };

  PlannedParam(Kind kind, uint64_t value, unsigned size,
               std::optional<TensorMap> tensorMap = std::nullopt,
               uint64_t offset = 0)
      : kind(kind), value(value), size(size), tensorMap(std::move(tensorMap)),
        offset(offset) {}

  Kind kind;
  uint64_t value;
  /// The size of the parameter in bytes; 0 for a struct whose file is not
  /// loaded.
  unsigned size;
  /// Instead of the address: a tensor map of the memory there.
  std::optional<TensorMap> tensorMap;
  uint64_t offset;
  std::vector<uint8_t> bytes;
  std::vector<PlannedField> fields;
};

/// A field of a struct: not a struct itself, and within its bytes.
struct PlannedField {
  /// In bytes, from the start of the struct.
  uint64_t offset;
  PlannedParam param;
};

struct PlannedKernel : LaunchShape {
  std::string name;
  Dim3 grid = {1, 1, 1};
  std::vector<PlannedParam> params;

  /// Whether its grid is empty.
  bool isEmpty() const { return grid[0] == 0 || grid[1] == 0 || grid[2] == 0; }
};

/// Kernels in launch order, without those whose condition does not hold and
/// those with empty grids; may be empty.
struct LaunchPlan {
  std::vector<PlannedKernel> kernels;
  /// Bytes of memory that the kernels share; undefined at the start.
  uint64_t workspace = 0;
};

/// The parameters of a kernel that takes the arguments in order;
/// `checkReferences` must accept them. Before buffers are loaded, only their
/// sizes in bytes are valid.
std::vector<PlannedParam>
planParams(const std::vector<LaunchArgument> &arguments);

/// Checks the number of arguments, and which of them are results, against the
/// launch info; needs no buffers. Errors are usage errors.
Error checkArguments(const LaunchInfo &info,
                     const std::vector<LaunchArgument> &arguments);

/// The kernels of a function, for arguments that `checkArguments` accepts and
/// whose buffers are loaded: one for each argument of the function, then one
/// for each result. Packed sizes of arrays are in bytes. Refuses buffers that
/// do not have the size of the launch info.
Result<LaunchPlan> planLaunch(const LaunchInfo &info,
                              const std::vector<LaunchArgument> &arguments,
                              uint32_t sms);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_LAUNCHPLAN_H
