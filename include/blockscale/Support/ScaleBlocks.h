//===- ScaleBlocks.h - Blocks of elements that share a scale ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks that one operand of a product may have: a table with a row for
// each type of scales. Operands are independent of each other; the table of
// type combinations in InstructionTable.h, in which they are not, has what
// block-scaled instructions compute.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_SCALEBLOCKS_H
#define BLOCKSCALE_SUPPORT_SCALEBLOCKS_H

#include "blockscale/Support/Formats.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// The rows (of x, along M; columns of y, along N) and the elements along K
/// that share one scale.
struct ScaleBlock {
  /// All rows, or all of K.
  static constexpr int64_t kAll = 0;

  int64_t rows = 1;
  int64_t k = 1;

  bool operator==(const ScaleBlock &other) const {
    return rows == other.rows && k == other.k;
  }
  bool operator!=(const ScaleBlock &other) const { return !(*this == other); }
};

/// The scales of `size` rows or elements in blocks of `block`: rounded up.
inline int64_t getNumScales(int64_t size, int64_t block) {
  return block == ScaleBlock::kAll ? 1 : (size + block - 1) / block;
}

/// The smaller one of two blocks along K. It divides the other one.
int64_t getFinerBlock(int64_t block, int64_t other);

/// All sizes of blocks along one dimension.
const std::vector<int64_t> &getScaleBlockRows();
const std::vector<int64_t> &getScaleBlockKs();

/// "128", or "all".
std::string stringifyBlockSize(int64_t size);

/// "1, 128 or all".
std::string listBlockSizes(const std::vector<int64_t> &sizes);

/// "<rows = 1, k = 128>"
std::string stringifyScaleBlock(const ScaleBlock &block);

/// The blocks of elements of this format with scales of the MLIR type of this
/// name, such as "f32"; empty if there are none.
std::vector<ScaleBlock> getLegalScaleBlocks(Format element,
                                            std::string_view scaleType);

/// Whether a type combination of block-scaled instructions has this block,
/// whose scales have the MLIR type of this name. Such blocks are whole.
bool isBlockOfInstructions(const ScaleBlock &block, Format element,
                           std::string_view scaleType);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_SCALEBLOCKS_H
