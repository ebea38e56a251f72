//===- GuardedBuffer.cpp - Memory with zones around it --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel may write to any memory of its process. Guard zones around buffers
// show if it wrote outside of them.
//
//===----------------------------------------------------------------------===//

#include "GuardedBuffer.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;

/// Byte number `i` of a zone: f32 values that are NaN, with different bytes.
static uint8_t getGuardByte(uint64_t i) {
  constexpr uint8_t pattern[] = {0xA5, 0x5A, 0xFF, 0xFF};
  return pattern[i % std::size(pattern)];
}

Result<GuardedBuffer> GuardedBuffer::make(const CudaDevice &device,
                                          uint64_t size, bool hasGuards) {
  uint64_t guard = hasGuards ? guardBytes : 0;
  Result<CudaBuffer> memory = device.allocate(size + 2 * guard);
  if (!memory)
    return memory.error();
  GuardedBuffer buffer(std::move(*memory), size, guard);
  if (hasGuards)
    if (Error error = buffer.copyFrom(std::vector<uint8_t>(size).data()))
      return error;
  return buffer;
}

uint64_t GuardedBuffer::getAddress() const {
  return buffer.getAddress() + guard;
}

Error GuardedBuffer::copyFrom(const void *host) {
  if (guard == 0)
    return buffer.copyFrom(host);
  std::vector<uint8_t> bytes(size + 2 * guard);
  for (uint64_t i = 0; i != guard; ++i)
    bytes[i] = bytes[guard + size + i] = getGuardByte(i);
  std::copy_n(static_cast<const uint8_t *>(host), size, bytes.data() + guard);
  return buffer.copyFrom(bytes.data());
}

Result<std::vector<uint8_t>> GuardedBuffer::read() const {
  std::vector<uint8_t> bytes(size + 2 * guard);
  if (Error error = buffer.copyTo(bytes.data()))
    return error;
  return bytes;
}

Error GuardedBuffer::copyTo(void *host) const {
  if (guard == 0)
    return buffer.copyTo(host);
  Result<std::vector<uint8_t>> bytes = read();
  if (!bytes)
    return bytes.error();
  std::copy_n(bytes->data() + guard, size, static_cast<uint8_t *>(host));
  return Error::success();
}

Result<std::optional<int64_t>> GuardedBuffer::findWrite() const {
  std::optional<int64_t> none;
  if (guard == 0)
    return none;
  Result<std::vector<uint8_t>> bytes = read();
  if (!bytes)
    return bytes.error();
  // Report the byte next to the buffer first: overruns start there.
  for (uint64_t i = 0; i != guard; ++i)
    if ((*bytes)[guard + size + i] != getGuardByte(i))
      return std::optional<int64_t>(size + i);
  for (uint64_t i = guard; i-- != 0;)
    if ((*bytes)[i] != getGuardByte(i))
      return std::optional<int64_t>(static_cast<int64_t>(i) -
                                    static_cast<int64_t>(guard));
  return none;
}
