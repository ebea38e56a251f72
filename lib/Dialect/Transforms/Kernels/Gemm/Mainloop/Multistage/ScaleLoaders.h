//===- ScaleLoaders.h - Tiles of scale factors ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two loaders of scale factors, which lay them out in the order of lanes: one
// keeps all scales of a row together, the other one copies u32 of four scales
// out of the 32x4x4 layout.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_SCALELOADERS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_SCALELOADERS_H

#include "Kernels/Gemm/Mainloop/Multistage/OperandAccess.h"
#include "Kernels/Gemm/Mainloop/Multistage/ThreadRounds.h"

namespace mlir::blockscale {

/// To lines with all scales of a row: `pieceBytes` at once or, if they cannot
/// be copied, gathered one by one.
class ScaleRowLoader final : public TileLoader {
public:
  ScaleRowLoader(SharedTile tile, const KernelOperand &operand, int64_t rows,
                 int64_t pieceBytes, bool isAsync)
      : TileLoader(std::move(tile), operand), rows(rows),
        pieceBytes(pieceBytes), hasPieces(isAsync) {}

  bool isAsync() const override { return hasPieces; }
  void emit(OpBuilder &builder, const FillContext &context, Value memory,
            const FillSource &source) const override;

private:
  void emitPiece(OpBuilder &b, const FillContext &context, Value memory,
                 const FillSource &source, const Piece &piece) const;

  int64_t rows;
  int64_t pieceBytes;
  bool hasPieces;
};

/// From the 32x4x4 layout, to u32 of rows that are 32 apart.
class ScaleAtomLoader final : public TileLoader {
public:
  ScaleAtomLoader(SharedTile tile, const KernelOperand &operand, int64_t scales)
      : TileLoader(std::move(tile), operand), scales(scales) {}

  bool isAsync() const override { return true; }
  void emit(OpBuilder &builder, const FillContext &context, Value memory,
            const FillSource &source) const override;

private:
  void emitPiece(OpBuilder &b, const FillContext &context, Value memory,
                 const FillSource &source, Round round) const;

  /// Along K.
  int64_t scales;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_SCALELOADERS_H
