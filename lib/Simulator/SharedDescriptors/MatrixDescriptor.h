//===- MatrixDescriptor.h - Descriptors of shared memory --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shared memory descriptor (64 bits) of tcgen05 or wgmma says where a
// matrix is. It is decoded field by field, and printed with the names of its
// fields.
//
// Sources: PTX ISA, sections 9.7.16.4.1 "Shared memory descriptor" (tcgen05)
// and 9.7.15.5.1 (wgmma).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_MATRIXDESCRIPTOR_H
#define BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_MATRIXDESCRIPTOR_H

#include "blockscale/Runtime/Error.h"

#include <string>

namespace mlir::blockscale::sim {

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

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_MATRIXDESCRIPTOR_H
