//===- LaunchInfo.h - How kernels are launched ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch info says which kernels a compiled function consists of, in launch
// order, with their grids and parameters. Compilers write it beside the PTX,
// and the programs that launch kernels read it. In a file it is JSON:
//
//   {"version": 1, "target": "sm_120a", "workspace": 512,
//    "kernels": [
//      {"name": "main",
//       "grid": [{"ceildiv": [{"arg": 0, "dim": 0}, 128]}, 2, 1],
//       "block": [128, 1, 1], "cluster": [1, 1, 1], "shared": 65536,
//       "params": [{"arg": 0}, {"result": 0}, {"workspace": 256},
//                  {"size": {"arg": 0, "dim": 0}}]}]}
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_LAUNCHINFO_H
#define BLOCKSCALE_RUNTIME_LAUNCHINFO_H

#include "blockscale/Runtime/Error.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mlir::blockscale {

/// x, y and z of a grid, a block or a cluster.
using Dim3 = std::array<uint32_t, 3>;

/// Extents, indices and shared memory are at most this.
inline constexpr uint32_t maxLaunchNumber = INT32_MAX;

/// The size of an argument of the function in a dimension. Where that is
/// packed, its array has a size in bytes, of which `bytes` hold `codes` codes.
struct ArgumentSize {
  uint32_t argument;
  uint32_t dimension;
  uint32_t codes = 1;
  uint32_t bytes = 1;
};

/// A size divided by `divisor` and rounded up.
struct CeilDiv {
  ArgumentSize size;
  uint32_t divisor;
};

/// How many blocks a grid has in a dimension.
using LaunchExtent = std::variant<uint32_t, CeilDiv>;

/// What a kernel gets for one of its parameters.
struct LaunchParam {
  enum class Kind : uint8_t {
    /// An argument of the function: a pointer to its array, or a scalar.
    Argument,
    /// A pointer to a result of the function.
    Result,
    /// The size of an argument in a dimension, as 32 bits.
    Size,
    /// A pointer into the workspace.
    Workspace,
  };

  static LaunchParam argument(uint32_t index) {
    return {Kind::Argument, index, {}, 0};
  }
  static LaunchParam result(uint32_t index) {
    return {Kind::Result, index, {}, 0};
  }
  static LaunchParam ofSize(const ArgumentSize &size) {
    return {Kind::Size, 0, size, 0};
  }
  static LaunchParam workspace(uint64_t offset) {
    return {Kind::Workspace, 0, {}, offset};
  }

  Kind kind;
  /// Of the argument or the result.
  uint32_t index;
  /// Of a size.
  ArgumentSize size;
  /// In bytes, into the workspace.
  uint64_t offset;
};

struct KernelLaunch {
  std::string name;
  std::array<LaunchExtent, 3> grid = {1u, 1u, 1u};
  Dim3 block = {1, 1, 1};
  Dim3 cluster = {1, 1, 1};
  /// Dynamic shared memory in bytes.
  uint32_t shared = 0;
  std::vector<LaunchParam> params;
};

/// A function as a sequence of kernels, at least one. Offsets into the
/// workspace are less than its size. The function has as many arguments and
/// results as the highest index in the kernels says, so that the last of each
/// must occur there.
struct LaunchInfo {
  std::string target;
  std::vector<KernelLaunch> kernels;
  /// Bytes of memory that the kernels share, undefined at first.
  uint64_t workspace = 0;

  uint32_t numArguments() const;
  uint32_t numResults() const;
};

/// Reads the text of a file. Trusts nothing; a message says where in the JSON
/// something else than expected was found.
Result<LaunchInfo> parseLaunchInfo(std::string_view json);

/// The text of a file, which ends in a newline.
std::string serializeLaunchInfo(const LaunchInfo &info);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_LAUNCHINFO_H
