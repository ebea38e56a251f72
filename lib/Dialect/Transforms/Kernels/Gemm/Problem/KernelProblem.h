//===- KernelProblem.h - What a kernel computes -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The problem of a GEMM kernel: operands and their layouts, sizes, fused ops,
// and instruction and schedule. Kernels are emitted from this alone; they do
// not see the op. The shape of a launch is here, too.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_KERNELPROBLEM_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_KERNELPROBLEM_H

#include "Kernels/Gemm/Problem/GemmOperand.h"
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

/// An operand of a product in a kernel: a matrix of rows (M of x, N of y)
/// by columns (K, or blocks of K for scales).
struct KernelOperand {
  /// The parameter of the kernel that holds it, a memref of bytes. Unused for a
  /// splat.
  unsigned argument;
  /// (batch, row, column) -> position in the memref; see StoredView.
  AffineMap map;
  unsigned bits;
  Contiguity contiguity;
  /// Numbers that divide the sizes, which may be dynamic: `rows` or `columns`
  /// itself where that is not. Where lines of memory are padded, the one along
  /// lines divides those: see getLineAlignment.
  int64_t rowMultiple;
  int64_t columnMultiple;
  /// Whether the batch may turn out to be 1 when that of the result is not.
  bool mayBroadcast;
  /// Whether its memory is an argument's or the workspace's: of constants,
  /// which are data of the kernel's module, there are no tensor maps.
  bool hasOwnMemory = true;
  /// The code of all elements, where it is known.
  std::optional<uint8_t> splat;

  /// A number of bytes that the strides of the memref are multiples of, but for
  /// the innermost.
  int64_t getStrideAlignment() const;
};

/// Values that a kernel takes beside operands, and the parameters that hold
/// them: memrefs or scalars.
using FusedArguments = SmallVector<std::pair<Value, unsigned>>;

/// The number of the parameter that holds `value`, one of `arguments`.
inline unsigned getArgumentOf(const FusedArguments &arguments, Value value) {
  return llvm::find_if(arguments, [&](auto of) { return of.first == value; })
      ->second;
}

/// An elementwise op that the kernel takes over.
struct FusedElementwise {
  linalg::GenericOp op;
  /// What its body takes, from operands or from around it.
  FusedArguments arguments;
  /// The operand that is the result of the product, for a consumer.
  Value product;

  /// The number of the parameter that holds `value`, one of `arguments`.
  unsigned getArgument(Value value) const {
    return getArgumentOf(arguments, value);
  }
};

/// A scalar that the kernel computes itself.
struct FusedScalar {
  Value value;
  /// What it is computed from.
  FusedArguments arguments;
};

/// A `quantize` of the result that the kernel takes over. The parameters for
/// scales and for the largest magnitude follow the one for codes.
struct FusedQuantize {
  QuantizeOp op;
  /// Bits of a code in memory.
  unsigned elementBits;
  /// What the tensor scale is computed from.
  FusedArguments arguments;

  unsigned getArgument(Value value) const {
    return getArgumentOf(arguments, value);
  }
  unsigned getNumResults() const { return op->getNumResults(); }
};

/// What becomes of a quantized operand whose instruction takes bf16 values.
enum class OperandTransform {
  None,
  /// A kernel in front writes bf16 values to memory.
  DequantizedInFront,
  /// The mainloop makes bf16 values in registers.
  DequantizedInRegisters,
};

/// Those of x and of y.
struct OperandTransforms {
  OperandTransform x = OperandTransform::None, y = OperandTransform::None;

  /// Whether y is dequantized in registers beside an x that is not: mixed
  /// input.
  bool isMixedInput() const {
    return y == OperandTransform::DequantizedInRegisters &&
           x != OperandTransform::DequantizedInRegisters;
  }
};

/// One product as a kernel computes it. Sizes may be dynamic.
struct KernelProblem {
  TypeCombination types;
  /// Of rank 2 or 3.
  RankedTensorType resultType;
  /// Whether operands may have a batch.
  bool hasBatch = false;
  /// Into how many parts K is divided, if it has as many (SplitKProblem.h): the
  /// result then has a matrix for each part of each matrix of the batch, those
  /// of one part after those of the other.
  int64_t splitK = 1;
  int64_t m, n, k;
  /// x is A. High-precision values of x beside a quantized y have a splat for
  /// scale factors.
  PerOperand<KernelOperand> operands;
  /// The parameter that holds the accumulator; none if that is zero.
  std::optional<unsigned> acc;
  /// Where codes of y are converted on the way, to numbers as x has them by
  /// now: what the product was. Its scales are SFB, and there is a second
  /// result, behind the first: words for each block, not 0 if some number is
  /// not what it should be.
  std::optional<TypeCombination> quantizedB;
  /// Beside numbers of x, what codes of y times scales are multiplied by.
  std::optional<FusedScalar> tensorScale;
  /// What makes the accumulator instead, and what is made of the result.
  std::optional<FusedElementwise> producer, consumer;
  /// What becomes of that.
  std::optional<FusedQuantize> quantizer;
  /// Parameters that hold words: only if one of them is not 0, the result is
  /// computed.
  SmallVector<unsigned, 2> skipConditions;
  /// The parameter for the result.
  unsigned result;
  /// Whether bulk copies can make padded codes of packed ones.
  bool hasPaddedCopies = true;
  /// Null on a path without instructions, and without schedules.
  InstructionAttr instruction;
  ScheduleInterface schedule;

  /// Whether a size is known, and a multiple of `unit`.
  static bool isMultiple(int64_t size, int64_t unit) {
    return !ShapedType::isDynamic(size) && size % unit == 0;
  }

  /// Whether operands have scales; there are no scale factors if not.
  bool hasScales() const { return types.scale != Format::None; }

  /// Whether x is numbers beside a y with scales.
  bool hasHighPrecisionX() const {
    return getFormatInfo(types.lhs).use == FormatUse::HighPrecision;
  }

  /// Whether x is one row of quantized elements that the mainloop dequantizes
  /// in registers, too. All its values are exact, and there are no flags.
  bool isGemv() const {
    return quantizedB && schedule &&
           schedule.getKernelKind() == KernelKind::Gemv;
  }

  /// Whether the instruction takes operands that were dequantized before.
  bool isDequantized() const {
    return hasScales() && instruction && !instruction.hasScales();
  }

  /// The parameter for words of each block, behind those for the result.
  unsigned getInexactFlags() const {
    return result + (quantizer ? quantizer->getNumResults() : 1);
  }
  unsigned getNumResults() const {
    return getInexactFlags() - result + (quantizedB && !isGemv() ? 1 : 0);
  }

  KernelOperand &operator[](GemmOperand operand) { return operands[operand]; }
  const KernelOperand &operator[](GemmOperand operand) const {
    return operands[operand];
  }

  /// Whether the kernel reads an operand.
  bool reads(GemmOperand operand) const {
    if (!getInfo(operand).isScale)
      return true;
    if (quantizedB && !isGemv())
      return operand == GemmOperand::SFB;
    return hasScales() || isGemv();
  }
};

/// The sizes of a problem, as values.
struct ProblemSizes {
  /// Reads those that are dynamic off the parameters of `kernel`.
  ProblemSizes(OpBuilder &builder, gpu::GPUFuncOp kernel,
               const KernelProblem &problem);

  Value m, n, k;
  /// K divided by the size of a block.
  Value blocks;
};

/// The index of the matrix of `operand` for the matrix `batch` of the result.
Value getOperandBatch(OpBuilder &builder, gpu::GPUFuncOp kernel,
                      const KernelOperand &operand, Value batch);

/// Which blocks a grid has.
enum class BlockOrder {
  Grid,       // one for each tile: M along x, N along y, the batch along z
  Linear,     // one for each tile, all along x
  Persistent, // the same, but not more than there are SMs
};

/// What one block of a kernel takes of M, N and the batch, and how it is
/// launched.
struct KernelShape {
  std::array<int64_t, 3> tile;
  SmallVector<int64_t, 3> threads;
  /// Dynamic shared memory, in bytes.
  int64_t shared = 0;
  BlockOrder order = BlockOrder::Grid;
  /// Blocks of a cluster, which computes neighboring tiles: not with a grid.
  ClusterSize cluster = {};
  /// Tensor maps, which are the last parameters of the kernel, and the numbers
  /// of the parameters that they are of.
  SmallVector<Attribute> maps = {};
  SmallVector<int64_t> mapped = {};
  /// Words of a second result that each block has.
  int64_t inexactFlags = 0;
};

/// What adds the sums of parts of K: parameter 0 holds them, the others are
/// those of `problem`.
KernelShape getSplitKReductionShape();
void buildSplitKReduction(gpu::GPUFuncOp kernel, const KernelProblem &problem);

/// A `swizzle_scales` as a kernel computes it, on bytes: parameter 0 holds the
/// row-major scales, parameter 1 is for the result. Rows are M of its shape,
/// columns N.
KernelShape getSwizzleKernelShape();
void buildSwizzleKernel(gpu::GPUFuncOp kernel);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_KERNELPROBLEM_H
