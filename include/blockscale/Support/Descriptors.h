//===- Descriptors.h - Words that tcgen05 instructions take ----- -*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instruction descriptor (32 bits) says what tcgen05.mma multiplies, the
// shared memory descriptor (64 bits) where a matrix is. Each form is a list of
// named fields; values that do not fit are refused.
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

/// The word; nullopt if a value does not fit in its field. Of a field that the
/// form lacks, the value must be 0.
std::optional<uint64_t> encodeFields(DescriptorForm form,
                                     const std::vector<FieldValue> &values);

/// The value of the field with a name; nullopt if the form lacks it.
std::optional<uint64_t> decodeField(DescriptorForm form, uint64_t word,
                                    std::string_view name);

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// The form of instructions of `kind`; nullopt for kinds without.
std::optional<DescriptorForm> getDescriptorForm(Kind kind);

/// What an instruction descriptor says. M is that of all blocks of a group.
struct InstructionFields {
  Kind kind;
  Format a, b, scale;
  unsigned m, n, k;
  bool isTransposedA = false, isTransposedB = false;
  bool isNegatedA = false, isNegatedB = false;
  unsigned aScaleId = 0, bScaleId = 0;
};

/// The fields of a row of the instruction table, with this N.
InstructionFields getInstructionFields(const Instruction &instruction,
                                       unsigned m, unsigned n);

/// The word; nullopt for what no word says: a kind without descriptors, a
/// format that the kind does not take, and numbers that do not fit.
std::optional<uint32_t>
encodeInstructionDescriptor(const InstructionFields &fields);

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Lines (of K-major operands rows, else steps along K) that stand together in
/// the pattern of a matrix.
inline constexpr int64_t kPatternLines = 8;

/// A matrix in shared memory as columns, one after the other, of `lines` lines
/// of `lineBytes`. Along K, or where K is that of the lines, along M or N, the
/// matrix goes on in the next column.
struct MatrixShape {
  Major major;
  bool isSwizzled;
  int64_t columns, lines, lineBytes;
};

/// A line that can be described, and its pattern. Lines of 16 bytes are not
/// swizzled, all others are.
struct LinePattern {
  unsigned lineBytes;
  /// The field `swizzle`.
  unsigned code;
};
const std::vector<LinePattern> &getLinePatterns();

/// The pattern, or null for lines that cannot be described.
const LinePattern *lookupLinePattern(bool isSwizzled, int64_t lineBytes);

/// What the matrix is aligned to: whole patterns.
int64_t getPatternBytes(int64_t lineBytes);

/// The distances that a descriptor has, in bytes; 0 where they mean nothing.
struct MatrixStrides {
  int64_t leading, stride;
};
MatrixStrides getMatrixStrides(const MatrixShape &shape);

/// Whose instructions take the word: that of wgmma has no version.
enum class DescriptorUser : unsigned char { Tcgen05, Wgmma };

/// The descriptor of the matrix at address 0; nullopt if there is none. The
/// address is added to the lower half, see kAddressShift.
std::optional<uint64_t>
encodeMatrixDescriptor(const MatrixShape &shape,
                       DescriptorUser user = DescriptorUser::Tcgen05);

/// The descriptor with which `tcgen05.cp` copies an atom of scales (ScaleLayout
/// .h) from address 0.
std::optional<uint64_t> encodeScaleAtomDescriptor();

/// Addresses lose so many bits. They are below 2^18, so that sums of addresses
/// and offsets fit in the field.
inline constexpr unsigned kAddressShift = 4;

/// The bits of an address that go into the field. A block of a cluster has its
/// rank above them.
inline constexpr unsigned kAddressMask = (1u << 18) - 1;

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_DESCRIPTORS_H
