//===- Descriptors.cpp - Descriptors of tcgen05 ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Descriptors.h"

#include "blockscale/Support/ScaleLayout.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

const std::vector<DescriptorField> &
blockscale::getDescriptorFields(DescriptorForm form) {
  // clang-format off
  static const std::vector<DescriptorField> bytes = {
      {"sparse",       2, 1, 0},
      {"b_scale_id",   4, 2, 0},
      {"a_type",       7, 3, 0},
      {"b_type",      10, 3, 0},
      {"negate_a",    13, 1, 0},
      {"negate_b",    14, 1, 0},
      {"transpose_a", 15, 1, 0},
      {"transpose_b", 16, 1, 0},
      {"n",           17, 6, 3},
      {"scale_type",  23, 1, 0},
      {"m",           27, 2, 7},
      {"a_scale_id",  29, 2, 0},
  };
  static const std::vector<DescriptorField> nibbles = {
      {"sparse",       2, 1, 0},
      {"b_scale_id",   4, 2, 0},
      {"a_type",       7, 3, 0},
      {"b_type",      10, 2, 0},
      {"negate_a",    13, 1, 0},
      {"negate_b",    14, 1, 0},
      {"n",           17, 6, 3},
      {"scale_type",  23, 1, 0},
      {"m",           27, 2, 7},
      {"a_scale_id",  29, 2, 0},
      {"k96",         31, 1, 0},
  };
  static const std::vector<DescriptorField> halves = {
      {"sparse",       2, 1, 0},
      {"d_type",       4, 2, 0},
      {"a_type",       7, 3, 0},
      {"b_type",      10, 3, 0},
      {"negate_a",    13, 1, 0},
      {"negate_b",    14, 1, 0},
      {"transpose_a", 15, 1, 0},
      {"transpose_b", 16, 1, 0},
      {"n",           17, 6, 3},
      {"m",           24, 5, 4},
  };
  static const std::vector<DescriptorField> matrix = {
      {"start",             0, 14, kAddressShift},
      {"leading",          16, 14, kAddressShift},
      {"stride",           32, 14, kAddressShift},
      {"version",          46,  3, 0},
      {"base_offset",      49,  3, 0},
      {"leading_absolute", 52,  1, 0},
      {"swizzle",          61,  3, 0},
  };
  // clang-format on
  static const std::vector<DescriptorField> *const forms[] = {&bytes, &nibbles,
                                                              &halves, &matrix};
  return *forms[static_cast<unsigned>(form)];
}

static const DescriptorField *findField(DescriptorForm form,
                                        std::string_view name) {
  for (const DescriptorField &field : getDescriptorFields(form))
    if (field.name == name)
      return &field;
  return nullptr;
}

std::optional<uint64_t>
blockscale::encodeFields(DescriptorForm form,
                         const std::vector<FieldValue> &values) {
  uint64_t word = 0;
  for (const FieldValue &value : values) {
    if (value.value == 0)
      continue;
    const DescriptorField *field = findField(form, value.name);
    if (!field)
      return std::nullopt;
    uint64_t stored = value.value >> field->shift;
    if (stored << field->shift != value.value || stored >> field->bits != 0)
      return std::nullopt;
    word |= stored << field->first;
  }
  return word;
}

std::optional<uint64_t> blockscale::decodeField(DescriptorForm form,
                                                uint64_t word,
                                                std::string_view name) {
  const DescriptorField *field = findField(form, name);
  if (!field)
    return std::nullopt;
  uint64_t mask = (uint64_t(1) << field->bits) - 1;
  return (word >> field->first & mask) << field->shift;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {
struct KindForm {
  Kind kind;
  DescriptorForm form;
  /// The code of f32 sums. Forms of block-scaled kinds have no field for it.
  uint64_t sumCode;
};

/// The value of a field for a format.
struct ElementCode {
  DescriptorForm form;
  Format format;
  uint64_t code;
};
struct ScaleCode {
  Kind kind;
  Format format;
  uint64_t code;
};
} // namespace

static constexpr KindForm kKindForms[] = {
    {Kind::MXF8F6F4, DescriptorForm::Bytes, 0},
    {Kind::MXF4, DescriptorForm::Nibbles, 0},
    {Kind::MXF4NVF4, DescriptorForm::Nibbles, 0},
    {Kind::Unscaled, DescriptorForm::Halves, 1},
};

static constexpr ElementCode kElementCodes[] = {
    {DescriptorForm::Bytes, Format::E4M3, 0},
    {DescriptorForm::Bytes, Format::E5M2, 1},
    {DescriptorForm::Bytes, Format::E2M3, 3},
    {DescriptorForm::Bytes, Format::E3M2, 4},
    {DescriptorForm::Bytes, Format::E2M1, 5},
    {DescriptorForm::Nibbles, Format::E2M1, 1},
    {DescriptorForm::Halves, Format::F16, 0},
    {DescriptorForm::Halves, Format::BF16, 1},
};

static constexpr ScaleCode kScaleCodes[] = {
    {Kind::MXF8F6F4, Format::UE8M0, 1}, {Kind::MXF4, Format::UE8M0, 1},
    {Kind::MXF4NVF4, Format::UE8M0, 1}, {Kind::MXF4NVF4, Format::UE4M3, 0},
    {Kind::Unscaled, Format::None, 0},
};

static const KindForm *lookupKindForm(Kind kind) {
  for (const KindForm &row : kKindForms)
    if (row.kind == kind)
      return &row;
  return nullptr;
}

std::optional<DescriptorForm> blockscale::getDescriptorForm(Kind kind) {
  const KindForm *row = lookupKindForm(kind);
  return row ? std::optional(row->form) : std::nullopt;
}

static std::optional<uint64_t> getElementCode(DescriptorForm form,
                                              Format format) {
  for (const ElementCode &row : kElementCodes)
    if (row.form == form && row.format == format)
      return row.code;
  return std::nullopt;
}

static std::optional<uint64_t> getScaleCode(Kind kind, Format format) {
  for (const ScaleCode &row : kScaleCodes)
    if (row.kind == kind && row.format == format)
      return row.code;
  return std::nullopt;
}

static std::optional<uint64_t> getKCode(Kind kind, unsigned k) {
  for (const Instruction &row : getInstructions())
    if (row.kind == kind && row.k == k)
      return row.wide.k96;
  return std::nullopt;
}

InstructionFields
blockscale::getInstructionFields(const Instruction &instruction, unsigned m,
                                 unsigned n) {
  InstructionFields fields = {
      instruction.kind, instruction.a, instruction.b, instruction.scale, m, n,
      instruction.k};
  fields.isSparse = instruction.isSparse();
  return fields;
}

std::optional<uint32_t>
blockscale::encodeInstructionDescriptor(const InstructionFields &fields) {
  const KindForm *row = lookupKindForm(fields.kind);
  if (!row || fields.m == 0 || fields.n == 0)
    return std::nullopt;
  std::optional<uint64_t> a = getElementCode(row->form, fields.a),
                          b = getElementCode(row->form, fields.b),
                          scale = getScaleCode(fields.kind, fields.scale),
                          k = getKCode(fields.kind, fields.k);
  if (!a || !b || !scale || !k)
    return std::nullopt;
  std::optional<uint64_t> word =
      encodeFields(row->form, {{"sparse", fields.isSparse},
                               {"b_scale_id", fields.bScaleId},
                               {"d_type", row->sumCode},
                               {"a_type", *a},
                               {"b_type", *b},
                               {"negate_a", fields.isNegatedA},
                               {"negate_b", fields.isNegatedB},
                               {"transpose_a", fields.isTransposedA},
                               {"transpose_b", fields.isTransposedB},
                               {"n", fields.n},
                               {"scale_type", *scale},
                               {"m", fields.m},
                               {"a_scale_id", fields.aScaleId},
                               {"k96", *k}});
  if (!word)
    return std::nullopt;
  return static_cast<uint32_t>(*word);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

const std::vector<SwizzlePattern> &blockscale::getSwizzlePatterns() {
  static const std::vector<SwizzlePattern> patterns = {
      {16, 0}, {32, 6}, {64, 4}, {128, 2}};
  return patterns;
}

const SwizzlePattern *blockscale::lookupSwizzlePattern(bool isSwizzled,
                                                       int64_t rowBytes) {
  for (const SwizzlePattern &pattern : getSwizzlePatterns())
    if (pattern.rowBytes == rowBytes && (pattern.code != 0) == isSwizzled)
      return &pattern;
  return nullptr;
}

int64_t blockscale::getPatternBytes(int64_t rowBytes) {
  return kPatternRows * rowBytes;
}

namespace {
/// The distance in a field.
enum class Distance : unsigned char { None, Pattern, Column };
struct StrideRule {
  Major major;
  bool isSwizzled;
  Distance leading, stride;
};
} // namespace

// In a K-major matrix with a swizzle, one swizzle row has all of the
// instruction's K.
static constexpr StrideRule kStrideRules[] = {
    {Major::K, true, Distance::None, Distance::Pattern},
    {Major::K, false, Distance::Column, Distance::Pattern},
    {Major::MN, true, Distance::Column, Distance::Pattern},
    {Major::MN, false, Distance::Pattern, Distance::Column},
};

MatrixStrides blockscale::getMatrixStrides(const MatrixShape &shape) {
  int64_t distances[] = {0, getPatternBytes(shape.rowBytes),
                         shape.columns > 1 ? shape.rows * shape.rowBytes : 0};
  for (const StrideRule &rule : kStrideRules)
    if (rule.major == shape.major && rule.isSwizzled == shape.isSwizzled)
      return {distances[static_cast<unsigned>(rule.leading)],
              distances[static_cast<unsigned>(rule.stride)]};
  return {0, 0};
}

/// Table 40: "fixed constant value of 0b001". The descriptor of wgmma has no
/// such field.
static constexpr uint64_t kVersion = 1;

std::optional<uint64_t>
blockscale::encodeMatrixDescriptor(const MatrixShape &shape,
                                   DescriptorUser user) {
  const SwizzlePattern *pattern =
      lookupSwizzlePattern(shape.isSwizzled, shape.rowBytes);
  if (!pattern || shape.rows < 1 || shape.rows % kPatternRows != 0 ||
      shape.columns < 1)
    return std::nullopt;
  MatrixStrides strides = getMatrixStrides(shape);
  return encodeFields(
      DescriptorForm::Matrix,
      {{"leading", static_cast<uint64_t>(strides.leading)},
       {"stride", static_cast<uint64_t>(strides.stride)},
       {"version", user == DescriptorUser::Wgmma ? 0 : kVersion},
       {"swizzle", pattern->code}});
}

std::optional<uint64_t> blockscale::encodeScaleAtomDescriptor() {
  return encodeFields(
      DescriptorForm::Matrix,
      {{"stride", kPatternRows * kScaleAtomInner}, {"version", kVersion}});
}
