//===- LaunchArguments.h - Arguments of kernels as text ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An ARG of the programs that launch kernels is one of
//
//   i32:N  i64:N  f32:X               a scalar
//   in:FILE  inout:FILE               a buffer with the data of a .npy file
//   out:FILE:DTYPE:DIM[xDIM]...       a buffer of zeros
//   undef:FILE:DTYPE:DIM[xDIM]...     the same, but of bytes that nobody has
//                                     written
//   tmap:FILE:DTYPE:BOX=AxB..:SWIZZLE=.. a tensor map of the data of a .npy
//   file tmap:@N[+BYTES]:DTYPE:SIZES=AxB..:PITCH=BYTESx..:BOX=AxB..:SWIZZLE=..
//                                     a tensor map of the buffer of ARG N
//   struct:FILE[:ptr@OFF=N]...        the bytes of a .npy file, patched
//   none:ARG                          one with a buffer, or a tensor map: made,
//                                     but no parameter
//
// where FILE may have colons: after `in:` and `inout:` it is everything that
// follows, after `out:` and `undef:` everything but the last two parts, after
// `tmap:` everything before the type (see TensorMap.h), after `struct:`
// everything before the patches (see StructText.h). Integers are decimal,
// signed or unsigned. A buffer is the raw data of its file, and is stored again
// unless it is `in:`, or `tmap:` without `STORE=1`. ARGs are numbered from 0; N
// may be a later one.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_LAUNCHARGUMENTS_H
#define BLOCKSCALE_RUNTIME_LAUNCHARGUMENTS_H

#include "blockscale/Runtime/LaunchInfo.h"
#include "blockscale/Runtime/Npy.h"
#include "blockscale/Runtime/StructText.h"
#include "blockscale/Runtime/TensorMap.h"

#include <optional>

namespace mlir::blockscale {

struct LaunchArgument {
  enum class Kind : uint8_t {
    Scalar,
    In,
    InOut,
    Out,
    /// A tensor map of a buffer of its own.
    TensorMap,
    /// A tensor map of the buffer of another argument.
    TensorView,
    Struct,
  };

  /// Whether it has a buffer; the parameter is its address, or a tensor map.
  bool isBuffer() const {
    return kind == Kind::In || kind == Kind::InOut || kind == Kind::Out ||
           kind == Kind::TensorMap;
  }
  bool isStored() const {
    return kind == Kind::InOut || kind == Kind::Out ||
           (kind == Kind::TensorMap && isTensorStored);
  }

  Kind kind = Kind::Scalar;
  /// The text of the command line, for messages.
  std::string text;
  /// False for `none:`.
  bool isParameter = true;
  /// The bits of a scalar, and its size in bytes.
  uint64_t bits = 0;
  unsigned size = 0;
  /// Whether an output starts undefined instead of zero.
  bool isUndefined = false;
  /// The file of a buffer or of a struct.
  std::string path;
  /// The contents of a buffer or of a struct. Before `loadBuffers` it has no
  /// data; that of `out:` has its type and shape.
  NpyArray array;
  /// The tensor map; for the data of a file it is complete when that is loaded.
  std::optional<TensorMap> tensorMap;
  bool isTensorStored = false;
  /// Whether kernels only make other maps of it: see TensorMapText.
  bool isTemplate = false;
  /// The start of the tensor of a `TensorView`.
  BufferText viewed;
  /// The patches of a struct.
  std::vector<StructPatch> patches;
};

/// Parses one ARG; touches no file. Errors are usage errors.
Result<LaunchArgument> parseLaunchArgument(std::string_view text);

/// Checks references between arguments: that they are buffers or tensor maps
/// where these are expected. Needs no files; errors are usage errors.
Error checkReferences(const std::vector<LaunchArgument> &arguments);

/// Checks that tensors and addresses are within their buffers, which are
/// loaded. An address may be one past the last byte.
Error checkBufferPositions(const std::vector<LaunchArgument> &arguments);

/// Reads the files of `in:`, `inout:`, `tmap:` and `struct:`, and makes the
/// zeros of `out:`. Tensors and addresses must be within their buffers, and
/// patches within their structs.
Error loadBuffers(std::vector<LaunchArgument> &arguments);

/// Stores the buffers that `isStored` names, all files or none.
Error storeBuffers(const std::vector<LaunchArgument> &arguments);

/// Parses `X`, `X,Y` or `X,Y,Z` with numbers from 1 to `maxLaunchNumber`;
/// missing ones are 1.
Result<Dim3> parseDim3(std::string_view text);

/// Parses a number of bytes from 0 to `maxLaunchNumber`.
Result<uint32_t> parseByteCount(std::string_view text);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_LAUNCHARGUMENTS_H
