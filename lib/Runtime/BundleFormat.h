//===- BundleFormat.h - How a bundle starts ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_BUNDLEFORMAT_H
#define BLOCKSCALE_LIB_RUNTIME_BUNDLEFORMAT_H

#include <cstdint>
#include <string_view>
#include <zlib.h>

namespace mlir::blockscale {

/// Starts with a byte that is not text, and has a line end: a transfer as text,
/// which changes line ends, damages it and is noticed.
inline constexpr std::string_view bundleMagic = "\x89"
                                                "BSCALE\n";
inline constexpr uint64_t bundleVersion = 1;
/// The magic, 8 bytes for the size of the JSON, 4 for its CRC-32, and zeros.
inline constexpr uint64_t bundlePreludeSize = 24;
/// Where images start.
inline constexpr uint64_t bundleAlignment = 16;
/// The limit of sizes in bytes, which doubles can represent exactly.
inline constexpr int64_t maxBundleNumber = int64_t(1) << 53;

inline constexpr std::string_view bundleCompressions[] = {"none", "zlib"};
inline constexpr std::string_view bundleKinds[] = {"ptx", "cubin"};

inline uint64_t computeCrc32(std::string_view bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()),
                 bytes.size());
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_BUNDLEFORMAT_H
