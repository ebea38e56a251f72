//===- InstructionDescriptor.cpp - tcgen05.mma's descriptor ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of the kinds of tcgen05.mma: their fields, types and K. The decoder
// checks the other rules of the ISA.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/InstructionDescriptor.h"

#include "Mma/MatrixOperands.h"

#include "Memory/Storage.h"
#include "SharedDescriptors/DescriptorFields.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr DescriptorField kUnscaledFields[] = {
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
static constexpr DescriptorField kByteFields[] = {
    {"sparse", 2, 1},       {"sfb_id", 4, 2},       {"a_type", 7, 3},
    {"b_type", 10, 3},      {"negate_a", 13, 1},    {"negate_b", 14, 1},
    {"transpose_a", 15, 1}, {"transpose_b", 16, 1}, {"n>>3", 17, 6},
    {"scale_type", 23, 1},  {"m>>7", 27, 2},        {"sfa_id", 29, 2},
};
static constexpr DescriptorField kNibbleFields[] = {
    {"sparse", 2, 1},  {"sfb_id", 4, 2},      {"a_type", 7, 3},
    {"b_type", 10, 2}, {"negate_a", 13, 1},   {"negate_b", 14, 1},
    {"n>>3", 17, 6},   {"scale_type", 23, 1}, {"m>>7", 27, 2},
    {"sfa_id", 29, 2}, {"k96", 31, 1},
};

namespace {
/// A value of a field and the type that it means.
struct TypeCode {
  unsigned code;
  Type type;
};

struct KindRow {
  Tcgen05Kind kind;
  llvm::StringRef name;
  llvm::ArrayRef<DescriptorField> fields;
  llvm::ArrayRef<TypeCode> elements, accumulators;
  unsigned k;
  /// Elements are bytes; N of a transposed B must be a larger multiple.
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
    {Tcgen05Kind::F16, "kind::f16", kUnscaledFields, kHalves, kFloatSums, 16,
     false},
    {Tcgen05Kind::TF32, "kind::tf32", kUnscaledFields, kTF32s, kF32Sums, 8,
     false},
    {Tcgen05Kind::I8, "kind::i8", kUnscaledFields, kIntegers, kIntegerSums, 32,
     true},
    {Tcgen05Kind::F8F6F4, "kind::f8f6f4", kUnscaledFields, kBytes, kFloatSums,
     32, true},
    {Tcgen05Kind::MXF8F6F4, "kind::mxf8f6f4", kByteFields, kBytes, kScaledSums,
     32, true},
    {Tcgen05Kind::MXF4, "kind::mxf4", kNibbleFields, kNibbles, kScaledSums, 64,
     false},
    {Tcgen05Kind::MXF4NVF4, "kind::mxf4nvf4", kNibbleFields, kNibbles,
     kScaledSums, 64, false},
};

// A K that only some targets have is a row here, a field above, rows of
// kScaleIds, and a feature in Ptx/Targets.h and Targets.cpp.
static constexpr ExtendedK kExtendedKs[] = {
    {"k96", 96, Feature::Tcgen05K96, "sm_103a", 64},
};

llvm::ArrayRef<ExtendedK> sim::getExtendedKs() { return kExtendedKs; }

namespace {
struct ScaleIdsRow {
  unsigned keptK, blockSize;
  /// Bit i: identifier i is legal.
  unsigned legal;
};
} // namespace

/// PTX ISA, section 9.7.16.10.7.2; for K = 96, its figures.
static constexpr ScaleIdsRow kScaleIds[] = {
    {32, 32, 0b1111}, {64, 32, 0b0101}, {64, 16, 0b0001},
    {96, 32, 0b1111}, {96, 16, 0b0101},
};

static_assert(
    [] {
      for (const ScaleIdsRow &row : kScaleIds)
        if (row.keptK > kMaxKeptK || row.keptK / row.blockSize > kMaxBlocks)
          return false;
      return true;
    }(),
    "the simulator's matrices are smaller; see Mma/MatrixOperands.h");
static_assert(
    [] {
      for (const KindRow &row : kKinds)
        if (2 * row.k > kMaxK)
          return false;
      return true;
    }(),
    "the same with the K of sparse instructions");

unsigned sim::getScaleIds(unsigned keptK, unsigned blockSize) {
  return llvm::find_if(kScaleIds,
                       [&](const ScaleIdsRow &row) {
                         return row.keptK == keptK &&
                                row.blockSize == blockSize;
                       })
      ->legal;
}

static const KindRow &lookup(Tcgen05Kind kind) {
  return *llvm::find_if(kKinds,
                        [&](const KindRow &row) { return row.kind == kind; });
}

llvm::StringRef sim::getName(Tcgen05Kind kind) { return lookup(kind).name; }

std::optional<Tcgen05Kind> sim::lookupTensorKind(llvm::StringRef name) {
  for (const KindRow &row : kKinds)
    if (row.name == name)
      return row.kind;
  return std::nullopt;
}

namespace {
/// The legal values of M.
struct ShapeRow {
  unsigned numBlocks;
  MmaVariant variant;
  bool isScaled;
  llvm::ArrayRef<unsigned> m;
  llvm::StringRef text;
};
} // namespace

static constexpr unsigned kRowsOfWS[] = {32, 64, 128};
static constexpr unsigned kRowsOfOne[] = {64, 128};
static constexpr unsigned kRowsOfScaled[] = {128};
static constexpr unsigned kRowsOfCtaPair[] = {128, 256};
static constexpr unsigned kRowsOfSparsePair[] = {256};
static constexpr unsigned kColumnsOfWS[] = {64, 128, 256};

/// PTX ISA, table 39.
static constexpr ShapeRow kShapes[] = {
    {1, MmaVariant::WeightStationary, false, kRowsOfWS, "M of 32, 64 or 128"},
    {1, MmaVariant::Dense, false, kRowsOfOne, "M of 64 or 128"},
    {1, MmaVariant::Dense, true, kRowsOfScaled, "M of 128"},
    {1, MmaVariant::Sparse, true, kRowsOfScaled, "M of 128"},
    {2, MmaVariant::Dense, false, kRowsOfCtaPair, "M of 128 or 256"},
    {2, MmaVariant::Dense, true, kRowsOfCtaPair, "M of 128 or 256"},
    {2, MmaVariant::Sparse, true, kRowsOfSparsePair, "M of 256"},
};

/// Indexed by the field max_shift.
static constexpr unsigned kMaxShifts[] = {0, 8, 16, 32};

/// Whether N is legal for the kind and M (PTX ISA, table 39).
static bool isLegalN(const InstructionDescriptor &descriptor,
                     unsigned numBlocks, MmaVariant variant, bool isByteWide) {
  if (variant == MmaVariant::WeightStationary)
    return llvm::is_contained(kColumnsOfWS, descriptor.n);
  unsigned n = descriptor.n, step = 8 * numBlocks;
  if (descriptor.kind == Tcgen05Kind::I8)
    step = numBlocks == 2 ? 32 : n > 32 ? 16 : 8;
  if (isByteWide && descriptor.isTransposedB)
    step = std::max(step, 16 * numBlocks);
  return n >= step && n <= 256 && n % step == 0;
}

Result<InstructionDescriptor>
InstructionDescriptor::decode(uint32_t bits, Tcgen05Kind kind,
                              unsigned numBlocks, MmaVariant variant) {
  const KindRow &row = lookup(kind);
  bool isWeightStationary = variant == MmaVariant::WeightStationary;
  auto reject = [&](const std::string &text) {
    return Error(
        "expected " + text + " in an instruction descriptor of " +
        row.name.str() +
        (isWeightStationary
             ? std::string(" with .ws")
             : std::string(variant == MmaVariant::Sparse ? " with .sp and "
                                                         : " with ") +
                   ".cta_group::" + std::to_string(numBlocks)) +
        ", got " + printFields(bits, row.fields));
  };
  auto field = [&](llvm::StringRef name) {
    return getField(bits, row.fields, name);
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
  d.isSparse = field("sparse");
  if (d.isSparse != (variant == MmaVariant::Sparse))
    return reject(d.isSparse ? "sparse 0 without .sp" : "sparse 1");
  d.k = d.isSparse ? 2 * row.k : row.k;
  for (const ExtendedK &wide : kExtendedKs)
    if (field(wide.field)) {
      if (d.isSparse)
        return reject(wide.field.str() + " 0 of a sparse instruction");
      d.extendedK = &wide;
      d.k = wide.k;
    }
  d.isSaturating = field("saturate");
  d.isNegatedA = field("negate_a");
  d.isNegatedB = field("negate_b");
  d.isTransposedA = field("transpose_a");
  d.isTransposedB = field("transpose_b");
  d.scaleIdA = field("sfa_id");
  d.scaleIdB = field("sfb_id");
  d.scale = field("scale_type") ? Type::UE8M0 : Type::UE4M3;

  if (d.isSaturating && kind != Tcgen05Kind::I8)
    return reject("no saturation");
  if (kind == Tcgen05Kind::I8 && (d.isNegatedA || d.isNegatedB))
    return reject("no negation");
  if (!d.isSparse && field("sparsity_selector"))
    return reject("sparsity selector 0 of a dense instruction");
  d.maxShift = kMaxShifts[field("max_shift")];
  if (d.maxShift && !isWeightStationary)
    return reject("no shift, which only .ws has,");
  if (d.maxShift > 16 && d.m == 32)
    return reject("a shift of at most 16 with M of 32");
  if (isScaled && kind != Tcgen05Kind::MXF4NVF4 && d.scale != Type::UE8M0)
    return reject("scales of ue8m0");
  const ShapeRow *shape = llvm::find_if(kShapes, [&](const ShapeRow &shape) {
    return shape.numBlocks == numBlocks && shape.isScaled == isScaled &&
           shape.variant == variant;
  });
  if (!llvm::is_contained(shape->m, d.m))
    return reject(shape->text.str());
  if (!isLegalN(d, numBlocks, variant, row.isByteWide))
    return reject("N that the kind has with this M");
  return d;
}

std::string InstructionDescriptor::print() const {
  return printFields(bits, lookup(kind).fields);
}

ElementPacking sim::getPacking(Tcgen05Kind kind, Type type) {
  unsigned bits = getBits(type);
  if (kind == Tcgen05Kind::TF32)
    bits = 32;
  bool isPacked = kind == Tcgen05Kind::MXF4 || kind == Tcgen05Kind::MXF4NVF4;
  unsigned slot = isPacked ? bits : std::max(bits, 8u);
  return {bits, kChunkBytes * 8 / slot};
}
