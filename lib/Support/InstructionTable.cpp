//===- InstructionTable.cpp - Legal types and instructions ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of instructions, of what they compute, and of their replacements.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/InstructionTable.h"

#include "blockscale/Support/SparseFragments.h"

#include <algorithm>
#include <iterator>
#include <set>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {
/// Rows that differ only in their element types.
struct InstructionFamily {
  Path path;
  Kind kind;
  unsigned m, mostM, n, mostN, k;
  Format scale;
  unsigned scaleVec;
  Scaling scaling;
  unsigned lowestPtx;
  unsigned rank;
  Rewrite rewrite;
  ScaleIds scaleIds;
  /// The columns from here on are for an instruction that only some chips of
  /// the path have, with a larger K for the same types.
  WideK wide = {};
  std::optional<Granularity> sparsity = std::nullopt;
};
} // namespace

// Three instructions compute fp4 x fp4 with ue8m0 scales and blocks of 32. mxf4
// has the lowest rank: it reads packed fp4 and has K = 64, while mxf8f6f4 uses
// a byte per element and has K = 32. mxf4nvf4 with 2X computes the same at the
// same rate; mxf4 is preferred because 2X is its only form.
static constexpr unsigned kFirst = 0, kSecond = 1, kLast = 2, kWide = 3;
static constexpr Scaling kInside = Scaling::InInstruction,
                         kBefore = Scaling::OnOperands, kOfB = Scaling::OnB,
                         kNowhere = Scaling::Nowhere;
static constexpr ScaleIds kAbsent = 0b0000, kZero = 0b0001, kEven = 0b0101,
                          kAny = 0b1111;
// sp::ordered_metadata. (Without it, mma.sp is there since 7.1: see
// useOlderMetadata.)
static constexpr unsigned kOrdered = kOrderedMetadataPtx;
static constexpr Rewrite kNo = Rewrite::None, kHalves = Rewrite::TwoHalfBlocks;

// Schedules choose the instructions with a larger K, which some chips have; the
// choice by types does not. Another such K is rows here, which the schedules
// and verifiers read; if the instruction descriptor has another field for it,
// it is in Descriptors.cpp. For the simulator it is a row of kExtendedKs in
// lib/Simulator/Tcgen05/InstructionDescriptor.cpp.
//
// The first and last compute capability, the field, and the pattern.
static constexpr WideK kK96 = {103, 103, 1, {96, 96, 64}};

// Sparse instructions have twice the K of dense ones, and so have the blocks of
// their scales. fp4 that is packed is kept in pairs.
static constexpr WideK kNone = {};
static constexpr Granularity kElements = Granularity::Elements,
                             kPairs = Granularity::Pairs;

// clang-format off
static constexpr InstructionFamily kFamilies[] = {
  // path          kind            m  most  n  most k   scale          vec scaling  PTX rank     rewrite scale ids  larger K, sparsity
  {Path::MmaSync, Kind::MXF8F6F4,   16,  16, 8,   8, 32, Format::UE8M0, 1,  kInside, 87, kLast,   kNo, kAbsent},
  {Path::MmaSync, Kind::MXF4,       16,  16, 8,   8, 64, Format::UE8M0, 2,  kInside, 87, kFirst,  kNo, kAbsent},
  {Path::MmaSync, Kind::MXF4NVF4,   16,  16, 8,   8, 64, Format::UE8M0, 2,  kInside, 87, kSecond, kNo, kAbsent},
  {Path::MmaSync, Kind::MXF4NVF4,   16,  16, 8,   8, 64, Format::UE8M0, 4,  kInside, 91, kFirst,  kHalves, kAbsent},
  {Path::MmaSync, Kind::MXF4NVF4,   16,  16, 8,   8, 64, Format::UE4M3, 4,  kInside, 87, kFirst,  kNo, kAbsent},
  {Path::MmaSync, Kind::MXF8F6F4,   16,  16, 8,   8, 64, Format::UE8M0, 1,  kInside, 87, kLast,   kNo, kAbsent, kNone, kElements},
  {Path::MmaSync, Kind::MXF4,       16,  16, 8,   8, 128, Format::UE8M0, 2, kInside, 87, kFirst,  kNo, kAbsent, kNone, kPairs},
  {Path::MmaSync, Kind::MXF4NVF4,   16,  16, 8,   8, 128, Format::UE8M0, 2, kInside, 87, kSecond, kNo, kAbsent, kNone, kPairs},
  {Path::MmaSync, Kind::MXF4NVF4,   16,  16, 8,   8, 128, Format::UE8M0, 4, kInside, 91, kFirst,  kHalves, kAbsent, kNone, kPairs},
  {Path::MmaSync, Kind::MXF4NVF4,   16,  16, 8,   8, 128, Format::UE4M3, 4, kInside, 87, kFirst,  kNo, kAbsent, kNone, kPairs},
  {Path::Tcgen05, Kind::MXF8F6F4, 128, 256, 8, 256, 32, Format::UE8M0, 1,  kInside, 88, kLast,   kNo, kAny},
  {Path::Tcgen05, Kind::MXF4,     128, 256, 8, 256, 64, Format::UE8M0, 2,  kInside, 88, kFirst,  kNo, kEven},
  {Path::Tcgen05, Kind::MXF4NVF4, 128, 256, 8, 256, 64, Format::UE8M0, 2,  kInside, 88, kSecond, kNo, kEven},
  {Path::Tcgen05, Kind::MXF4NVF4, 128, 256, 8, 256, 64, Format::UE8M0, 4,  kInside, 88, kFirst,  kNo, kZero},
  {Path::Tcgen05, Kind::MXF4NVF4, 128, 256, 8, 256, 64, Format::UE4M3, 4,  kInside, 88, kFirst,  kNo, kZero},
  {Path::Tcgen05, Kind::MXF4,     128, 256, 8, 256, 96, Format::UE8M0, 3,  kInside, 88, kWide,   kNo, kAny, kK96},
  {Path::Tcgen05, Kind::MXF4NVF4, 128, 256, 8, 256, 96, Format::UE8M0, 3,  kInside, 88, kWide,   kNo, kAny, kK96},
  {Path::Tcgen05, Kind::MXF4NVF4, 128, 256, 8, 256, 96, Format::UE8M0, 6,  kInside, 88, kWide,   kNo, kEven, kK96},
  {Path::Tcgen05, Kind::MXF4NVF4, 128, 256, 8, 256, 96, Format::UE4M3, 6,  kInside, 88, kWide,   kNo, kEven, kK96},
  {Path::Tcgen05, Kind::MXF8F6F4, 128, 256, 8, 256, 64, Format::UE8M0, 1,  kInside, 88, kLast,   kNo, kAny, kNone, kElements},
  {Path::Tcgen05, Kind::MXF4,     128, 256, 8, 256, 128, Format::UE8M0, 2, kInside, 88, kFirst,  kNo, kEven, kNone, kPairs},
  {Path::Tcgen05, Kind::MXF4NVF4, 128, 256, 8, 256, 128, Format::UE8M0, 2, kInside, 88, kSecond, kNo, kEven, kNone, kPairs},
  {Path::Tcgen05, Kind::MXF4NVF4, 128, 256, 8, 256, 128, Format::UE8M0, 4, kInside, 88, kFirst,  kNo, kZero, kNone, kPairs},
  {Path::Tcgen05, Kind::MXF4NVF4, 128, 256, 8, 256, 128, Format::UE4M3, 4, kInside, 88, kFirst,  kNo, kZero, kNone, kPairs},
  {Path::Tcgen05, Kind::Unscaled, 128, 256, 8, 256, 16, Format::None,  0,  kNowhere, 86, kFirst, kNo, kZero},
  {Path::DequantMma, Kind::BF16,       16,  16, 8,   8, 32, Format::UE8M0, 1,  kBefore, 70, kLast,   kNo, kAbsent},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE8M0, 2,  kBefore, 70, kFirst,  kNo, kAbsent},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE8M0, 4,  kBefore, 70, kFirst,  kNo, kAbsent},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE4M3, 4,  kBefore, 70, kFirst,  kNo, kAbsent},
  {Path::DequantMma, Kind::BF16,       16,  16, 8,   8, 64, Format::UE8M0, 1,  kBefore, kOrdered, kLast,  kNo, kAbsent, kNone, kElements},
  {Path::DequantMma, Kind::BF16,       16,  16, 8,   8, 64, Format::UE8M0, 2,  kBefore, kOrdered, kLast,  kNo, kAbsent, kNone, kElements},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE8M0, 1,  kBefore, kOrdered, kFirst, kNo, kAbsent, kNone, kElements},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE8M0, 2,  kBefore, kOrdered, kFirst, kNo, kAbsent, kNone, kElements},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE8M0, 4,  kBefore, kOrdered, kFirst, kNo, kAbsent, kNone, kElements},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE4M3, 2,  kBefore, kOrdered, kFirst, kNo, kAbsent, kNone, kElements},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE4M3, 4,  kBefore, kOrdered, kFirst, kNo, kAbsent, kNone, kElements},
  {Path::DequantMma, Kind::BF16,       16,  16, 8,   8, 64, Format::UE8M0, 1,  kBefore, kOrdered, kLast,  kNo, kAbsent, kNone, kPairs},
  {Path::DequantMma, Kind::BF16,       16,  16, 8,   8, 64, Format::UE8M0, 2,  kBefore, kOrdered, kLast,  kNo, kAbsent, kNone, kPairs},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE8M0, 1,  kBefore, kOrdered, kFirst, kNo, kAbsent, kNone, kPairs},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE8M0, 2,  kBefore, kOrdered, kFirst, kNo, kAbsent, kNone, kPairs},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE8M0, 4,  kBefore, kOrdered, kFirst, kNo, kAbsent, kNone, kPairs},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE4M3, 2,  kBefore, kOrdered, kFirst, kNo, kAbsent, kNone, kPairs},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE4M3, 4,  kBefore, kOrdered, kFirst, kNo, kAbsent, kNone, kPairs},
  {Path::DequantMma, Kind::BF16,       16,  16, 8,   8, 32, Format::UE8M0, 1,  kOfB,    70, kLast,   kNo, kAbsent},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE8M0, 2,  kOfB,    70, kFirst,  kNo, kAbsent},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE8M0, 4,  kOfB,    70, kFirst,  kNo, kAbsent},
  {Path::DequantMma, Kind::BF16Packed,  16,  16, 8,   8, 64, Format::UE4M3, 4,  kOfB,    70, kFirst,  kNo, kAbsent},
  {Path::DequantMma, Kind::Unscaled,    16,  16, 8,   8, 16, Format::None,  0, kNowhere, 70, kFirst,  kNo, kAbsent},
  {Path::Wgmma,   Kind::Unscaled,       64,  64, 8, 256, 16, Format::None,  0, kNowhere, 80, kFirst,  kNo, kAbsent},
  {Path::Wgmma,   Kind::FP8,            64,  64, 8, 256, 32, Format::None,  0, kNowhere, 80, kFirst,  kNo, kAbsent},
  {Path::Wgmma,   Kind::Unscaled,       64,  64, 8, 256, 32, Format::None,  0, kNowhere, 82, kFirst,  kNo, kAbsent, kNone, kElements},
  {Path::Wgmma,   Kind::Unscaled,       64,  64, 8, 256, 32, Format::None,  0, kNowhere, 82, kFirst,  kNo, kAbsent, kNone, kPairs},
};
// clang-format on

static Instruction makeInstruction(const InstructionFamily &family, Format a,
                                   Format b) {
  return {family.path,
          family.kind,
          family.m,
          family.mostM,
          family.n,
          family.mostN,
          family.k,
          a,
          b,
          family.scale,
          family.scaleVec,
          family.scaleVec ? family.k / family.scaleVec : 1,
          family.scaling,
          family.lowestPtx,
          family.rank,
          family.rewrite,
          family.scaleIds,
          family.wide,
          family.sparsity};
}

const std::vector<Instruction> &blockscale::getInstructions() {
  static const std::vector<Instruction> instructions = [] {
    std::vector<Instruction> result;
    const std::vector<Format> floats = {Format::BF16, Format::F16};
    for (const InstructionFamily &family : kFamilies) {
      if (family.kind == Kind::Unscaled) {
        for (Format both : floats)
          result.push_back(makeInstruction(family, both, both));
        continue;
      }
      // Containers hold any format; packed operands are fp4.
      std::vector<Format> formats = {Format::E2M1};
      if (family.kind == Kind::FP8)
        formats = {Format::E4M3, Format::E5M2};
      if (hasContainers(family.kind))
        formats = getFormats(/*areScales=*/false);
      for (Format a : family.scaling == Scaling::OnB ? floats : formats)
        for (Format b : formats)
          result.push_back(makeInstruction(family, a, b));
    }
    return result;
  }();
  return instructions;
}

const Instruction *
blockscale::lookupInstruction(Path path, Kind kind, Format a, Format b,
                              Format scale, unsigned scaleVec,
                              std::optional<Granularity> sparsity) {
  for (const Instruction &i : getInstructions())
    if (i.path == path && i.kind == kind && i.a == a && i.b == b &&
        i.scale == scale && i.scaleVec == scaleVec && i.sparsity == sparsity)
      return &i;
  return nullptr;
}

const Instruction *blockscale::lookupWide(const Instruction &instruction,
                                          unsigned k) {
  for (const Instruction &i : getInstructions())
    if (i.path == instruction.path && i.kind == instruction.kind &&
        i.isWide() && i.k == k &&
        i.getTypeCombination() == instruction.getTypeCombination())
      return &i;
  return nullptr;
}

std::vector<unsigned> blockscale::getWideKs() {
  std::vector<unsigned> result;
  for (const Instruction &i : getInstructions())
    if (i.isWide() &&
        std::find(result.begin(), result.end(), i.k) == result.end())
      result.push_back(i.k);
  return result;
}

// Packed operands of sparse block-scaled instructions are for single chips, not
// for their families. (ptxas 13.0 refuses others: "Instruction 'Sparse mma with
// block scale' not supported on .target 'sm_120f'".)
bool Instruction::isOn(const Chip &chip) const {
  bool isForFamilies = sparsity != Granularity::Pairs || !isNative();
  return chip.has(path) && (isForFamilies || !chip.isFamily()) &&
         (!isWide() || (wide.firstCapability <= chip.capability &&
                        chip.capability <= wide.lastCapability));
}

std::vector<unsigned> Instruction::getKPattern() const {
  std::vector<unsigned> pattern;
  std::copy_if(wide.pattern.begin(), wide.pattern.end(),
               std::back_inserter(pattern), [](unsigned k) { return k != 0; });
  return isWide() ? pattern : std::vector<unsigned>{k};
}

bool blockscale::hasOpcode(const Chip &chip, std::string_view opcode) {
  return std::any_of(chip.paths.begin(), chip.paths.end(), [&](Path path) {
    return getPathInfo(path).opcode == opcode;
  });
}

unsigned blockscale::getLowestPtx(const Instruction &instruction,
                                  const Chip &chip) {
  return std::max(instruction.lowestPtx, chip.lowestPtx);
}

//===----------------------------------------------------------------------===//
// Type combinations
//===----------------------------------------------------------------------===//

const std::vector<TypeCombination> &blockscale::getTypeCombinations() {
  static const std::vector<TypeCombination> rows = [] {
    std::vector<TypeCombination> result;
    for (const Instruction &instruction : getInstructions()) {
      if (instruction.scaling == Scaling::Nowhere ||
          instruction.scaling == Scaling::OnB || instruction.isSparse())
        continue;
      TypeCombination types = instruction.getTypeCombination();
      if (std::find(result.begin(), result.end(), types) == result.end())
        result.push_back(types);
    }
    return result;
  }();
  return rows;
}

bool blockscale::isLegal(const TypeCombination &types) {
  const std::vector<TypeCombination> &rows = getTypeCombinations();
  return std::find(rows.begin(), rows.end(), types) != rows.end();
}

bool blockscale::isComputed(const TypeCombination &types) {
  const std::vector<Instruction> &instructions = getInstructions();
  return isLegal(types) ||
         std::any_of(instructions.begin(), instructions.end(),
                     [&](const Instruction &instruction) {
                       return (instruction.scaling == Scaling::OnB ||
                               instruction.scaling == Scaling::Nowhere ||
                               instruction.isSparse()) &&
                              instruction.getTypeCombination() == types;
                     });
}

std::vector<unsigned> blockscale::getLegalBlockSizes(Format lhs, Format rhs,
                                                     Format scale) {
  std::vector<unsigned> sizes;
  for (const TypeCombination &types : getTypeCombinations())
    if (types == TypeCombination{lhs, rhs, scale, types.blockSize})
      sizes.push_back(types.blockSize);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

std::vector<unsigned> blockscale::getBlockSizes() {
  std::set<unsigned> sizes;
  for (const TypeCombination &types : getTypeCombinations())
    sizes.insert(types.blockSize);
  return {sizes.begin(), sizes.end()};
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

namespace {
struct RewriteInfo {
  std::string_view description;
  /// The block size of the instructions that it becomes, in blocks of the
  /// combination.
  unsigned blocks;
};
} // namespace

static const RewriteInfo &getRewriteInfo(Rewrite rewrite) {
  static constexpr RewriteInfo rows[] = {
      {"", 1},
      {"two mxf4 instructions, each with half of every block of A zeroed", 2}};
  return rows[static_cast<unsigned>(rewrite)];
}

std::string_view blockscale::describeRewrite(Rewrite rewrite) {
  return getRewriteInfo(rewrite).description;
}

/// The instruction of the lowest rank for `types`; null if there is none.
static const Instruction *findInstruction(const TypeCombination &types,
                                          Path path, bool isEmitted) {
  const Instruction *best = nullptr;
  for (const Instruction &candidate : getInstructions())
    if (candidate.path == path && candidate.getTypeCombination() == types &&
        candidate.isEmitted() == isEmitted &&
        (!best || candidate.rank < best->rank))
      best = &candidate;
  return best;
}

namespace {
/// A path that multiplies operands that a kernel in front has dequantized.
struct DequantizedRow {
  Path path;
  TypeCombination types;
};
} // namespace

static constexpr DequantizedRow kDequantizedRows[] = {
    {Path::Wgmma, {Format::BF16, Format::BF16, Format::None, 1}}};

/// Whether the combination is a legal one of `sparse_mma_scaled`.
static bool isLegalSparse(const TypeCombination &types) {
  std::vector<unsigned> sizes =
      getLegalSparseBlockSizes(types.lhs, types.rhs, types.scale);
  return types.sparsity &&
         std::find(sizes.begin(), sizes.end(), types.blockSize) != sizes.end();
}

std::optional<InstructionChoice>
blockscale::chooseInstruction(const TypeCombination &types, Path path) {
  for (const DequantizedRow &decoded : kDequantizedRows)
    if (decoded.path == path && (isLegal(types) || isLegalSparse(types))) {
      TypeCombination values = decoded.types;
      values.sparsity = types.sparsity;
      return chooseInstruction(values, path);
    }
  if (const Instruction *emitted = findInstruction(types, path, true))
    return InstructionChoice{emitted, emitted};
  const Instruction *wanted = findInstruction(types, path, false);
  if (!wanted || wanted->rewrite == Rewrite::None)
    return std::nullopt;
  TypeCombination part = types;
  part.blockSize *= getRewriteInfo(wanted->rewrite).blocks;
  const Instruction *emitted = findInstruction(part, path, true);
  if (!emitted)
    return std::nullopt;
  return InstructionChoice{wanted, emitted};
}

static std::optional<InstructionChoice>
chooseInstruction(const TypeCombination &types, const Chip &chip,
                  bool mustBeNative) {
  for (Path path : chip.paths)
    if (std::optional<InstructionChoice> choice =
            blockscale::chooseInstruction(types, path))
      if (choice->emitted->isOn(chip) &&
          (choice->emitted->isNative() || !mustBeNative))
        return choice;
  return std::nullopt;
}

std::optional<InstructionChoice>
blockscale::chooseInstruction(const TypeCombination &types, const Chip &chip) {
  return ::chooseInstruction(types, chip, /*mustBeNative=*/false);
}

std::optional<InstructionChoice>
blockscale::chooseNative(const TypeCombination &types, const Chip &chip) {
  return ::chooseInstruction(types, chip, /*mustBeNative=*/true);
}

std::optional<Rewrite> blockscale::getRewrite(const TypeCombination &types,
                                              const Instruction &instruction) {
  if (instruction.getTypeCombination() == types)
    return Rewrite::None;
  std::optional<InstructionChoice> choice =
      chooseInstruction(types, instruction.path);
  if (!choice || choice->emitted != &instruction)
    return std::nullopt;
  return choice->getRewrite();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
struct KindInfo {
  std::string_view name;
  bool hasContainers;
  unsigned nibbleShift;
};
} // namespace

static const KindInfo &getKindInfo(Kind kind) {
  static constexpr KindInfo rows[kNumKinds] = {
      {"mxf8f6f4", true, 2}, {"mxf4", false, 0},        {"mxf4nvf4", false, 0},
      {"bf16", true, 0},     {"bf16_packed", false, 0}, {"unscaled", false, 0},
      {"fp8", false, 0}};
  return rows[static_cast<unsigned>(kind)];
}

std::string_view blockscale::stringifyKind(Kind kind) {
  return getKindInfo(kind).name;
}

bool blockscale::hasContainers(Kind kind) {
  return getKindInfo(kind).hasContainers;
}

unsigned blockscale::getNibbleShift(Kind kind) {
  return getKindInfo(kind).nibbleShift;
}

namespace {
/// The qualifier of opcodes for scales along K.
struct ScaleQualifier {
  std::string_view opcode, sparseOpcode;
  std::string_view before;
  unsigned (*getNumber)(const Instruction &instruction);
  std::string_view after;
};
} // namespace

static unsigned getScaleVec(const Instruction &instruction) {
  return instruction.scaleVec;
}

/// PTX counts the kept elements of a block.
static unsigned getKeptOfBlock(const Instruction &instruction) {
  return static_cast<unsigned>(
      getKeptElements(instruction.blockSize, instruction.sparsity));
}

/// Of sparse operands that are dequantized; opcodes of dense ones are in the
/// table of paths.
static constexpr std::pair<Path, std::string_view> kSparseOpcodes[] = {
    {Path::DequantMma, "mma.sp.m16n8k32.f32.bf16.bf16.f32"},
    {Path::Wgmma, "wgmma.mma_async.sp"}};

std::string blockscale::getOpcode(const Instruction &instruction) {
  static constexpr ScaleQualifier qualifiers[] = {
      {"mma.sync", "mma.sp", ".scale_vec::", getScaleVec, "X"},
      {"tcgen05.mma", "tcgen05.mma.sp", ".block", getKeptOfBlock, ""}};
  std::string opcode(getPathInfo(instruction.path).opcode);
  if (!instruction.isNative()) {
    for (auto [path, sparseOpcode] : kSparseOpcodes)
      if (instruction.isSparse() && path == instruction.path)
        opcode = sparseOpcode;
    return opcode;
  }
  const ScaleQualifier &qualifier = *std::find_if(
      std::begin(qualifiers), std::end(qualifiers),
      [&](const ScaleQualifier &row) { return row.opcode == opcode; });
  return std::string(instruction.isSparse() ? qualifier.sparseOpcode
                                            : qualifier.opcode) +
         ".kind::" + std::string(stringifyKind(instruction.kind)) +
         ".block_scale" + std::string(qualifier.before) +
         std::to_string(qualifier.getNumber(instruction)) +
         std::string(qualifier.after);
}
