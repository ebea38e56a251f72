//===- GuardedBuffer.h - Memory with zones around it ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_GUARDEDBUFFER_H
#define BLOCKSCALE_LIB_RUNTIME_GUARDEDBUFFER_H

#include "blockscale/Runtime/CudaDriver.h"

#include <vector>

namespace mlir::blockscale {

/// A buffer on a card, aligned to 256 bytes. With guards, there are zones of
/// `guardBytes` before and after it, which kernels must not write. The zones
/// are NaN as f32, and partly as scales or fp8.
class GuardedBuffer {
public:
  static constexpr uint64_t guardBytes = 4096;

  static Result<GuardedBuffer> make(const CudaDevice &device, uint64_t size,
                                    bool hasGuards);

  uint64_t getAddress() const;
  /// Exactly the size of the buffer, without its zones.
  Error copyFrom(const void *host);
  Error copyTo(void *host) const;

  /// The first changed byte of a zone, counted from the start of the buffer:
  /// negative before it. Errors are those of the card.
  Result<std::optional<int64_t>> findWrite() const;
  uint64_t getSize() const { return size; }

private:
  GuardedBuffer(CudaBuffer buffer, uint64_t size, uint64_t guard)
      : buffer(std::move(buffer)), size(size), guard(guard) {}

  /// Zones and contents.
  Result<std::vector<uint8_t>> read() const;

  CudaBuffer buffer;
  uint64_t size;
  /// The size of each of the two zones; 0 without guards.
  uint64_t guard;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_GUARDEDBUFFER_H
