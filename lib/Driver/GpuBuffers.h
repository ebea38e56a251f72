//===- GpuBuffers.h - Arrays as a GPU function takes them ------ -*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files have one code per byte. In the buffers of a GPU function fp4 codes, and
// fp6 codes of an argument with the attribute `blockscale.packed`, are a
// little-endian bit stream along the last dimension, whose rows end on a byte:
// two fp4 codes in a byte, the even one in the low nibble.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_GPUBUFFERS_H
#define BLOCKSCALE_LIB_DRIVER_GPUBUFFERS_H

#include "blockscale/Runtime/LaunchArguments.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace mlir::blockscale {

/// What is known of an argument or result of a function before it is compiled.
struct GpuValue {
  RankedTensorType type;
  /// Passed by value, of a type that is no tensor.
  bool isScalar;
  /// Bits of a code in a packed buffer; 0 for elements as in a file.
  unsigned packedBits;
};

struct GpuSignature {
  std::vector<GpuValue> arguments, results;
};

/// Fails after an error that names the first type that no .npy file can hold.
FailureOr<GpuSignature> getGpuSignature(func::FuncOp function);

/// The low `bits` of each byte of `codes`, one after the other from the lowest
/// bit on. They must fill whole bytes, which holds for an array if it does for
/// a row.
std::vector<uint8_t> packCodes(const std::vector<uint8_t> &codes,
                               unsigned bits);

/// The reverse.
std::vector<uint8_t> unpackCodes(const std::vector<uint8_t> &bytes,
                                 unsigned bits);

/// What a launch takes for an argument of the function. An error says where
/// packed rows do not end on a byte.
Result<LaunchArgument> makeLaunchArgument(const GpuValue &value,
                                          NpyArray array);

/// What a launch takes for a result whose buffer has this shape: zeros.
Result<LaunchArgument> makeLaunchResult(const GpuValue &value,
                                        std::vector<int64_t> shape);

/// The result that a launch has left.
NpyArray takeLaunchResult(const GpuValue &value, LaunchArgument result);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DRIVER_GPUBUFFERS_H
