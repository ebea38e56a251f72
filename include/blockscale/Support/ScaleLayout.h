//===- ScaleLayout.h - The 32x4x4 scale layout ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts of scales. A layout is data, a list of terms, with one interpreter;
// the same terms become affine maps in the lowerings.
//
// Source: PTX ISA, "tcgen05.mma scale factor layout"; the page docs/
// ScaleLayout.md shows it as a picture.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_SCALELAYOUT_H
#define BLOCKSCALE_SUPPORT_SCALELAYOUT_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace mlir::blockscale {

/// One run of bits of a coordinate, and their position in a result:
/// `result ^= ((coordinate[dim] / divisor) % modulus) * stride`. With a modulus
/// of 0, the quotient is not reduced. Divisors, moduli and strides are powers
/// of two, so that a layout is linear over the bits of its coordinates. For
/// terms of one result without a common bit, `^=` is an addition.
struct LayoutTerm {
  unsigned result;
  unsigned dim;
  int64_t divisor;
  int64_t modulus;
  int64_t stride;
};

/// The extents of a 32x4x4 atom: 128 rows by 4 blocks along K, stored as
/// 32 x 16 bytes.
inline constexpr int64_t kScaleAtomRows = 128;
inline constexpr int64_t kScaleAtomBlocks = 4;
inline constexpr std::array<int64_t, 2> kScaleAtomExtents = {kScaleAtomRows,
                                                             kScaleAtomBlocks};
inline constexpr int64_t kScaleAtomOuter = 32;
inline constexpr int64_t kScaleAtomInner = 16;
inline constexpr int64_t kScaleAtomBytes = kScaleAtomOuter * kScaleAtomInner;

/// (row, block) -> (row atom, block atom, outer, inner). Row `r` of four groups
/// of 32 rows is at outer index `r % 32` of the atom, in which the four groups
/// are side by side, with four bytes (blocks along K) each. It is a bijection
/// between [0, 128 R) x [0, 4 C) and [0, R) x [0, C) x [0, 32) x [0, 16).
inline constexpr std::array<LayoutTerm, 5> kSwizzleTerms = {{
    {0, 0, 128, 0, 1},
    {1, 1, 4, 0, 1},
    {2, 0, 1, 32, 1},
    {3, 0, 32, 4, 4},
    {3, 1, 1, 4, 1},
}};

/// The inverse: (row atom, block atom, outer, inner) -> (row, block).
inline constexpr std::array<LayoutTerm, 5> kUnswizzleTerms = {{
    {0, 0, 1, 0, 128},
    {0, 2, 1, 0, 1},
    {0, 3, 4, 0, 32},
    {1, 1, 1, 0, 4},
    {1, 3, 1, 4, 1},
}};

/// The interpreter: evaluates `terms` at `coordinates`.
template <size_t NumResults, size_t NumDims, size_t NumTerms>
constexpr std::array<int64_t, NumResults>
applyLayout(const std::array<LayoutTerm, NumTerms> &terms,
            const std::array<int64_t, NumDims> &coordinates) {
  std::array<int64_t, NumResults> result = {};
  for (const LayoutTerm &term : terms) {
    int64_t value = coordinates[term.dim] / term.divisor;
    if (term.modulus != 0)
      value %= term.modulus;
    result[term.result] ^= value * term.stride;
  }
  return result;
}

/// The byte offset of (row, block) in a buffer of swizzled scales that has
/// `numBlocks` blocks along K: atoms row-major, blocks fastest.
constexpr int64_t getSwizzledScaleOffset(int64_t row, int64_t block,
                                         int64_t numBlocks) {
  std::array<int64_t, 4> c =
      applyLayout<4>(kSwizzleTerms, std::array<int64_t, 2>{row, block});
  int64_t atomsPerRow = (numBlocks + kScaleAtomBlocks - 1) / kScaleAtomBlocks;
  return (c[0] * atomsPerRow + c[1]) * kScaleAtomBytes +
         c[2] * kScaleAtomInner + c[3];
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_SCALELAYOUT_H
