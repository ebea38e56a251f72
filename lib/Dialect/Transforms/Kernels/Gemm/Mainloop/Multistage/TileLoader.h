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

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_TILELOADER_H
