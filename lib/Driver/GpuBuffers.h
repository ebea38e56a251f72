//===- GpuBuffers.h - Arrays as a GPU function takes them -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files have one element per byte. In the buffers of a GPU function, fp4
// elements, and fp6 elements of an argument with the attribute
// `blockscale.packed`, are a little-endian bit stream along the last dimension,
// whose rows end on a byte: two fp4 elements in a byte, the even one in the low
// nibble.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_GPUBUFFERS_H
#define BLOCKSCALE_LIB_DRIVER_GPUBUFFERS_H

#include "blockscale/Runtime/LaunchArguments.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace mlir::blockscale {

/// An argument or result of a function, before it is compiled.
struct GpuValue {
  RankedTensorType type;
  /// Passed by value: its type is no tensor.
  bool isScalar;
  /// Bits of an element in a packed buffer; 0 for elements as in a file.
  unsigned packedBits;
};

struct GpuSignature {
  std::vector<GpuValue> arguments, results;
};

/// Fails after an error that names the first type that no .npy file can hold.
FailureOr<GpuSignature> getGpuSignature(func::FuncOp function);

/// Packs elements: the low `bits` of each byte of `codes`, one after the other
/// from the lowest bit on. They must fill whole bytes; an array does if its
/// rows do.
std::vector<uint8_t> packCodes(const std::vector<uint8_t> &codes,
                               unsigned bits);

/// The reverse.
std::vector<uint8_t> unpackCodes(const std::vector<uint8_t> &bytes,
                                 unsigned bits);

/// The launch argument for an argument of the function. An error if packed rows
/// do not end on a byte.
Result<LaunchArgument> makeLaunchArgument(const GpuValue &value,
                                          NpyArray array);

/// The launch argument for a result whose buffer has this shape: zeros.
Result<LaunchArgument> makeLaunchResult(const GpuValue &value,
                                        std::vector<int64_t> shape);

/// The result of a launch.
NpyArray takeLaunchResult(const GpuValue &value, LaunchArgument result);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DRIVER_GPUBUFFERS_H
