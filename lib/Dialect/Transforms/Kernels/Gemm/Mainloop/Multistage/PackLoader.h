//===- PackLoader.h - fp6 in bytes, packed while loading --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A packing loader: memory has a byte for each fp6 element, but the instruction
// takes them packed.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_PACKLOADER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_PACKLOADER_H

#include "Kernels/Gemm/Mainloop/Multistage/OperandAccess.h"
#include "Kernels/Gemm/Mainloop/Multistage/ThreadRounds.h"

namespace mlir::blockscale {

/// 16 elements along K at a time, which become 12 bytes of 16, see
/// Storage::Padded.
class PackLoader final : public TileLoader {
public:
  /// Whether elements of `operand` can be read 16 at a time.
  static bool canRead(const KernelOperand &operand);

  PackLoader(const KernelOperand &operand, const TileExtent &extent, Slot slot);

  bool isAsync() const override { return false; }
  void emit(OpBuilder &builder, const FillContext &context, Value memory,
            const FillSource &source) const override;

private:
  void emitChunks(OpBuilder &b, const FillContext &context, Value memory,
                  const FillSource &source, const Piece &piece) const;

  TileExtent extent;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_PACKLOADER_H
