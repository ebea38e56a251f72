//===- SupportMatrix.cpp - What is supported where ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the legal type combinations and what computes each, from the tables of
// the compiler.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/SupportMatrix.h"

#include "blockscale/Support/InstructionTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
struct Support {
  std::string_view status;
  std::string instruction = "-";
  std::string ptx = "-";
};
} // namespace

static Support getSupport(const TypeCombination &types, const Chip &chip) {
  if (!isLegal(types))
    return {"illegal"};
  if (chip.isCpu())
    return {"plain", "loops"};

  std::optional<InstructionChoice> choice = chooseInstruction(types, chip);
  if (!choice)
    return {"plain", "one thread per result", formatPtxVersion(chip.lowestPtx)};
  std::string ptx = formatPtxVersion(getLowestPtx(*choice->emitted, chip));
  if (choice->getRewrite() != Rewrite::None)
    return {"rewritten", std::string(describeRewrite(choice->getRewrite())),
            ptx};
  std::string text = getOpcode(*choice->emitted);
  if (choice->emitted->isNative())
    return {"native", text, ptx};
  return {"converted", text, ptx};
}

/// The same for a sparse product whose types some block-scaled instruction has.
/// Without one on the chip, it is what large products become: one instruction
/// takes dequantized elements and metadata, or x is decompressed for a dense
/// product of B or B / 2.
static Support getSparseSupport(const TypeCombination &types,
                                const Chip &chip) {
  TypeCombination dense = {types.lhs, types.rhs, types.scale, types.blockSize};
  if (!isLegal(dense))
    dense.blockSize /= 2;
  if (chip.isCpu())
    return getSupport(dense, chip);
  if (std::optional<InstructionChoice> choice = chooseNative(types, chip)) {
    bool isRewritten = choice->getRewrite() != Rewrite::None;
    return {isRewritten ? "rewritten" : "native",
            isRewritten ? std::string(describeRewrite(choice->getRewrite()))
                        : getOpcode(*choice->emitted),
            formatPtxVersion(getLowestPtx(*choice->emitted, chip))};
  }
  if (getPathInfo(chip.paths.front()).dequantization != Dequantization::None) {
    const Instruction &kept = *chooseInstruction(types, chip)->emitted;
    return {"converted", getOpcode(kept),
            formatPtxVersion(getLowestPtx(kept, chip))};
  }
  Support support = getSupport(dense, chip);
  support.status = "decompressed";
  return support;
}

/// The types of sparse products that some block-scaled instruction computes.
static std::vector<TypeCombination> getSparseCombinations() {
  std::vector<TypeCombination> result;
  for (const Instruction &instruction : getInstructions())
    if (instruction.isSparse() && instruction.isNative() &&
        !llvm::is_contained(result, instruction.getTypeCombination()))
      result.push_back(instruction.getTypeCombination());
  return result;
}

static void printLine(raw_ostream &os, ArrayRef<std::string> cells) {
  static constexpr unsigned widths[] = {8, 10, 10, 11, 3, 10, 5};
  std::string line;
  for (auto [cell, width] : llvm::zip(cells.drop_back(), widths))
    line += cell +
            std::string(std::max<size_t>(width, cell.size() + 1) - cell.size(),
                        ' ');
  os << line << cells.back() << "\n";
}

void blockscale::printSupportMatrix(raw_ostream &os, const Chip *chip) {
  auto name = [](Format format) {
    return std::string(getFormatInfo(format).mlirName);
  };

  printLine(os, {"target", "lhs", "rhs", "scale", "B", "support", "PTX",
                 "instruction"});
  for (const Chip &candidate : getChips()) {
    if (chip && chip != &candidate)
      continue;
    for (Format lhs : getFormats(/*areScales=*/false))
      for (Format rhs : getFormats(/*areScales=*/false))
        for (Format scale : getFormats(/*areScales=*/true))
          for (unsigned block : getBlockSizes()) {
            Support support = getSupport({lhs, rhs, scale, block}, candidate);
            printLine(os, {std::string(candidate.name), name(lhs), name(rhs),
                           name(scale), std::to_string(block),
                           std::string(support.status), support.ptx,
                           support.instruction});
          }
    for (const TypeCombination &types : getSparseCombinations()) {
      Support support = getSparseSupport(types, candidate);
      printLine(os,
                {std::string(candidate.name),
                 name(types.lhs) + "/" +
                     std::string(getGranularityInfo(*types.sparsity).name),
                 name(types.rhs), name(types.scale),
                 std::to_string(types.blockSize), std::string(support.status),
                 support.ptx, support.instruction});
    }
  }
}
