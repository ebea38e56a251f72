//===- WeightStationaryTesting.h - Kernels with tcgen05.mma.ws --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of four warps that multiplies small integers, so that every sum is
// exact.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_SIMULATOR_TCGEN05_WEIGHTSTATIONARYTESTING_H
#define BLOCKSCALE_TEST_UNIT_SIMULATOR_TCGEN05_WEIGHTSTATIONARYTESTING_H

#include "ThreadTesting.h"

namespace mlir::blockscale::sim::kerneltest {

/// A type of A and B: its value in an instruction descriptor, and the bits of
/// -2 to 2.
struct ElementRow {
  const char *kind;
  unsigned code, bytes;
  uint32_t bits[5];
};

/// A type of D: its value in an instruction descriptor.
enum class Sum : uint8_t { F16 = 0, F32 = 1, S32 = 2 };

struct Product {
  unsigned m, n;
  const ElementRow *a, *b;
  Sum sum = Sum::F32;
  bool isTensorA = false, isTransposedB = false, addsD = true;
  /// The field max_shift of the instruction descriptor.
  unsigned maxShift = 0;
  uint64_t zeroColumns = 0;
  /// The text of the zero-column mask operand.
  std::string mask = ", %d12";
  /// Of A and B in shared memory, blocks of 2048 bytes that are stored.
  unsigned numBlocks = 7;

  unsigned getNumParts() const { return 128 / m; }
  unsigned getColumns() const { return n / getNumParts(); }
  /// Every row of A and B has 32 bytes.
  unsigned getK() const { return 32 / a->bytes; }
  uint32_t getDescriptor() const {
    return static_cast<unsigned>(sum) << 4 | a->code << 7 | b->code << 10 |
           isTransposedB << 16 | n >> 3 << 17 | m >> 4 << 24 | maxShift << 30;
  }
};
inline constexpr ElementRow kF16 = {
    "f16", 0, 2, {0xC000, 0xBC00, 0x0000, 0x3C00, 0x4000}};
inline constexpr ElementRow kBF16 = {
    "f16", 1, 2, {0xC000, 0xBF80, 0x0000, 0x3F80, 0x4000}};
inline constexpr ElementRow kTF32 = {
    "tf32", 2, 4, {0xC0000000, 0xBF800000, 0x00000000, 0x3F800000, 0x40000000}};
inline constexpr ElementRow kE4M3 = {
    "f8f6f4", 0, 1, {0xC0, 0xB8, 0x00, 0x38, 0x40}};
inline constexpr ElementRow kE5M2 = {
    "f8f6f4", 1, 1, {0xC0, 0xBC, 0x00, 0x3C, 0x40}};
inline constexpr ElementRow kS8 = {"i8", 1, 1, {0xFE, 0xFF, 0x00, 0x01, 0x02}};

/// Threads, and words of a lane in the last two buffers.
inline constexpr unsigned kTensorThreads = 128, kMostColumns = 256;

/// Elements of A, one for each part of the columns where it is in tensor
/// memory, of B, and what D is before.
int getA(const Product &product, unsigned part, unsigned m, unsigned k);
int getB(unsigned n, unsigned k);
int getD(unsigned lane, unsigned column);

/// The bits of an integer in a cell of D.
uint32_t encodeSum(Sum sum, int value);

/// The instruction, issued by the first thread; `collector` is the modifier
/// ".collector::...", or empty.
std::string multiply(const Product &product, const std::string &collector = "");

/// Line 1: A and B are in shared memory, in S, A in columns 256 to 263 and D
/// from column 0 on. %r10 is the address of the columns and %r12 that of those
/// of the warp, %d10 and %d11 are descriptors of A and B, %d12 is one of zero
/// columns, %r14 is that of the instruction, and %p2 its enable-input-d. `body`
/// is on line 2.
KernelRun makeProductRun(const Product &product, const std::string &body);

/// The same with a wait for what `body` issues. D goes to buffer 3: words, or,
/// of f16, 16 bits, of which a lane has as many bytes.
KernelRun makeWholeRun(const Product &product, const std::string &body);

} // namespace mlir::blockscale::sim::kerneltest

#endif // BLOCKSCALE_TEST_UNIT_SIMULATOR_TCGEN05_WEIGHTSTATIONARYTESTING_H
