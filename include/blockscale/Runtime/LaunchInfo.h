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
//       "programmatic": false,
//       "params": [{"arg": 0}, {"result": 0}, {"workspace": 256},
//                  {"size": {"arg": 0, "dim": 0}},
//                  {"tensor_map": {"of": {"arg": 0}, "dtype": "u1",
//                                  "sizes": [512, 128], "strides": [128],
//                                  "box": [64, 128],
//                                  "element_strides": [1, 1],
//                                  "swizzle": "128", "fill": "zero",
//                                  "l2": "none"}},
//                  {"struct": {"size": 24,
//                              "fields": [{"at": 8, "param": {"arg": 0}},
//                                         {"at": 16,
//                                          "param": {"i32": 7}}]}}]}],
//    "operands": [{"dtype": "u1", "shape": [512, 256], "packed": [2, 1]},
//                 {"dtype": "f4", "shape": [512]}],
//    "checks": [{"condition": {"lt": [0, {"size": {"arg": 0, "dim": 0}}]},
//                "message": "expected rows"}],
//    "schedule": "tile=128x128x128,warps=2x2,stages=3",
//    "digest": {"ptx": "9f86d0..."}}
//
// A kernel whose grid is empty, as sizes may be 0, is not launched. Numbers
// that depend on sizes are expressions, see LaunchExpr.h; for the digest see
// CodeDigest.h.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_LAUNCHINFO_H
#define BLOCKSCALE_RUNTIME_LAUNCHINFO_H

#include "blockscale/Runtime/LaunchExpr.h"
#include "blockscale/Runtime/StructText.h"
#include "blockscale/Runtime/TensorMap.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// x, y and z of a grid, a block or a cluster.
using Dim3 = std::array<uint32_t, 3>;

/// Extents, indices and shared memory are at most this.
inline constexpr uint32_t maxLaunchNumber = INT32_MAX;

/// A tensor map of memory. Dimensions start with the innermost one, as in
/// `TensorMap`; in a file it is the last.
struct LaunchTensorMap {
  /// All but sizes and strides.
  TensorMap form;
  /// In elements.
  std::vector<LaunchExpr> sizes;
  /// In bytes, of all dimensions but the innermost.
  std::vector<LaunchExpr> strides;
};

/// A number of one of the types i32, i64 and f32.
struct LaunchNumber {
  enum class Type : uint8_t { I32, I64, F32 };
  Type type = Type::I32;
  /// Of the first two, signed or unsigned.
  LaunchExpr integer = 0;
  /// Of the last.
  float real = 0;
};

struct LaunchField;

/// What a kernel gets for one of its parameters.
struct LaunchParam {
  enum class Kind : uint8_t {
    /// An argument of the function: a pointer into its array, or a scalar.
    Argument,
    /// A pointer into a result of the function.
    Result,
    /// The size of an argument in a dimension, as 32 bits.
    Size,
    /// A pointer into the workspace.
    Workspace,
    /// A number of a type.
    Number,
    /// Bytes, with fields put in.
    Struct,
  };

  static LaunchParam argument(uint32_t index);
  static LaunchParam result(uint32_t index);
  static LaunchParam ofSize(const ArgumentSize &size);
  static LaunchParam workspace(LaunchExpr offset);

  Kind kind = Kind::Argument;
  /// Of the argument or the result.
  uint32_t index = 0;
  /// Of a size.
  ArgumentSize size;
  /// In bytes, into the workspace or the array.
  LaunchExpr offset = 0;
  /// In place of a pointer: a tensor map of what it would point to.
  std::optional<LaunchTensorMap> tensorMap;
  LaunchNumber number;
  /// Of a struct, before its fields are put in.
  std::vector<uint8_t> bytes;
  std::vector<LaunchField> fields;
};

/// A part of a struct, which is no struct itself.
struct LaunchField {
  /// In bytes, from the start of the struct.
  uint32_t offset;
  LaunchParam param;
};

struct KernelLaunch {
  std::string name;
  std::array<LaunchExpr, 3> grid = {1, 1, 1};
  Dim3 block = {1, 1, 1};
  Dim3 cluster = {1, 1, 1};
  /// Dynamic shared memory in bytes.
  uint32_t shared = 0;
  /// Whether it may start before the kernel in front has ended, for which it
  /// waits itself (PTX ISA, "griddepcontrol"). Never the first one.
  bool isProgrammatic = false;
  std::vector<LaunchParam> params;
};

/// What the buffer of an argument or a result holds; a scalar has no
/// dimensions.
struct LaunchOperand {
  DType dtype;
  /// In elements, also where the last dimension is packed: `bytes` of the
  /// buffer hold `codes` elements then.
  std::vector<LaunchExpr> shape;
  uint32_t codes = 1;
  uint32_t bytes = 1;
};

/// What sizes of arguments have to be, as kernels check themselves, too: a
/// launch that does not start leaves a card as it was.
struct LaunchCheck {
  /// Not 0.
  LaunchExpr condition;
  /// What is wrong where it is 0.
  std::string message;
};

/// A function as a sequence of kernels, at least one. Offsets into the
/// workspace are less than its size.
struct LaunchInfo {
  std::string target;
  std::vector<KernelLaunch> kernels;
  /// Bytes of memory that the kernels share, undefined at first.
  LaunchExpr workspace = 0;
  /// The arguments, then the results; empty where nobody said.
  std::vector<LaunchOperand> operands;
  std::vector<LaunchCheck> checks;
  /// Those of the products, for messages; empty where nobody said.
  std::string schedule;
  /// Of the code that it was written with, see CodeDigest.h; empty where nobody
  /// said.
  std::string ptxDigest, cubinDigest;

  /// As many as the highest index says, or as there are operands in front of
  /// the results.
  uint32_t numArguments() const;
  /// As many as the highest index says.
  uint32_t numResults() const;
  bool usesSms() const;
};

/// Reads the text of a file. Trusts nothing; a message says where in the JSON
/// something else than expected was found.
Result<LaunchInfo> parseLaunchInfo(std::string_view json);

/// The text of a file, which ends in a newline.
std::string serializeLaunchInfo(const LaunchInfo &info);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_LAUNCHINFO_H
