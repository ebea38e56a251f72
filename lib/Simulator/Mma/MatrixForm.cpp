//===- MatrixForm.cpp - The table of matrix instructions ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of simulated instructions; a row expands to the forms of all its
// types and spellings.
//
// Sources: PTX ISA, sections 9.7.14.5.14 "mma", 9.7.14.6.3 "mma.sp", table 36
// (scale vectors), and for targets what ptxas 13.0 accepts.
//
// Left out: `m8n8k4` with f16 (four independent multiplications of quads, for
// sm_70) and `b1` (deprecated). Both are refused by name in MatrixLookup.cpp.
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixForm.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {

/// Types of A and B that a row of the table allows.
enum class Elements : uint8_t {
  F16,
  BF16,
  TF32,
  F64,
  Int8,
  Int4,
  F8,
  F8F6F4,
  F4
};

/// Types of C and D.
enum class Accumulators : uint8_t { F32, F16OrF32, S32, F64 };

/// PTX versions of the three spellings; 0 for a spelling that does not exist.
struct Versions {
  unsigned dense, plain, ordered;
};

/// A row stands for all combinations of its types, of its spellings, and of
/// `.satfinite` (where C and D are s32).
struct Row {
  MmaKind kind;
  unsigned m, k;
  unsigned slotBits;
  Elements elements;
  Accumulators accumulators;
  unsigned scaleVec;
  Type scale;
  bool isScaleVecOptional;
  Versions versions;
  Feature targets;
};

} // namespace

static constexpr Type kNoScale = Type::Pred;

// clang-format off
static constexpr Row kRows[] = {
  // kind             m   k  bits elements           accumulators       scales                  PTX            targets
  {MmaKind::None,    16,   8, 16, Elements::F16,  Accumulators::F16OrF32, 0, kNoScale,    false, {65,  0,  0}, Feature::MmaOfSm75},
  {MmaKind::None,    16,  16, 16, Elements::F16,  Accumulators::F16OrF32, 0, kNoScale,    false, {70, 71, 85}, Feature::MmaOfSm80},
  {MmaKind::None,    16,  32, 16, Elements::F16,  Accumulators::F16OrF32, 0, kNoScale,    false, { 0, 71, 85}, Feature::MmaOfSm80},
  {MmaKind::None,    16,   8, 16, Elements::BF16, Accumulators::F32,      0, kNoScale,    false, {70,  0,  0}, Feature::MmaOfSm80},
  {MmaKind::None,    16,  16, 16, Elements::BF16, Accumulators::F32,      0, kNoScale,    false, {70, 71, 85}, Feature::MmaOfSm80},
  {MmaKind::None,    16,  32, 16, Elements::BF16, Accumulators::F32,      0, kNoScale,    false, { 0, 71, 85}, Feature::MmaOfSm80},
  {MmaKind::None,    16,   4, 32, Elements::TF32, Accumulators::F32,      0, kNoScale,    false, {70,  0,  0}, Feature::MmaOfSm80},
  {MmaKind::None,    16,   8, 32, Elements::TF32, Accumulators::F32,      0, kNoScale,    false, {70, 71, 85}, Feature::MmaOfSm80},
  {MmaKind::None,    16,  16, 32, Elements::TF32, Accumulators::F32,      0, kNoScale,    false, { 0, 71, 85}, Feature::MmaOfSm80},
  {MmaKind::None,     8,   4, 64, Elements::F64,  Accumulators::F64,      0, kNoScale,    false, {70,  0,  0}, Feature::MmaOfSm80},
  {MmaKind::None,    16,   4, 64, Elements::F64,  Accumulators::F64,      0, kNoScale,    false, {78,  0,  0}, Feature::MmaOfSm90},
  {MmaKind::None,    16,   8, 64, Elements::F64,  Accumulators::F64,      0, kNoScale,    false, {78,  0,  0}, Feature::MmaOfSm90},
  {MmaKind::None,    16,  16, 64, Elements::F64,  Accumulators::F64,      0, kNoScale,    false, {78,  0,  0}, Feature::MmaOfSm90},
  {MmaKind::None,     8,  16,  8, Elements::Int8, Accumulators::S32,      0, kNoScale,    false, {65,  0,  0}, Feature::MmaOfSm75},
  {MmaKind::None,    16,  16,  8, Elements::Int8, Accumulators::S32,      0, kNoScale,    false, {70,  0,  0}, Feature::MmaOfSm80},
  {MmaKind::None,    16,  32,  8, Elements::Int8, Accumulators::S32,      0, kNoScale,    false, {70, 71, 85}, Feature::MmaOfSm80},
  {MmaKind::None,    16,  64,  8, Elements::Int8, Accumulators::S32,      0, kNoScale,    false, { 0, 71, 85}, Feature::MmaOfSm80},
  {MmaKind::None,     8,  32,  4, Elements::Int4, Accumulators::S32,      0, kNoScale,    false, {65,  0,  0}, Feature::MmaOfSm75},
  {MmaKind::None,    16,  32,  4, Elements::Int4, Accumulators::S32,      0, kNoScale,    false, {70,  0,  0}, Feature::MmaOfSm80},
  {MmaKind::None,    16,  64,  4, Elements::Int4, Accumulators::S32,      0, kNoScale,    false, {70, 71, 85}, Feature::MmaOfSm80},
  {MmaKind::None,    16, 128,  4, Elements::Int4, Accumulators::S32,      0, kNoScale,    false, { 0, 71, 85}, Feature::MmaOfSm80},
  {MmaKind::None,    16,  16,  8, Elements::F8,   Accumulators::F16OrF32, 0, kNoScale,    false, {87,  0,  0}, Feature::MmaOfSm89},
  {MmaKind::None,    16,  32,  8, Elements::F8,   Accumulators::F16OrF32, 0, kNoScale,    false, {84,  0,  0}, Feature::MmaOfSm89},
  {MmaKind::None,    16,  64,  8, Elements::F8,   Accumulators::F32,      0, kNoScale,    false, { 0, 84, 85}, Feature::MmaOfSm89},
  {MmaKind::F8F6F4,  16,  32,  8, Elements::F8F6F4, Accumulators::F16OrF32, 0, kNoScale,  false, {87,  0,  0}, Feature::MmaOfSm100AndSm120},
  {MmaKind::F8F6F4,  16,  64,  8, Elements::F8F6F4, Accumulators::F16OrF32, 0, kNoScale,  false, { 0,  0, 87}, Feature::MmaOfSm120},
  {MmaKind::MXF8F6F4,16,  32,  8, Elements::F8F6F4, Accumulators::F32,    1, Type::UE8M0, true,  {87,  0,  0}, Feature::MmaOfSm120},
  {MmaKind::MXF8F6F4,16,  64,  8, Elements::F8F6F4, Accumulators::F32,    1, Type::UE8M0, true,  { 0,  0, 87}, Feature::MmaOfSm120},
  {MmaKind::MXF4,    16,  64,  4, Elements::F4,   Accumulators::F32,      2, Type::UE8M0, true,  {87,  0,  0}, Feature::MmaOfSm120},
  {MmaKind::MXF4,    16, 128,  4, Elements::F4,   Accumulators::F32,      2, Type::UE8M0, true,  { 0,  0, 87}, Feature::MmaOfSm120a},
  {MmaKind::MXF4NVF4,16,  64,  4, Elements::F4,   Accumulators::F32,      2, Type::UE8M0, false, {87,  0,  0}, Feature::MmaOfSm120},
  {MmaKind::MXF4NVF4,16,  64,  4, Elements::F4,   Accumulators::F32,      4, Type::UE8M0, false, {91,  0,  0}, Feature::MmaOfSm120},
  {MmaKind::MXF4NVF4,16,  64,  4, Elements::F4,   Accumulators::F32,      4, Type::UE4M3, false, {87,  0,  0}, Feature::MmaOfSm120},
  {MmaKind::MXF4NVF4,16, 128,  4, Elements::F4,   Accumulators::F32,      2, Type::UE8M0, false, { 0,  0, 87}, Feature::MmaOfSm120a},
  {MmaKind::MXF4NVF4,16, 128,  4, Elements::F4,   Accumulators::F32,      4, Type::UE8M0, false, { 0,  0, 91}, Feature::MmaOfSm120a},
  {MmaKind::MXF4NVF4,16, 128,  4, Elements::F4,   Accumulators::F32,      4, Type::UE4M3, false, { 0,  0, 87}, Feature::MmaOfSm120a},
};
// clang-format on

static llvm::ArrayRef<Type> getTypes(Elements elements) {
  static constexpr Type f16[] = {Type::F16};
  static constexpr Type bf16[] = {Type::BF16};
  static constexpr Type tf32[] = {Type::TF32};
  static constexpr Type f64[] = {Type::F64};
  static constexpr Type int8[] = {Type::U8, Type::S8};
  static constexpr Type int4[] = {Type::U4, Type::S4};
  static constexpr Type f8f6f4[] = {Type::E4M3, Type::E5M2, Type::E3M2,
                                    Type::E2M3, Type::E2M1};
  switch (elements) {
  case Elements::F16:
    return f16;
  case Elements::BF16:
    return bf16;
  case Elements::TF32:
    return tf32;
  case Elements::F64:
    return f64;
  case Elements::Int8:
    return int8;
  case Elements::Int4:
    return int4;
  case Elements::F8:
    return llvm::ArrayRef(f8f6f4).take_front(2);
  case Elements::F8F6F4:
    return f8f6f4;
  case Elements::F4:
    return llvm::ArrayRef(f8f6f4).take_back(1);
  }
  return {};
}

static llvm::ArrayRef<Type> getTypes(Accumulators accumulators) {
  static constexpr Type floats[] = {Type::F32, Type::F16};
  static constexpr Type s32[] = {Type::S32};
  static constexpr Type f64[] = {Type::F64};
  switch (accumulators) {
  case Accumulators::F32:
    return llvm::ArrayRef(floats).take_front(1);
  case Accumulators::F16OrF32:
    return floats;
  case Accumulators::S32:
    return s32;
  case Accumulators::F64:
    return f64;
  }
  return {};
}

static bool isF8(Type type) { return type == Type::E4M3 || type == Type::E5M2; }

/// A product is less than 2^(topA + topB + 2); all partial sums are multiples
/// of the product of the lowest bits.
static bool isExactInDouble(const MmaForm &form) {
  const ElementTable &a = *form.aTable, &b = *form.bTable;
  int top = a.top + b.top + 2 + int(llvm::Log2_32_Ceil(form.getBlockSize()));
  return top - (a.lowestBit + b.lowestBit) <= 53;
}

static MmaForm makeForm(const Row &row, Sparsity sparsity, unsigned version,
                        Type a, Type b, Type c, bool isSatfinite) {
  bool isSparse = sparsity != Sparsity::Dense;
  MmaForm form = {
      row.kind,
      sparsity,
      row.m,
      /*n=*/8,
      row.k,
      a,
      b,
      c,
      isSatfinite,
      row.scaleVec,
      row.scale,
      row.isScaleVecOptional,
      version,
      row.targets,
      row.slotBits,
      &getFragmentLayout(MatrixOperand::A, row.m, row.slotBits),
      &getFragmentLayout(MatrixOperand::B, row.m, row.slotBits),
      &getFragmentLayout(MatrixOperand::Accumulator, row.m, getBits(c)),
      isSparse ? &getMetadataLayout(row.slotBits, row.k) : nullptr,
      getElementTable(a, row.slotBits),
      getElementTable(b, row.slotBits),
      /*isSumExact=*/false};
  form.isSumExact = form.aTable && isExactInDouble(form);
  // As in ptxas: f16 accumulation came later than fp8 itself.
  if (row.elements == Elements::F8 && c == Type::F16)
    form.ptxVersion = 87;
  // As in ptxas: fp6 and fp4 only on sm_120.
  if (form.targets == Feature::MmaOfSm100AndSm120 && !(isF8(a) && isF8(b)))
    form.targets = Feature::MmaOfSm120;
  return form;
}

static void addForms(const Row &row, Sparsity sparsity, unsigned version,
                     std::vector<MmaForm> &forms) {
  if (!version)
    return;
  for (Type a : getTypes(row.elements))
    for (Type b : getTypes(row.elements))
      for (Type c : getTypes(row.accumulators)) {
        forms.push_back(makeForm(row, sparsity, version, a, b, c, false));
        if (c == Type::S32)
          forms.push_back(makeForm(row, sparsity, version, a, b, c, true));
      }
}

const std::vector<MmaForm> &sim::getMmaForms() {
  static const std::vector<MmaForm> forms = [] {
    std::vector<MmaForm> all;
    for (const Row &row : kRows) {
      addForms(row, Sparsity::Dense, row.versions.dense, all);
      addForms(row, Sparsity::Plain, row.versions.plain, all);
      addForms(row, Sparsity::Ordered, row.versions.ordered, all);
    }
    return all;
  }();
  return forms;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

llvm::StringRef sim::getKindName(MmaKind kind) {
  switch (kind) {
  case MmaKind::None:
    return "";
  case MmaKind::F8F6F4:
    return "kind::f8f6f4";
  case MmaKind::MXF8F6F4:
    return "kind::mxf8f6f4";
  case MmaKind::MXF4:
    return "kind::mxf4";
  case MmaKind::MXF4NVF4:
    return "kind::mxf4nvf4";
  }
  return "";
}

llvm::StringRef sim::getSparsityName(Sparsity sparsity) {
  switch (sparsity) {
  case Sparsity::Dense:
    return "";
  case Sparsity::Plain:
    return "sp";
  case Sparsity::Ordered:
    return "sp::ordered_metadata";
  }
  return "";
}

std::string sim::getShapeName(const MmaForm &form) {
  return "m" + std::to_string(form.m) + "n" + std::to_string(form.n) + "k" +
         std::to_string(form.k);
}

std::string sim::getStatsName(const MmaForm &form) {
  std::string name = form.isSparse() ? "mma.sp." : "mma.";
  name += getShapeName(form);
  if (form.kind != MmaKind::None)
    name.append(".").append(getKindName(form.kind).substr(strlen("kind::")));
  name.append(".").append(getName(form.a)).append(".").append(getName(form.b));
  // Modifiers that the kind and the types of A and B do not determine.
  if (form.kind == MmaKind::MXF4NVF4)
    name.append(".")
        .append(getName(form.scale))
        .append("." + std::to_string(form.scaleVec) + "X");
  else if (!form.isBlockScaled())
    name.append(".").append(getName(form.c));
  return name;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

static Type getRegisterType(Type element) {
  switch (element) {
  case Type::F16:
    return Type::F16x2;
  case Type::F32:
  case Type::S32:
  case Type::F64:
    return element;
  default:
    return Type::B32;
  }
}

static unsigned countRegisters(unsigned elements,
                               const FragmentLayout &layout) {
  return elements / (kLanes * layout.getSlots());
}

MmaRegisters sim::getRegisters(const MmaForm &form) {
  unsigned accumulators = countRegisters(form.m * form.n, *form.cLayout);
  return {countRegisters(form.m * form.getKeptK(), *form.aLayout),
          countRegisters(form.n * form.k, *form.bLayout),
          accumulators,
          accumulators,
          getRegisterType(form.a),
          getRegisterType(form.b),
          getRegisterType(form.c),
          getRegisterType(form.c),
          form.isSparse(),
          form.isBlockScaled()};
}

uint64_t sim::getMultiplyAdds(const MmaForm &form) {
  return uint64_t(form.m) * form.n * form.k;
}

MatrixClass sim::getMatrixClass(const MmaForm &form) {
  constexpr unsigned byteBits = 8;
  if (form.scaleVec)
    return form.slotBits < byteBits ? MatrixClass::ScaledNibbles
                                    : MatrixClass::ScaledBytes;
  bool isFloat = getTypeInfo(form.a).kind == TypeClass::Float;
  switch (form.slotBits) {
  case 64:
    return MatrixClass::Doubles;
  case 32:
    return MatrixClass::TF32;
  case 16:
    return MatrixClass::Halves;
  case 8:
    return isFloat ? MatrixClass::Bytes : MatrixClass::ByteIntegers;
  default:
    return MatrixClass::NibbleIntegers;
  }
}

unsigned sim::getPtxVersion(const MmaForm &form) { return form.ptxVersion; }

bool sim::isOnTarget(const MmaForm &form, llvm::StringRef target) {
  return hasFeature(target, form.targets);
}
