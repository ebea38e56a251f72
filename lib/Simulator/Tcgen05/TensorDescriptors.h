//===- TensorDescriptors.h - Descriptors of matrices ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instruction descriptor (32 bits) says what tcgen05.mma multiplies, the
// shared memory descriptor (64 bits) where a matrix is; wgmma has one of its
// own. They are decoded field by field, and printed with the names of their
// fields.
//
// Source: PTX ISA, sections 9.7.16.4.1 "Shared memory descriptor", 9.7.16.4.2
// "Instruction descriptor" and 9.7.15.5.1 "... matrix descriptor" of wgmma.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TENSORDESCRIPTORS_H
#define BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TENSORDESCRIPTORS_H

#include "Ptx/Types.h"
#include "blockscale/Runtime/Error.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::blockscale::sim {

//===----------------------------------------------------------------------===//
// Shared memory descriptor
//===----------------------------------------------------------------------===//

/// How 16-byte chunks of a tile are permuted. The numbers are those of the
/// field of tcgen05.
enum class SwizzleMode : uint8_t {
  None = 0,
  /// Of 128 bytes, in units of 32.
  Bytes128Atom32 = 1,
  Bytes128 = 2,
  Bytes64 = 4,
  Bytes32 = 6,
};

/// Bytes of a row of the pattern; 16 where there is none.
unsigned getRowBytes(SwizzleMode mode);

/// Whose shared memory descriptor it is.
enum class DescriptorUser : uint8_t { Tensor, Warpgroup };

struct MatrixDescriptor {
  DescriptorUser user;
  uint64_t bits;
  /// Bytes; the address and the absolute offset are those in the own block.
  uint32_t start, leadingOffset, strideOffset;
  /// In units of 128 bytes.
  unsigned baseOffset;
  bool isLeadingAbsolute;
  SwizzleMode swizzle;

  /// An error names the field that is not what it has to be.
  static Result<MatrixDescriptor>
  decode(uint64_t bits, DescriptorUser user = DescriptorUser::Tensor);
  /// All fields with their values.
  std::string print() const;

  /// Where the chunk is that is at an address before the permutation.
  uint32_t swizzled(uint32_t address) const;
};

//===----------------------------------------------------------------------===//
// Instruction descriptor
//===----------------------------------------------------------------------===//

enum class TensorKind : uint8_t {
  F16,
  TF32,
  I8,
  F8F6F4,
  MXF8F6F4,
  MXF4,
  MXF4NVF4,
};

/// Such as "kind::mxf4".
llvm::StringRef getName(TensorKind kind);
std::optional<TensorKind> lookupTensorKind(llvm::StringRef name);
inline bool isBlockScaled(TensorKind kind) {
  return kind >= TensorKind::MXF8F6F4;
}

struct InstructionDescriptor {
  uint32_t bits;
  TensorKind kind;
  Type a, b, d;
  /// Of the whole instruction: both blocks of a pair.
  unsigned m, n, k;
  bool isNegatedA, isNegatedB;
  /// Along M and N in shared memory.
  bool isTransposedA, isTransposedB;
  bool isSparse, isSaturating;
  /// Block-scaled kinds only.
  Type scale;
  unsigned scaleIdA, scaleIdB;

  /// `numBlocks` is that of .cta_group. An error names the field that is not
  /// what it has to be.
  static Result<InstructionDescriptor> decode(uint32_t bits, TensorKind kind,
                                              unsigned numBlocks);
  std::string print() const;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TENSORDESCRIPTORS_H
