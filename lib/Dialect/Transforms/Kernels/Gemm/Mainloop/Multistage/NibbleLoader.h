//===- NibbleLoader.h - fp4 that is contiguous along rows -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transposing loader: fp4 is contiguous along M or N in memory, but the
// instruction takes it along K.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_NIBBLELOADER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_NIBBLELOADER_H

#include "Kernels/Gemm/Mainloop/Multistage/OperandAccess.h"
#include "Kernels/Gemm/Mainloop/Multistage/ThreadRounds.h"

namespace mlir::blockscale {

/// Blocks of 8 x 8 fp4 elements, read along rows, transposed in registers, and
/// stored along K.
class NibbleLoader final : public TileLoader {
public:
  NibbleLoader(SharedTile tile, const KernelOperand &operand,
               const TileExtent &extent)
      : TileLoader(std::move(tile), operand), extent(extent) {}

  bool isAsync() const override { return false; }
  void emit(OpBuilder &builder, const FillContext &context, Value memory,
            const FillSource &source) const override;

private:
  /// The block that a thread takes.
  struct Block {
    /// Its first element in the operand.
    ElementPosition start;
    /// The line and the chunk of the tile, and the byte in the chunk, that its
    /// first u32 is stored to; u32 i is stored to line `line xor i`.
    Value line, chunk, inChunk;
    /// The row that is stored first.
    Value turn;
  };

  Block getBlock(OpBuilder &b, const FillContext &context,
                 const FillSource &source, Value round) const;
  void emitBlock(OpBuilder &b, const FillContext &context, Value memory,
                 const FillSource &source, Value round) const;
  void storeRows(OpBuilder &b, Location loc, Value memory,
                 ArrayRef<Value> words, Value line, Value byte) const;

  TileExtent extent;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_NIBBLELOADER_H
