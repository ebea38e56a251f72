//===- KernelTesting.h - Kernels for tests of instructions ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_SIMULATOR_KERNELTESTING_H
#define BLOCKSCALE_TEST_UNIT_SIMULATOR_KERNELTESTING_H

#include "blockscale/Simulator/Simulator.h"

#include "gtest/gtest.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace mlir::blockscale::sim::kerneltest {

/// A kernel `k` and what it is started with.
struct KernelRun {
  /// The text between the braces of the kernel. The registers %r0 to %r63
  /// (.b32), %s0 to %s63 (.b16), %d0 to %d63 (.b64), %f0 to %f63 (.f32) and %p0
  /// to %p15 are declared, and the address of buffer i is in %buf<i>. The first
  /// line of the body is line 1 of messages.
  std::string body;
  /// The bytes of buffers, which come back in the result.
  std::vector<std::vector<uint8_t>> buffers;
  unsigned threads = 32, blocks = 1, dynamicShared = 0;
  /// Blocks of a cluster.
  unsigned cluster = 1;
  /// In front of the kernel, on one line: variables and functions; and between
  /// its parameters and its body.
  std::string declarations, directives;
  std::string target = "sm_120a";
  Options options;
};

struct KernelResult {
  /// Empty if the kernel went well.
  std::string error;
  std::vector<std::string> warnings;
  /// What the kernel printed.
  std::string output;
  std::string statistics, trace;
  std::vector<std::vector<uint8_t>> buffers;

  /// The elements of a buffer.
  template <typename T>
  std::vector<T> get(size_t buffer) const {
    std::vector<T> elements(buffers[buffer].size() / sizeof(T));
    std::memcpy(elements.data(), buffers[buffer].data(),
                elements.size() * sizeof(T));
    return elements;
  }
};

KernelResult runKernel(const KernelRun &run);

/// The bytes of elements.
template <typename T>
std::vector<uint8_t> toBytes(const std::vector<T> &elements) {
  std::vector<uint8_t> bytes(elements.size() * sizeof(T));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

/// `count` zeros of a type.
template <typename T>
std::vector<uint8_t> zeros(size_t count) {
  return std::vector<uint8_t>(count * sizeof(T));
}

/// A source of `evaluate`: its bits, and which of its bytes are undefined.
struct Source {
  unsigned bits;
  uint64_t value;
  uint8_t undefined = 0;
};
inline Source b16(uint64_t value) { return {16, value & 0xFFFF}; }
inline Source b32(uint64_t value) { return {32, value & 0xFFFFFFFF}; }
inline Source b64(uint64_t value) { return {64, value}; }
inline Source f32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return b32(bits);
}
inline Source f64(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return b64(bits);
}
inline Source undefinedBytes(Source source, uint8_t bytes) {
  source.undefined = bytes;
  return source;
}

/// The result of one instruction: the bits of %d (16, 32 or 64, or 1 for a
/// predicate) after `text`, in which %a, %b, %c and %e are the sources in
/// order. `undefined` has the undefined bytes.
struct Value {
  uint64_t bits = 0;
  uint8_t undefined = 0;
  /// The error of the load or the run; empty if it went well.
  std::string error;
};
Value evaluate(const std::string &text, unsigned resultBits,
               const std::vector<Source> &sources);

/// The message for a body that is refused before it runs, without the location;
/// "no error" if it is accepted.
std::string getLoadError(const std::string &body,
                         const std::string &target = "sm_120a");

} // namespace mlir::blockscale::sim::kerneltest

#endif // BLOCKSCALE_TEST_UNIT_SIMULATOR_KERNELTESTING_H
