//===- InstructionTable.cpp - Legal rows and instructions -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/InstructionTable.h"

#include <algorithm>
#include <set>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Op rows
//===----------------------------------------------------------------------===//

const std::vector<OpRow> &blockscale::getOpRows() {
  static const std::vector<OpRow> rows = [] {
    std::vector<OpRow> result;
    for (Format lhs : getFormats(/*areScales=*/false))
      for (Format rhs : getFormats(/*areScales=*/false))
        result.push_back({lhs, rhs, Format::UE8M0, 32});
    result.push_back({Format::E2M1, Format::E2M1, Format::UE8M0, 16});
    result.push_back({Format::E2M1, Format::E2M1, Format::UE4M3, 16});
    return result;
  }();
  return rows;
}

bool blockscale::isLegal(const OpRow &row) {
  const std::vector<OpRow> &rows = getOpRows();
  return std::find(rows.begin(), rows.end(), row) != rows.end();
}

std::vector<unsigned> blockscale::getLegalBlockSizes(Format lhs, Format rhs,
                                                     Format scale) {
  std::vector<unsigned> sizes;
  for (const OpRow &row : getOpRows())
    if (row == OpRow{lhs, rhs, scale, row.blockSize})
      sizes.push_back(row.blockSize);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

std::vector<unsigned> blockscale::getBlockSizes() {
  std::set<unsigned> sizes;
  for (const OpRow &row : getOpRows())
    sizes.insert(row.blockSize);
  return {sizes.begin(), sizes.end()};
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {
/// What the rows of one kind and scale vector share. The element types are
/// all pairs for mxf8f6f4 and fp4 twice for the others.
struct InstructionFamily {
  Kind kind;
  unsigned k;
  Format scale;
  unsigned scaleVec;
  unsigned mmaSyncPtx;
  unsigned tcgen05Ptx;
  unsigned rank;
};
} // namespace

// Three instructions compute fp4 x fp4 with ue8m0 scales and blocks of 32.
// mxf4 comes first: it reads packed fp4 and does 64 of K at once, where
// mxf8f6f4 spends a byte per element and does 32. mxf4nvf4 with 2X computes
// the same at the same rate; mxf4 is preferred because 2X is its only form.
static constexpr unsigned kFirst = 0, kSecond = 1, kLast = 2;

// clang-format off
static constexpr InstructionFamily kFamilies[] = {
  // kind          k   scale          vec mma.sync tcgen05 rank
  {Kind::MXF8F6F4, 32, Format::UE8M0, 1,  87,      88,     kLast},
  {Kind::MXF4,     64, Format::UE8M0, 2,  87,      88,     kFirst},
  {Kind::MXF4NVF4, 64, Format::UE8M0, 2,  87,      88,     kSecond},
  {Kind::MXF4NVF4, 64, Format::UE4M3, 4,  87,      88,     kFirst},
  {Kind::MXF4NVF4, 64, Format::UE8M0, 4,  91,      88,     kFirst},
};
// clang-format on

static Instruction makeInstruction(const InstructionFamily &family, Path path,
                                   Format a, Format b) {
  unsigned ptx = path == Path::MmaSync ? family.mmaSyncPtx : family.tcgen05Ptx;
  bool isEmitted = isKnownPtxVersion(ptx);
  return {path,
          family.kind,
          family.k,
          a,
          b,
          family.scale,
          family.scaleVec,
          family.k / family.scaleVec,
          ptx,
          family.rank,
          isEmitted,
          isEmitted ? Rewrite::None : Rewrite::TwoHalfBlocks};
}

const std::vector<Instruction> &blockscale::getInstructions() {
  static const std::vector<Instruction> instructions = [] {
    std::vector<Instruction> result;
    for (Path path : {Path::MmaSync, Path::Tcgen05}) {
      for (const InstructionFamily &family : kFamilies) {
        if (family.kind != Kind::MXF8F6F4) {
          result.push_back(
              makeInstruction(family, path, Format::E2M1, Format::E2M1));
          continue;
        }
        for (Format a : getFormats(/*areScales=*/false))
          for (Format b : getFormats(/*areScales=*/false))
            result.push_back(makeInstruction(family, path, a, b));
      }
    }
    return result;
  }();
  return instructions;
}

const Instruction *blockscale::getPreferredInstruction(const OpRow &row,
                                                       Path path) {
  const Instruction *best = nullptr;
  auto order = [](const Instruction &i) {
    return std::make_pair(!i.isEmitted, i.rank);
  };
  for (const Instruction &candidate : getInstructions())
    if (candidate.path == path && candidate.getOpRow() == row &&
        (!best || order(candidate) < order(*best)))
      best = &candidate;
  return best;
}

const Instruction *blockscale::lookupInstruction(Path path, Kind kind, Format a,
                                                 Format b, Format scale,
                                                 unsigned scaleVec) {
  for (const Instruction &i : getInstructions())
    if (i.path == path && i.kind == kind && i.a == a && i.b == b &&
        i.scale == scale && i.scaleVec == scaleVec)
      return &i;
  return nullptr;
}

const Instruction &
blockscale::getEmittedInstruction(const Instruction &instruction) {
  if (instruction.rewrite == Rewrite::None)
    return instruction;
  return *getPreferredInstruction({instruction.a, instruction.b,
                                   instruction.scale,
                                   2 * instruction.blockSize},
                                  instruction.path);
}

const Instruction &blockscale::getEmittedInstruction(const OpRow &row,
                                                     Path path) {
  return getEmittedInstruction(*getPreferredInstruction(row, path));
}

unsigned blockscale::getLowestPtx(const Instruction &instruction,
                                  const Chip &chip) {
  return std::max(getEmittedInstruction(instruction).lowestPtx, chip.lowestPtx);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string_view blockscale::stringifyKind(Kind kind) {
  static constexpr std::string_view names[] = {"mxf8f6f4", "mxf4", "mxf4nvf4"};
  return names[static_cast<unsigned>(kind)];
}

std::string_view blockscale::describeRewrite(Rewrite rewrite) {
  static constexpr std::string_view texts[] = {
      "", "two mxf4 instructions, each with half of every block of A zeroed"};
  return texts[static_cast<unsigned>(rewrite)];
}

std::string blockscale::getOpcode(const Instruction &instruction) {
  std::string kind =
      ".kind::" + std::string(stringifyKind(instruction.kind)) + ".block_scale";
  if (instruction.path == Path::MmaSync)
    return "mma.sync" + kind +
           ".scale_vec::" + std::to_string(instruction.scaleVec) + "X";
  return "tcgen05.mma" + kind + ".block" +
         std::to_string(instruction.blockSize);
}
