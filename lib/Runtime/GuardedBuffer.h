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
/// `guardBytes` in front of it and behind it, in which nothing may be written.
/// What is read there is NaN as f32, and some of it as a scale or fp8.
class GuardedBuffer {
public:
  static constexpr uint64_t guardBytes = 4096;

  static Result<GuardedBuffer> make(const CudaDevice &device, uint64_t size,
                                    bool hasGuards);

  uint64_t getAddress() const;
  /// Exactly the size of the buffer, without its zones.
  Error copyFrom(const void *host);
  Error copyTo(void *host) const;

  /// The first byte of a zone that is not as it was made, counted from the
  /// buffer's start: negative in front of it. An error is one of the card.
  Result<std::optional<int64_t>> findWrite() const;
  uint64_t getSize() const { return size; }

private:
  GuardedBuffer(CudaBuffer buffer, uint64_t size, uint64_t guard)
      : buffer(std::move(buffer)), size(size), guard(guard) {}

  /// Zones and contents.
  Result<std::vector<uint8_t>> read() const;

  CudaBuffer buffer;
  uint64_t size;
  /// Of each of the two zones; 0 without guards.
  uint64_t guard;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_GUARDEDBUFFER_H
