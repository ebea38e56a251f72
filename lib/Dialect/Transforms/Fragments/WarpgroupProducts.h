//===- WarpgroupProducts.h - Instructions of wgmma --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What products of tiles and products of codes have in common.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_WARPGROUPPRODUCTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_WARPGROUPPRODUCTS_H

#include "Utils/AccFragment.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::blockscale {

/// Registers of a lane with A, where it does not come from shared memory.
inline constexpr size_t kRegistersOfA = 4;

/// An instruction `text` that reads and writes all of `sums`, its first
/// operands, and reads `others`, the next ones: words and descriptors.
SmallVector<Value> emitOnSums(OpBuilder &b, Location loc,
                              const std::string &text, ValueRange sums,
                              ValueRange others);

/// Such as "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, ...},
/// $4, $5, p, 1, 1, 0, 0;", with a predicate; `transposes` are the last
/// operands.
std::string getProductText(InstructionAttr row, size_t numSums,
                           bool isAInRegisters, StringRef transposes);

/// Where the instruction number `step` along K starts in `tile`, in bytes.
int64_t getStepOffset(MemRefType tile, TileLayoutAttr layout, int64_t step,
                      int64_t k);

/// For each row of a lane, words of codes of a box: its quarter.
using BoxWords = std::array<SmallVector<Value>, kRowsOfLane>;

/// The words of all boxes, boxes x rows x 64 bytes; rows are columns of `acc`.
SmallVector<BoxWords> loadBoxes(OpBuilder &b, Location loc,
                                TypedValue<MemRefType> codes, AccType acc,
                                Value lane);

/// The pattern of warpgroup_mma_mixed; those of warpgroup_mma_gemv and of
/// acc_total.
void populateWarpgroupMixedPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns, Value lane);
void populateWarpgroupGemvPatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns, Value lane);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_WARPGROUPPRODUCTS_H
