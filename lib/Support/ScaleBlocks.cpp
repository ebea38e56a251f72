//===- ScaleBlocks.cpp - Blocks of elements that share a scale ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/ScaleBlocks.h"
#include "blockscale/Support/InstructionTable.h"

#include <algorithm>

using namespace mlir::blockscale;

static constexpr int64_t kAll = ScaleBlock::kAll;

namespace {
/// The blocks that scales of one type have.
struct ScaleBlockRow {
  std::string_view scaleType;
  /// The format of the elements; None for any.
  Format element;
  std::vector<int64_t> rows, ks;
};
} // namespace

const std::vector<int64_t> &mlir::blockscale::getScaleBlockRows() {
  static const std::vector<int64_t> rows = {1, 128, kAll};
  return rows;
}

const std::vector<int64_t> &mlir::blockscale::getScaleBlockKs() {
  static const std::vector<int64_t> ks = {16, 32, 64, 128, kAll};
  return ks;
}

static const std::vector<ScaleBlockRow> &getTable() {
  static const std::vector<ScaleBlockRow> table = {
      {"f32", Format::None, getScaleBlockRows(), getScaleBlockKs()},
      {"f8E8M0FNU", Format::None, getScaleBlockRows(), {32, 64, 128, kAll}},
      {"f8E8M0FNU", Format::E2M1, {1}, {16}},
      {"f8E4M3FN", Format::E2M1, {1}, {16}},
  };
  return table;
}

int64_t mlir::blockscale::getFinerBlock(int64_t block, int64_t other) {
  if (block == kAll || other == kAll)
    return std::max(block, other);
  return std::min(block, other);
}

std::string mlir::blockscale::stringifyBlockSize(int64_t size) {
  return size == kAll ? "all" : std::to_string(size);
}

std::string
mlir::blockscale::listBlockSizes(const std::vector<int64_t> &sizes) {
  std::string list;
  for (size_t i = 0; i != sizes.size(); ++i) {
    if (i != 0)
      list += i + 1 == sizes.size() ? " or " : ", ";
    list += stringifyBlockSize(sizes[i]);
  }
  return list;
}

std::string mlir::blockscale::stringifyScaleBlock(const ScaleBlock &block) {
  return "<rows = " + stringifyBlockSize(block.rows) +
         ", k = " + stringifyBlockSize(block.k) + ">";
}

std::vector<ScaleBlock>
mlir::blockscale::getLegalScaleBlocks(Format element,
                                      std::string_view scaleType) {
  std::vector<ScaleBlock> blocks;
  for (const ScaleBlockRow &row : getTable()) {
    if (row.scaleType != scaleType ||
        (row.element != Format::None && row.element != element))
      continue;
    for (int64_t rows : row.rows)
      for (int64_t k : row.ks)
        blocks.push_back({rows, k});
  }
  return blocks;
}

bool mlir::blockscale::isBlockOfInstructions(const ScaleBlock &block,
                                             Format element,
                                             std::string_view scaleType) {
  std::optional<Format> scale = lookupScaleFormat(scaleType);
  const std::vector<TypeCombination> &rows = getTypeCombinations();
  return scale && block.rows == 1 &&
         std::any_of(rows.begin(), rows.end(), [&](const TypeCombination &row) {
           return row.lhs == element && row.scale == *scale &&
                  row.blockSize == block.k;
         });
}
