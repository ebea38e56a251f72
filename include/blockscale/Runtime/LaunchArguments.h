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
//   tmap:FILE:DTYPE:BOX=..:SWIZZLE=.. a tensor map of the data of a .npy file
//
// where FILE may hold colons: behind `in:` and `inout:` it is all that follows,
// behind `out:` all but the last two parts, behind `tmap:` all before the type
// (see TensorMap.h). Integers are decimal, signed or unsigned. A buffer is the
// raw data of its file, and is stored again unless it is `in:`, or `tmap:`
// without `STORE=1`.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_LAUNCHARGUMENTS_H
#define BLOCKSCALE_RUNTIME_LAUNCHARGUMENTS_H

#include "blockscale/Runtime/LaunchInfo.h"
#include "blockscale/Runtime/Npy.h"
#include "blockscale/Runtime/TensorMap.h"

#include <optional>

namespace mlir::blockscale {

struct LaunchArgument {
  enum class Kind : uint8_t { Scalar, In, InOut, Out, TensorMap };

  /// Whether it has data; the parameter is their address, or a tensor map.
  bool isBuffer() const { return kind != Kind::Scalar; }
  bool isStored() const {
    return kind == Kind::InOut || kind == Kind::Out ||
           (kind == Kind::TensorMap && isTensorStored);
  }

  Kind kind = Kind::Scalar;
  /// As on the command line, for messages.
  std::string text;
  /// The bits of a scalar, and how many bytes of them count.
  uint64_t bits = 0;
  unsigned size = 0;
  /// The file of a buffer.
  std::string path;
  /// The contents of a buffer. Before `loadBuffers` it has no data; that of
  /// `out:` has its type and shape.
  NpyArray array;
  /// What the copies of a tensor map see of the buffer; complete when that is
  /// loaded.
  std::optional<TensorMap> tensorMap;
  bool isTensorStored = false;
};

/// Parses one ARG; touches no file. An error is one of the command line.
Result<LaunchArgument> parseLaunchArgument(std::string_view text);

/// Reads the files of `in:`, `inout:` and `tmap:`, makes the zeros of `out:`.
Error loadBuffers(std::vector<LaunchArgument> &arguments);

/// Stores the buffers that `isStored` names, all files or none.
Error storeBuffers(const std::vector<LaunchArgument> &arguments);

/// Parses `X`, `X,Y` or `X,Y,Z` with numbers from 1 to `maxLaunchNumber`; what
/// is left out is 1.
Result<Dim3> parseDim3(std::string_view text);

/// Parses a number of bytes from 0 to `maxLaunchNumber`.
Result<uint32_t> parseByteCount(std::string_view text);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_LAUNCHARGUMENTS_H
