//===- LaunchInfo.h - How kernels are launched ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch info lists the kernels of a compiled function in launch order, with
// their grids and parameters. Compilers write it beside the PTX, and the
// programs that launch kernels read it. In a file it is JSON, here of version
// 1:
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
// A kernel whose grid is empty (sizes may be 0) is not launched. Numbers that
// depend on sizes are expressions, see LaunchExpr.h; for the digest see
// CodeDigest.h.
//
// Version 2 is for functions with alternatives, of which sizes choose one at
// launch. A kernel may have a condition beside its grid, and expressions may
// use "select":
//
//      {"name": "main__few_rows",
//       "condition": {"lt": [{"size": {"arg": 0, "dim": 0}}, 64]}, ...}
//
// A file that uses neither is of version 1.
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

/// The limit of extents, indices and shared memory.
inline constexpr uint32_t maxLaunchNumber = INT32_MAX;

/// A tensor map of memory. Dimensions start with the innermost one, as in
/// `TensorMap`; in a file it is the last.
struct LaunchTensorMap {
  /// Everything but sizes and strides.
  TensorMap form;
  /// In elements.
  std::vector<LaunchExpr> sizes;
  /// In bytes, for all dimensions but the innermost.
  std::vector<LaunchExpr> strides;
};

/// A number of type i32, i64 or f32.
struct LaunchNumber {
  enum class Type : uint8_t { I32, I64, F32 };
  Type type = Type::I32;
  /// For the first two, signed or unsigned.
  LaunchExpr integer = 0;
  /// For the last.
  float real = 0;
};

struct LaunchField;

/// The value of a parameter of a kernel.
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
    /// A typed number.
    Number,
    /// Bytes, with fields written into them.
    Struct,
  };

  static LaunchParam argument(uint32_t index);
  static LaunchParam result(uint32_t index);
  static LaunchParam ofSize(const ArgumentSize &size);
  static LaunchParam workspace(LaunchExpr offset);

  Kind kind = Kind::Argument;
  /// The index of the argument or the result.
  uint32_t index = 0;
  /// The dimension of a size.
  ArgumentSize size;
  /// In bytes, into the workspace or the array.
  LaunchExpr offset = 0;
  /// Instead of a pointer: a tensor map of the memory there.
  std::optional<LaunchTensorMap> tensorMap;
  LaunchNumber number;
  /// The bytes of a struct, before its fields are written.
  std::vector<uint8_t> bytes;
  std::vector<LaunchField> fields;
};

/// A field of a struct; not a struct itself.
struct LaunchField {
  /// In bytes, from the start of the struct.
  uint32_t offset;
  LaunchParam param;
};

/// How a kernel is launched, but for its condition and its grid.
struct LaunchShape {
  Dim3 block = {1, 1, 1};
  Dim3 cluster = {1, 1, 1};
  /// Dynamic shared memory in bytes.
  uint32_t shared = 0;
  /// Whether it may start before the previous kernel has ended, and waits for
  /// that itself (PTX ISA, "griddepcontrol"). The previous kernel is the last
  /// one that was launched, for the first launch the one in front of the
  /// function. Drivers before CUDA 11.8 start it after that end.
  bool isProgrammatic = false;
};

struct KernelLaunch : LaunchShape {
  std::string name;
  /// If it is 0, the kernel is not launched, and its other numbers are not
  /// evaluated.
  LaunchExpr condition = 1;
  std::array<LaunchExpr, 3> grid = {1, 1, 1};
  std::vector<LaunchParam> params;
};

/// The contents of the buffer of an argument or a result; a scalar has no
/// dimensions.
struct LaunchOperand {
  DType dtype;
  /// In elements. If the last dimension is packed, every `bytes` bytes of the
  /// buffer hold `elements`.
  std::vector<LaunchExpr> shape;
  uint32_t elements = 1;
  uint32_t bytes = 1;
};

/// A condition on sizes of arguments. Kernels check it as well, but a launch
/// that does not start leaves the card usable.
struct LaunchCheck {
  /// Must not be 0.
  LaunchExpr condition;
  /// The message if it is 0.
  std::string message;
};

/// A function as a sequence of kernels, at least one. Offsets into the
/// workspace are less than its size.
struct LaunchInfo {
  std::string target;
  std::vector<KernelLaunch> kernels;
  /// Bytes of memory that the kernels share; undefined at the start.
  LaunchExpr workspace = 0;
  /// The arguments, then the results; empty if unknown.
  std::vector<LaunchOperand> operands;
  std::vector<LaunchCheck> checks;
  /// The schedules of the products, for messages; empty if unknown.
  std::string schedule;
  /// The digests of its code, see CodeDigest.h; empty if unknown.
  std::string ptxDigest, cubinDigest;

  /// From the highest index, or the operands before the results.
  uint32_t numArguments() const;
  /// From the highest index.
  uint32_t numResults() const;
  bool usesSms() const;
  /// The version of its file: the lowest one that can express it.
  uint32_t version() const;
};

/// Reads the text of an untrusted file; messages name the JSON path of an
/// unexpected value.
Result<LaunchInfo> parseLaunchInfo(std::string_view json);

/// The text of a file, which ends in a newline.
std::string serializeLaunchInfo(const LaunchInfo &info);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_LAUNCHINFO_H
