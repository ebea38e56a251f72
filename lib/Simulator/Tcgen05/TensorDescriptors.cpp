//===- TensorDescriptors.cpp - Descriptors of matrices --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/TensorDescriptors.h"

#include "Memory/Storage.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
struct Field {
  llvm::StringRef name;
  unsigned first, bits;
};
} // namespace

static uint64_t get(uint64_t word, const Field &field) {
  return word >> field.first & llvm::maskTrailingOnes<uint64_t>(field.bits);
}

/// The field with a name; 0 where the form has none.
static uint64_t get(uint64_t word, llvm::ArrayRef<Field> fields,
                    llvm::StringRef name) {
  for (const Field &field : fields)
    if (field.name == name)
      return get(word, field);
  return 0;
}

static std::string printFields(uint64_t word, llvm::ArrayRef<Field> fields) {
  std::string text = printHex(word) + " {";
  for (const Field &field : fields) {
    if (&field != fields.begin())
      text += ", ";
    text += field.name.str() + " " + std::to_string(get(word, field));
  }
  return text + "}";
}

/// Bits that belong to no field.
static uint64_t getReserved(uint64_t word, llvm::ArrayRef<Field> fields) {
  for (const Field &field : fields)
    word &= ~(llvm::maskTrailingOnes<uint64_t>(field.bits) << field.first);
  return word;
}

//===----------------------------------------------------------------------===//
// Shared memory descriptor
//===----------------------------------------------------------------------===//

static constexpr Field kMatrixFields[] = {
    {"start", 0, 14},   {"leading_offset", 16, 14}, {"stride_offset", 32, 14},
    {"version", 46, 3}, {"base_offset", 49, 3},     {"leading_absolute", 52, 1},
    {"swizzle", 61, 3},
};
static constexpr Field kWarpgroupFields[] = {
    {"start", 0, 14},          {"leading_offset", 16, 14},
    {"stride_offset", 32, 14}, {"base_offset", 49, 3},
    {"swizzle", 62, 2},
};

namespace {
struct SwizzleCode {
  unsigned code;
  SwizzleMode mode;
};

struct MatrixFormat {
  DescriptorUser user;
  llvm::ArrayRef<Field> fields;
  /// 0 where there is no such field.
  unsigned version;
  llvm::ArrayRef<SwizzleCode> swizzles;
};

/// Bits [to, to + bits) of an address are combined with those at `from`.
struct SwizzleRow {
  SwizzleMode mode;
  unsigned rowBytes;
  unsigned to, from, bits;
};
} // namespace

static constexpr SwizzleRow kSwizzles[] = {
    {SwizzleMode::None, 16, 0, 0, 0},
    {SwizzleMode::Bytes128Atom32, 128, 5, 7, 2},
    {SwizzleMode::Bytes128, 128, 4, 7, 3},
    {SwizzleMode::Bytes64, 64, 4, 7, 2},
    {SwizzleMode::Bytes32, 32, 4, 7, 1},
};

static constexpr SwizzleCode kTensorSwizzles[] = {
    {0, SwizzleMode::None},     {1, SwizzleMode::Bytes128Atom32},
    {2, SwizzleMode::Bytes128}, {4, SwizzleMode::Bytes64},
    {6, SwizzleMode::Bytes32},
};
static constexpr SwizzleCode kWarpgroupSwizzles[] = {
    {0, SwizzleMode::None},
    {1, SwizzleMode::Bytes128},
    {2, SwizzleMode::Bytes64},
    {3, SwizzleMode::Bytes32},
};

static constexpr MatrixFormat kMatrixFormats[] = {
    {DescriptorUser::Tensor, kMatrixFields, 1, kTensorSwizzles},
    {DescriptorUser::Warpgroup, kWarpgroupFields, 0, kWarpgroupSwizzles},
};

static const MatrixFormat &lookup(DescriptorUser user) {
  return *llvm::find_if(kMatrixFormats, [&](const MatrixFormat &format) {
    return format.user == user;
  });
}

static const SwizzleRow *lookup(SwizzleMode mode) {
  return llvm::find_if(kSwizzles,
                       [&](const SwizzleRow &row) { return row.mode == mode; });
}

unsigned sim::getRowBytes(SwizzleMode mode) { return lookup(mode)->rowBytes; }

Result<MatrixDescriptor> MatrixDescriptor::decode(uint64_t bits,
                                                  DescriptorUser user) {
  const MatrixFormat &format = lookup(user);
  auto reject = [&](llvm::StringRef text) {
    return Error("expected " + text.str() +
                 " in a shared memory descriptor, "
                 "got " +
                 printFields(bits, format.fields));
  };
  auto field = [&](llvm::StringRef name) {
    return get(bits, format.fields, name);
  };
  constexpr unsigned unit = 16;
  if (uint64_t reserved = getReserved(bits, format.fields))
    return reject("0 in the reserved bits " + printHex(reserved));
  if (field("version") != format.version)
    return reject("version 1");
  const SwizzleCode *swizzle =
      llvm::find_if(format.swizzles, [&](const SwizzleCode &row) {
        return row.code == field("swizzle");
      });
  if (swizzle == format.swizzles.end())
    return reject("a swizzle mode out of 0, 1, 2, 4 and 6");
  MatrixDescriptor descriptor;
  descriptor.user = user;
  descriptor.bits = bits;
  descriptor.start = field("start") * unit;
  descriptor.leadingOffset = field("leading_offset") * unit;
  descriptor.strideOffset = field("stride_offset") * unit;
  descriptor.baseOffset = field("base_offset");
  descriptor.isLeadingAbsolute = field("leading_absolute");
  descriptor.swizzle = swizzle->mode;
  return descriptor;
}

std::string MatrixDescriptor::print() const {
  return printFields(bits, lookup(user).fields);
}

uint32_t MatrixDescriptor::swizzled(uint32_t address) const {
  const SwizzleRow &row = *lookup(swizzle);
  uint32_t phase = (address - (baseOffset << 7)) >> row.from;
  return address ^ (phase & llvm::maskTrailingOnes<uint32_t>(row.bits))
                       << row.to;
}

//===----------------------------------------------------------------------===//
// Instruction descriptor
//===----------------------------------------------------------------------===//

static constexpr Field kUnscaledFields[] = {
    {"sparsity_selector", 0, 2},
    {"sparse", 2, 1},
    {"saturate", 3, 1},
    {"d_type", 4, 2},
    {"a_type", 7, 3},
    {"b_type", 10, 3},
    {"negate_a", 13, 1},
    {"negate_b", 14, 1},
    {"transpose_a", 15, 1},
    {"transpose_b", 16, 1},
    {"n>>3", 17, 6},
    {"m>>4", 24, 5},
    {"max_shift", 30, 2},
};
static constexpr Field kByteFields[] = {
    {"sparse", 2, 1},       {"sfb_id", 4, 2},       {"a_type", 7, 3},
    {"b_type", 10, 3},      {"negate_a", 13, 1},    {"negate_b", 14, 1},
    {"transpose_a", 15, 1}, {"transpose_b", 16, 1}, {"n>>3", 17, 6},
    {"scale_type", 23, 1},  {"m>>7", 27, 2},        {"sfa_id", 29, 2},
};
static constexpr Field kNibbleFields[] = {
    {"sparse", 2, 1},  {"sfb_id", 4, 2},      {"a_type", 7, 3},
    {"b_type", 10, 2}, {"negate_a", 13, 1},   {"negate_b", 14, 1},
    {"n>>3", 17, 6},   {"scale_type", 23, 1}, {"m>>7", 27, 2},
    {"sfa_id", 29, 2}, {"k96", 31, 1},
};

namespace {
/// A code of a field and the type that it stands for.
struct TypeCode {
  unsigned code;
  Type type;
};

struct KindRow {
  TensorKind kind;
  llvm::StringRef name;
  llvm::ArrayRef<Field> fields;
  llvm::ArrayRef<TypeCode> elements, accumulators;
  unsigned k;
  /// Elements are bytes: of a transposed B, N is a multiple of more.
  bool isByteWide;
};
} // namespace

static constexpr TypeCode kHalves[] = {{0, Type::F16}, {1, Type::BF16}};
static constexpr TypeCode kTF32s[] = {{2, Type::TF32}};
static constexpr TypeCode kIntegers[] = {{0, Type::U8}, {1, Type::S8}};
static constexpr TypeCode kBytes[] = {{0, Type::E4M3},
                                      {1, Type::E5M2},
                                      {3, Type::E2M3},
                                      {4, Type::E3M2},
                                      {5, Type::E2M1}};
static constexpr TypeCode kNibbles[] = {{1, Type::E2M1}};
static constexpr TypeCode kFloatSums[] = {{0, Type::F16}, {1, Type::F32}};
static constexpr TypeCode kF32Sums[] = {{1, Type::F32}};
static constexpr TypeCode kIntegerSums[] = {{2, Type::S32}};
// The block-scaled kinds have no field for the type of D.
static constexpr TypeCode kScaledSums[] = {{0, Type::F32}};

static constexpr KindRow kKinds[] = {
    {TensorKind::F16, "kind::f16", kUnscaledFields, kHalves, kFloatSums, 16,
     false},
    {TensorKind::TF32, "kind::tf32", kUnscaledFields, kTF32s, kF32Sums, 8,
     false},
    {TensorKind::I8, "kind::i8", kUnscaledFields, kIntegers, kIntegerSums, 32,
     true},
    {TensorKind::F8F6F4, "kind::f8f6f4", kUnscaledFields, kBytes, kFloatSums,
     32, true},
    {TensorKind::MXF8F6F4, "kind::mxf8f6f4", kByteFields, kBytes, kScaledSums,
     32, true},
    {TensorKind::MXF4, "kind::mxf4", kNibbleFields, kNibbles, kScaledSums, 64,
     false},
    {TensorKind::MXF4NVF4, "kind::mxf4nvf4", kNibbleFields, kNibbles,
     kScaledSums, 64, false},
};

static const KindRow &lookup(TensorKind kind) {
  return *llvm::find_if(kKinds,
                        [&](const KindRow &row) { return row.kind == kind; });
}

llvm::StringRef sim::getName(TensorKind kind) { return lookup(kind).name; }

std::optional<TensorKind> sim::lookupTensorKind(llvm::StringRef name) {
  for (const KindRow &row : kKinds)
    if (row.name == name)
      return row.kind;
  return std::nullopt;
}

/// Whether N goes with the kind and M (PTX ISA, table 39).
static bool isLegalN(const InstructionDescriptor &descriptor,
                     unsigned numBlocks, bool isByteWide) {
  unsigned n = descriptor.n, step = 8 * numBlocks;
  if (descriptor.kind == TensorKind::I8)
    step = numBlocks == 2 ? 32 : n > 32 ? 16 : 8;
  if (isByteWide && descriptor.isTransposedB)
    step = std::max(step, 16 * numBlocks);
  return n >= step && n <= 256 && n % step == 0;
}

Result<InstructionDescriptor>
InstructionDescriptor::decode(uint32_t bits, TensorKind kind,
                              unsigned numBlocks) {
  const KindRow &row = lookup(kind);
  auto reject = [&](const std::string &text) {
    return Error("expected " + text + " in an instruction descriptor of " +
                 row.name.str() +
                 " with .cta_group::" + std::to_string(numBlocks) + ", got " +
                 printFields(bits, row.fields));
  };
  auto field = [&](llvm::StringRef name) {
    return get(bits, row.fields, name);
  };
  auto readType = [&](llvm::ArrayRef<TypeCode> codes, llvm::StringRef name,
                      Type &type) {
    const TypeCode *code = llvm::find_if(
        codes, [&](const TypeCode &code) { return code.code == field(name); });
    if (code == codes.end())
      return false;
    type = code->type;
    return true;
  };
  InstructionDescriptor d = {};
  d.bits = bits;
  d.kind = kind;
  if (uint64_t reserved = getReserved(bits, row.fields))
    return reject("0 in the reserved bits " + printHex(reserved));
  if (!readType(row.elements, "a_type", d.a))
    return reject("a type of A that the kind has");
  if (!readType(row.elements, "b_type", d.b))
    return reject("a type of B that the kind has");
  if (!readType(row.accumulators, "d_type", d.d))
    return reject("a type of D that the kind has");
  bool isAnyBF16 = d.a == Type::BF16 || d.b == Type::BF16;
  if (d.d == Type::F16 && isAnyBF16)
    return reject("f32 for D of bf16");
  bool isScaled = isBlockScaled(kind);
  d.m = isScaled ? field("m>>7") << 7 : field("m>>4") << 4;
  d.n = field("n>>3") << 3;
  d.k = field("k96") ? 96 : row.k;
  d.isSparse = field("sparse");
  d.isSaturating = field("saturate");
  d.isNegatedA = field("negate_a");
  d.isNegatedB = field("negate_b");
  d.isTransposedA = field("transpose_a");
  d.isTransposedB = field("transpose_b");
  d.scaleIdA = field("sfa_id");
  d.scaleIdB = field("sfb_id");
  d.scale = field("scale_type") ? Type::UE8M0 : Type::UE4M3;

  if (d.isSaturating && kind != TensorKind::I8)
    return reject("no saturation");
  if (kind == TensorKind::I8 && (d.isNegatedA || d.isNegatedB))
    return reject("no negation");
  if (!d.isSparse && field("sparsity_selector"))
    return reject("sparsity selector 0 of a dense instruction");
  if (field("max_shift"))
    return reject("no shift, which .ws alone has,");
  if (isScaled && kind != TensorKind::MXF4NVF4 && d.scale != Type::UE8M0)
    return reject("scales of ue8m0");
  bool isLegalM = numBlocks == 2 ? d.m == 128 || d.m == 256
                                 : d.m == 128 || (d.m == 64 && !isScaled);
  if (!isLegalM)
    return reject(numBlocks == 2 ? "M of 128 or 256"
                  : isScaled     ? "M of 128"
                                 : "M of 64 or 128");
  if (!isLegalN(d, numBlocks, row.isByteWide))
    return reject("N that the kind has with this M");
  return d;
}

std::string InstructionDescriptor::print() const {
  return printFields(bits, lookup(kind).fields);
}
