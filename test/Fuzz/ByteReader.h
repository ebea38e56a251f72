//===- ByteReader.h - Choices from a fuzzer's bytes -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FUZZ_BYTEREADER_H
#define BLOCKSCALE_TEST_FUZZ_BYTEREADER_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace mlir::blockscale {

/// Takes choices from bytes, one byte per choice, so that a change of a byte
/// changes one choice. After the last byte every choice is the first one.
class ByteReader {
public:
  ByteReader(const uint8_t *bytes, size_t size) : pos(bytes), end(pos + size) {}

  bool isAtEnd() const { return pos == end; }

  /// A number below `bound`, which is at most 256.
  unsigned below(unsigned bound) { return isAtEnd() ? 0 : *pos++ % bound; }

  /// True for one in `count` values of a byte.
  bool oneIn(unsigned count) { return below(count) == count - 1; }

  template <typename T, size_t N>
  const T &pick(const T (&list)[N]) {
    static_assert(N <= 256);
    return list[below(N)];
  }

private:
  const uint8_t *pos;
  const uint8_t *end;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_TEST_FUZZ_BYTEREADER_H
