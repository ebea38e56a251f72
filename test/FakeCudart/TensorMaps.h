//===- TensorMaps.h - Tensor maps of programs -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuTensorMapEncodeTiled, which programs find through the runtime, writes 128
// bytes that are found by value in parameters of kernels.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FAKECUDART_TENSORMAPS_H
#define BLOCKSCALE_TEST_FAKECUDART_TENSORMAPS_H

#include "blockscale/Runtime/TensorMap.h"

#include <cstdint>
#include <optional>
#include <string>

namespace capture {

inline constexpr uint32_t kTensorMapBytes = 128;
inline constexpr uint32_t kTensorMapAlignment = 64;

/// A tensor map as an ARG of blockscale-sim says it, in two parts.
struct TensorMapWords {
  uint64_t address;
  /// Behind the buffer: ":f2:SIZES=...".
  std::string text;
  /// Its tensor and its box.
  mlir::blockscale::TensorMap map;
};

/// Reads 128 bytes; nothing if they are no tensor map.
std::optional<TensorMapWords> readTensorMap(const uint8_t *bytes);

/// cuTensorMapEncodeTiled, for those who ask for its address.
void *getTensorMapEncoder();

} // namespace capture

#endif // BLOCKSCALE_TEST_FAKECUDART_TENSORMAPS_H
