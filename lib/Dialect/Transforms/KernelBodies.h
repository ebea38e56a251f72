//===- KernelBodies.h - What kernels compute ------------------ -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELBODIES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELBODIES_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::blockscale {

/// Which index of an operand is contiguous in memory.
enum class Contiguity {
  Rows,    // of one column, one after the other
  Columns, // of one row
  Atoms,   // scales in the 32x4x4 layout
  Other,
};

/// An operand of `mma_scaled` in a kernel: a matrix of rows (M of x, N of y)
/// by columns (K, or blocks of K for scales).
struct KernelOperand {
  /// The parameter of the kernel that holds it, a memref of bytes. Unused for a
  /// splat.
  unsigned argument;
  /// (batch, row, column) -> position in the memref; see StoredView.
  AffineMap map;
  unsigned bits;
  int64_t rows;
  int64_t columns;
  Contiguity contiguity;
  /// A number of bytes that the strides of the memref are multiples of, but for
  /// the innermost.
  int64_t rowAlignment;
  /// The code of all elements, where it is known.
  std::optional<uint8_t> splat;
};

/// An elementwise op that the kernel takes over.
struct FusedElementwise {
  linalg::GenericOp op;
  /// The parameters that hold its inputs, memrefs. That of the product's result
  /// is unused.
  SmallVector<unsigned> arguments;
  /// The input that is the result of the product, for a consumer.
  std::optional<unsigned> product;
};

/// One `mma_scaled` as a kernel computes it. All shapes are static.
struct KernelProblem {
  OpRow row;
  /// Rank 2 or 3.
  RankedTensorType resultType;
  KernelOperand x, xScale, y, yScale;
  /// The parameter that holds the accumulator; none if that is zero.
  std::optional<unsigned> acc;
  /// What makes the accumulator instead, and what is made of the result.
  std::optional<FusedElementwise> producer, consumer;
  /// The parameter for the result.
  unsigned result;
  /// For the path mma_sync.
  ScheduleAttr schedule;

  /// x, its scales, y, its scales.
  const KernelOperand &getOperand(unsigned i) const {
    return *std::array<const KernelOperand *, 4>{&x, &xScale, &y, &yScale}[i];
  }
  int64_t getM() const { return x.rows; }
  int64_t getN() const { return y.rows; }
  int64_t getK() const { return x.columns; }
  int64_t getBatch() const {
    return resultType.getRank() == 3 ? resultType.getDimSize(0) : 1;
  }
};

/// How a kernel is launched.
struct KernelShape {
  SmallVector<int64_t, 3> blocks;
  SmallVector<int64_t, 3> threads;
  /// Dynamic shared memory, in bytes.
  int64_t shared = 0;
};

/// The kernel for `mma.sync`: its shape, and its body, which is filled in at
/// the start of `kernel`. Adds workgroup memory to `kernel`.
KernelShape getMmaKernelShape(const KernelProblem &problem);
void buildMmaKernel(gpu::GPUFuncOp kernel, const KernelProblem &problem);

/// The same for plain arithmetic, one thread per result.
KernelShape getPlainKernelShape(const KernelProblem &problem);
void buildPlainKernel(gpu::GPUFuncOp kernel, const KernelProblem &problem);

/// `swizzle_scales` as a kernel computes it, on bytes.
struct SwizzleProblem {
  /// The parameters for the row-major scales and for the result.
  unsigned argument, result;
  unsigned rank;
  int64_t batch, rows, columns;
};

KernelShape getSwizzleKernelShape(const SwizzleProblem &problem);
void buildSwizzleKernel(gpu::GPUFuncOp kernel, const SwizzleProblem &problem);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELBODIES_H
