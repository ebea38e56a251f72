//===- Inflate.h - Data of zlib ---------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_INFLATE_H
#define BLOCKSCALE_LIB_RUNTIME_INFLATE_H

#include "blockscale/Runtime/Error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace mlir::blockscale {

/// The CRC-32 of zlib, gzip and PNG.
uint32_t computeCrc32(std::string_view bytes);

/// Decompresses data of zlib (RFC 1950, RFC 1951), which has `size` bytes then,
/// no more and no less. Trusts nothing.
Result<std::string> inflate(std::string_view data, uint64_t size);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_INFLATE_H
