//===- WarpgroupProducts.h - Instructions of wgmma --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_WARPGROUPPRODUCTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_WARPGROUPPRODUCTS_H

#include "Utils/AccFragment.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::blockscale {

/// The registers of a lane for A, if A is not in shared memory.
inline constexpr size_t kRegistersOfA = 4;

/// Emits an instruction `text` that reads and writes all of `sums`, its first
/// operands, and reads `others`, the next ones: registers and descriptors.
SmallVector<Value> emitOnSums(OpBuilder &b, Location loc,
                              const std::string &text, ValueRange sums,
                              ValueRange others);

/// The text of an instruction, such as
/// "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, ...}, $4, $5, p,
/// 1, 1, 0, 0;", with a predicate; `transposes` are the last operands. With a
/// sparse A, metadata follows the descriptor of B, and `selector` says which
/// lanes have it. `scaleD` is the number of an operand that is 0 where sums are
/// to be replaced.
std::string getProductText(InstructionAttr row, size_t numSums,
                           bool isAInRegisters, StringRef transposes,
                           unsigned selector = 0,
                           std::optional<size_t> scaleD = std::nullopt);

/// The offset in bytes, in `tile`, of step `step` of `k` elements along K, of
/// so many bytes each.
int64_t getStepOffset(MemRefType tile, TileLayoutAttr layout, int64_t step,
                      int64_t k, int64_t elementBytes);

/// For each row of a lane, the 32-bit registers with its quarter of a chunk of
/// quantized elements.
using ChunkWords = std::array<SmallVector<Value>, kRowsOfLane>;

/// Loads all chunks of `elements`, chunks x rows x 64 bytes; rows are columns
/// of `acc`.
SmallVector<ChunkWords> loadChunks(OpBuilder &b, Location loc,
                                   TypedValue<MemRefType> elements, AccType acc,
                                   Value lane);

/// The patterns of warpgroup_mma_mixed and acc_transpose, and of
/// warpgroup_mma_gemv and acc_total.
void populateWarpgroupMixedPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns, Value lane);
void populateWarpgroupGemvPatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns, Value lane);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_WARPGROUPPRODUCTS_H
