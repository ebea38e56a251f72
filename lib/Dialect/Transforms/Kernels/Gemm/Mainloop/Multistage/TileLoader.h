//===- TileLoader.h - From global to shared memory --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How threads of a block bring a tile of an operand to where it lies. What is
// used is planned from how the operand is stored; each way is a class of its
// own in a file of its own.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_TILELOADER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_TILELOADER_H

#include "Kernels/Gemm/Mainloop/Multistage/SharedTile.h"
#include <memory>

namespace mlir::blockscale {

/// What a register holds.
inline constexpr int64_t kWordBytes = 4;

/// What all loaders of a kernel share.
struct FillContext {
  Location loc;
  /// The parameters of the kernel, as memrefs.
  function_ref<Value(unsigned)> getArgument;
  int64_t numThreads;
  Value thread;
  /// Whether tiles may reach beyond the operands.
  bool isGuarded;
};

/// The operand that a tile is a part of.
struct FillSource {
  /// The number of its matrix in a batch.
  Value batch;
  Value rows, columns;
  /// The row, and the step along K, where the tile starts.
  Value origin, step;
};

class TileLoader {
public:
  explicit TileLoader(SharedTile tile) : tile(std::move(tile)) {}
  virtual ~TileLoader() = default;

  const SharedTile &getTile() const { return tile; }

  /// Whether it only starts copies, which are waited for (`StageSync.h`).
  virtual bool isAsync() const = 0;

  /// What `memory` is to hold: bytes, or the operand's own numbers.
  virtual Type getElementType(const FillContext &context) const {
    return IntegerType::get(context.loc.getContext(), 8);
  }

  /// Copies a tile of `source` to `memory`. What lies outside of the operand
  /// becomes 0.
  virtual void emit(OpBuilder &builder, const FillContext &context,
                    Value memory, const FillSource &source) const = 0;

private:
  SharedTile tile;
};

using LoaderPtr = std::unique_ptr<TileLoader>;

/// How a tile of the elements `operand` of `format` is filled for an
/// instruction of `kind`.
LoaderPtr planElements(const KernelOperand &operand, Format format, Kind kind,
                       const TileExtent &extent);

/// The same for scales of blocks of `blockSize` elements; null where all have
/// one value, which needs no memory.
LoaderPtr planScales(const KernelOperand &operand, int64_t blockSize,
                     const TileExtent &extent);

/// The largest of the sizes of an asynchronous copy (PTX ISA, "cp.async") that
/// divides `bytes` and `alignment`; 0 if there is none.
int64_t getPieceBytes(int64_t bytes, int64_t alignment);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_TILELOADER_H
