//===- MatrixDescriptor.h - Descriptors of shared memory --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shared memory descriptor (64 bits) of tcgen05 or wgmma gives the layout
// of a matrix. It is decoded field by field, and printed with the names of its
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

/// How 16-byte chunks of a tile are permuted. The enumerators are the values of
/// the field of tcgen05.
enum class SwizzleMode : uint8_t {
  None = 0,
  /// 128-byte swizzle in units of 32 bytes.
  Bytes128Atom32 = 1,
  Bytes128 = 2,
  Bytes64 = 4,
  Bytes32 = 6,
};

/// Bytes of a row of the swizzle pattern; 16 without a swizzle.
unsigned getRowBytes(SwizzleMode mode);

/// The instruction family of a shared memory descriptor.
enum class DescriptorUser : uint8_t { Tensor, Warpgroup };

struct MatrixDescriptor {
  DescriptorUser user;
  uint64_t bits;
  /// In bytes; the address and the absolute offset are in the shared memory of
  /// the own block.
  uint32_t start, leadingOffset, strideOffset;
  /// In units of 128 bytes.
  unsigned baseOffset;
  bool isLeadingAbsolute;
  SwizzleMode swizzle;

  /// An error names the illegal field.
  static Result<MatrixDescriptor>
  decode(uint64_t bits, DescriptorUser user = DescriptorUser::Tensor);
  /// All fields with their values.
  std::string print() const;

  /// The address of a chunk after the swizzle, from the address before it.
  uint32_t swizzled(uint32_t address) const;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_MATRIXDESCRIPTOR_H
