//===- GemmOperand.h - The operands of a GEMM -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A, SFA, B, SFB and the metadata E of a sparse A, as an enum that indexes
// parameters, stages, copies and plans. To add an operand, add an entry.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_GEMMOPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_GEMMOPERAND_H

#include "llvm/ADT/EnumeratedArray.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::blockscale {

/// A, its scale factors, B, its scale factors, and the metadata of A. Before
/// operands are swapped (swap-AB), x is A and y is B.
enum class GemmOperand : unsigned { A, SFA, B, SFB, E };

inline constexpr GemmOperand kGemmOperands[] = {
    GemmOperand::A, GemmOperand::SFA, GemmOperand::B, GemmOperand::SFB,
    GemmOperand::E};

/// The same with elements in front of all else, as stages hold them.
inline constexpr GemmOperand kElementsFirst[] = {
    GemmOperand::A, GemmOperand::B, GemmOperand::SFA, GemmOperand::SFB,
    GemmOperand::E};

/// An array with an entry for each operand.
template <typename T>
using PerOperand = llvm::EnumeratedArray<T, GemmOperand, GemmOperand::E>;

/// The properties of an operand: its side of the product, whether it is scale
/// factors or metadata, and its name in pictures.
struct GemmOperandInfo {
  bool isA, isScale, isMetadata;
  char letter;
  llvm::StringLiteral name;
};

constexpr GemmOperandInfo getInfo(GemmOperand operand) {
  constexpr GemmOperandInfo kInfos[] = {
      {true, false, false, 'A', "A"},
      {true, true, false, 'a', "scales of A"},
      {false, false, false, 'B', "B"},
      {false, true, false, 'b', "scales of B"},
      {true, false, true, 'e', "metadata of A"}};
  return kInfos[static_cast<unsigned>(operand)];
}

/// The elements, or the scale factors, of a side.
constexpr GemmOperand getElementsOf(bool isA) {
  return isA ? GemmOperand::A : GemmOperand::B;
}
constexpr GemmOperand getScalesOf(bool isA) {
  return isA ? GemmOperand::SFA : GemmOperand::SFB;
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_GEMMOPERAND_H
