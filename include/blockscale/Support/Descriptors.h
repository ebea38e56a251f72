//===- Descriptors.h - Descriptors of tcgen05 -------------------*- C++ -*-===//
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instruction descriptor (32 bits) describes what tcgen05.mma multiplies,
// and the shared memory descriptor (64 bits) describes where a matrix is. Each
// form is a list of named fields; values that do not fit are refused.
//
// Sources: PTX ISA 9.0, "tcgen05": "Instruction descriptor" (tables 43 and 44),
// "Shared memory descriptor" (table 40), "Canonical layouts".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_DESCRIPTORS_H
#define BLOCKSCALE_SUPPORT_DESCRIPTORS_H

#include "blockscale/Support/SharedLayout.h"

#include <cstdint>
#include <string>

namespace mlir::blockscale {

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

enum class DescriptorForm : unsigned char {
  /// Instructions of kind mxf8f6f4.
  Bytes,
  /// Instructions of kinds mxf4 and mxf4nvf4.
  Nibbles,
  /// Instructions of kind f16: 16-bit elements without scales.
  Halves,
  /// Matrices in shared memory.
  Matrix,
};

/// `bits` bits from bit `first` on. They hold the value without its lowest
/// `shift` bits, which must be 0.
struct DescriptorField {
  std::string_view name;
  unsigned first, bits, shift;
};

const std::vector<DescriptorField> &getDescriptorFields(DescriptorForm form);

/// A value of the field with a name. Fields that are not given are 0.
struct FieldValue {
  std::string_view name;
  uint64_t value;
};

/// Encodes a descriptor; nullopt if a value does not fit in its field. The
/// value of a field that the form lacks must be 0.
std::optional<uint64_t> encodeFields(DescriptorForm form,
                                     const std::vector<FieldValue> &values);

/// The value of the field with a name; nullopt if the form lacks it.
std::optional<uint64_t> decodeField(DescriptorForm form, uint64_t word,
                                    std::string_view name);

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// The form of instructions of `kind`; nullopt for kinds without descriptors.
std::optional<DescriptorForm> getDescriptorForm(Kind kind);

/// The content of an instruction descriptor. M is that of all CTAs of a group.
struct InstructionFields {
  Kind kind;
  Format a, b, scale;
  unsigned m, n, k;
  bool isTransposedA = false, isTransposedB = false;
  bool isNegatedA = false, isNegatedB = false;
  bool isSparse = false;
  unsigned aScaleId = 0, bScaleId = 0;
};

/// The fields of a row of the instruction table, with this N.
InstructionFields getInstructionFields(const Instruction &instruction,
                                       unsigned m, unsigned n);

/// Encodes the descriptor; nullopt if there is none: for a kind without
/// descriptors, a format that the kind does not support, or values that do not
/// fit.
std::optional<uint32_t>
encodeInstructionDescriptor(const InstructionFields &fields);

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// The swizzle rows (rows of a K-major operand, else steps along K) that form
/// one swizzle pattern of a matrix.
inline constexpr int64_t kPatternRows = 8;

/// A matrix in shared memory as columns, one after the other, of `rows`
/// swizzle rows of `rowBytes`. The matrix continues in the next column along
/// the contiguous dimension: K, or M or N if swizzle rows are steps along K.
struct MatrixShape {
  Major major;
  bool isSwizzled;
  int64_t columns, rows, rowBytes;
};

/// A size of swizzle rows that descriptors support, and its pattern. Rows of 16
/// bytes are not swizzled, all others are.
struct SwizzlePattern {
  unsigned rowBytes;
  /// The field `swizzle`.
  unsigned code;
};
const std::vector<SwizzlePattern> &getSwizzlePatterns();

/// The pattern, or null for swizzle rows that descriptors do not support.
const SwizzlePattern *lookupSwizzlePattern(bool isSwizzled, int64_t rowBytes);

/// The alignment of the matrix: the size of a pattern.
int64_t getPatternBytes(int64_t rowBytes);

/// The distances in a descriptor, in bytes; 0 if they do not matter.
struct MatrixStrides {
  int64_t leading, stride;
};
MatrixStrides getMatrixStrides(const MatrixShape &shape);

/// The instructions that use the descriptor: for wgmma it has no version.
enum class DescriptorUser : unsigned char { Tcgen05, Wgmma };

/// The descriptor of the matrix at address 0; nullopt if there is none. The
/// address is added to the lower half, see kAddressShift.
std::optional<uint64_t>
encodeMatrixDescriptor(const MatrixShape &shape,
                       DescriptorUser user = DescriptorUser::Tcgen05);

/// The descriptor with which `tcgen05.cp` copies an atom of scales (ScaleLayout
/// .h) from address 0.
std::optional<uint64_t> encodeScaleAtomDescriptor();

/// Addresses are shifted right by this many bits. They are below 2^18, so that
/// sums of addresses and offsets fit in the field.
inline constexpr unsigned kAddressShift = 4;

/// The bits of an address that the field holds. The bits above them are the
/// rank of the block in its cluster.
inline constexpr unsigned kAddressMask = (1u << 18) - 1;

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_DESCRIPTORS_H
