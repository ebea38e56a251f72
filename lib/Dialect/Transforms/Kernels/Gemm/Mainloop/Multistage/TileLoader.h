//===- TileLoader.h - From global to shared memory --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of loaders, which bring a tile of an operand to shared memory.
// How the operand is stored decides which loader it gets; each is a class in a
// file of its own.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_TILELOADER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_TILELOADER_H

#include "Kernels/Gemm/Mainloop/Multistage/SharedTile.h"
#include <memory>

namespace mlir::blockscale {

/// Bytes of a register.
inline constexpr int64_t kWordBytes = 4;

/// What all loaders of a kernel share: parameters, thread index, bounds.
struct FillContext {
  Location loc;
  /// The parameters of the kernel, as memrefs.
  function_ref<Value(unsigned)> getArgument;
  int64_t numThreads;
  Value thread;
  /// Whether tiles may reach beyond the operands.
  bool isGuarded;
};

/// The source of a tile: its operand.
struct FillSource {
  /// The index of its matrix in a batch.
  Value batch;
  Value rows, columns;
  /// The row, and the step along K, where the tile starts.
  Value origin, step;
  /// The rows of the operand that those of the tile are, i32 in shared memory;
  /// null if they follow each other.
  Value gathered = {};
};

class TileLoader {
public:
  TileLoader(SharedTile tile, const KernelOperand &operand)
      : operand(&operand), tile(std::move(tile)) {}
  virtual ~TileLoader() = default;

  const SharedTile &getTile() const { return tile; }

  /// Whether it only starts cp.async, which a StageSync waits for.
  virtual bool isAsync() const = 0;

  /// The element type of `memory`: bytes, or the 16-bit type of the operand.
  virtual Type getElementType(const FillContext &context) const {
    return IntegerType::get(context.loc.getContext(), 8);
  }

  /// Copies a tile of `source` to `memory`, with zeros for everything outside
  /// of the operand.
  virtual void emit(OpBuilder &builder, const FillContext &context,
                    Value memory, const FillSource &source) const = 0;

protected:
  const KernelOperand *operand;

private:
  SharedTile tile;
};

using LoaderPtr = std::unique_ptr<TileLoader>;

/// Elements as they are, by cp.async.
struct CopyPieces {
  /// Of one copy.
  int64_t bytes;
  /// Bytes of elements in 16 bytes of shared memory; the rest is padding.
  int64_t chunkBytes;
};

/// A tile of elements. Without `pieces`, they are read one by one, and stored
/// four bytes at once; those of `narrow`, if it is given, widened to e4m3.
LoaderPtr makeElementLoader(SharedTile tile, const KernelOperand &operand,
                            const TileExtent &extent,
                            std::optional<CopyPieces> pieces,
                            std::optional<Format> narrow = std::nullopt);

/// fp4 that is contiguous along M or N, for an instruction that takes it along
/// K: blocks of 8 x 8 elements are transposed in registers.
LoaderPtr makeNibbleLoader(SharedTile tile, const KernelOperand &operand,
                           const TileExtent &extent);

/// Whether elements of `operand` can be read 16 at a time.
bool canPack(const KernelOperand &operand);
/// fp6 with a byte for each element in memory, for an instruction that takes it
/// packed: 16 elements along K become 12 bytes of 16, see Storage::Padded.
LoaderPtr makePackLoader(const KernelOperand &operand, const TileExtent &extent,
                         Slot slot);

/// Scales, to rows with all scales of a row: `pieceBytes` at once or, if they
/// cannot be copied, gathered one by one.
LoaderPtr makeScaleRowLoader(SharedTile tile, const KernelOperand &operand,
                             int64_t rows, int64_t pieceBytes, bool isAsync);

/// Scales from the 32x4x4 layout, `scales` along K, to u32 of rows that are 32
/// apart.
LoaderPtr makeScaleAtomLoader(SharedTile tile, const KernelOperand &operand,
                              int64_t scales);

/// Loads the metadata of a sparse A: by cp.async of `pieceBytes` bytes, or with
/// loads of single bytes, a word at a time.
LoaderPtr makeMetadataLoader(SharedTile tile, const KernelOperand &operand,
                             int64_t pieceBytes, bool isAsync);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_TILELOADER_H
