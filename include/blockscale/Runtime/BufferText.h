//===- BufferText.h - Positions in buffers ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_BUFFERTEXT_H
#define BLOCKSCALE_RUNTIME_BUFFERTEXT_H

#include "blockscale/Runtime/Error.h"

#include <cstdint>

namespace mlir::blockscale {

/// A position in the buffer of an argument: its number, and an offset in bytes.
struct BufferText {
  uint32_t argument = 0;
  uint64_t offset = 0;
};

/// Parses `N[+BYTES]`.
Result<BufferText> parseBufferText(std::string_view text);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_BUFFERTEXT_H
