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
  Rows,    // the rows of a column are contiguous
  Columns, // the columns of one row are
  Atoms,   // scales in the 32x4x4 layout, or atoms of metadata
  Other,
};

/// An operand of a product in a kernel: a matrix of rows (M of x, N of y)
/// by columns (K, or blocks of K for scales).
struct KernelOperand {
  /// The parameter of the kernel that holds it, a memref of bytes. Unused for a
  /// splat.
  unsigned argument = 0;
  /// (batch, row, column) -> position in the memref; see StoredView.
  AffineMap map;
  unsigned bits = 8;
  Contiguity contiguity = Contiguity::Other;
  /// Divisors of the sizes: a static size itself, or a known divisor of a
  /// dynamic one. If rows of memory are padded, the one along them divides the
  /// padded length: see getStrideAlignment.
  int64_t rowMultiple = 1;
  int64_t columnMultiple = 1;
  /// The parameter that holds the number of rows, an index, if it is dynamic
  /// and the memref has more.
  std::optional<unsigned> rows;
  /// Whether the batch may be 1 when that of the result is not.
  bool mayBroadcast = false;
  /// Whether it is in an argument or in the workspace. Constants are data of
  /// the kernel's module, which no tensor map can describe.
  bool hasOwnMemory = true;
  /// The bit pattern of all elements, for a splat.
  std::optional<uint8_t> splat;

  /// The largest known divisor, in bytes, of all strides of the memref but the
  /// innermost.
  int64_t getStrideAlignment() const;
};

/// Values that a kernel reads beside operands, and the indices of the
/// parameters that hold them: memrefs or scalars.
using FusedArguments = SmallVector<std::pair<Value, unsigned>>;

/// The index of the parameter that holds `value`, one of `arguments`.
inline unsigned getArgumentOf(const FusedArguments &arguments, Value value) {
  return llvm::find_if(arguments, [&](auto of) { return of.first == value; })
      ->second;
}

/// An elementwise op that the kernel fuses.
struct FusedElementwise {
  linalg::GenericOp op;
  /// The inputs of its body: operands and captured scalars.
  FusedArguments arguments;
  /// For a consumer: the operand that is the result of the product.
  Value product;
  /// Whether it reads pairs of columns of that: see findPairConsumer. The
  /// result has half as many columns then.
  bool hasPairs = false;
};

/// A scalar that the kernel computes itself (ScalarSlice.h); null for none.
struct FusedScalar {
  Value value;
  /// The inputs that it is computed from.
  FusedArguments arguments;
};

/// A `quantize` of the result that the epilogue fuses. The parameters for
/// scales and for the largest magnitude follow the one for elements.
struct FusedQuantize {
  QuantizeOp op;
  /// Bits of an element in memory.
  unsigned elementBits;
  FusedScalar tensorScale;
  unsigned getNumResults() const { return op->getNumResults(); }
};

/// Groups of rows of the result, each of which has a matrix of y: see
/// grouped_mma_scaled. Tiles start at the first row of a group.
struct RowGroups {
  /// The parameters: inclusive ends of groups; the rows of x that rows of the
  /// result read; factors of sums; and what is added to them.
  unsigned offsets;
  std::optional<unsigned> rows, scale, bias;
  /// Whether the kernel gathers rows of x; else one in front has, if there are
  /// `rows`.
  bool gathersX = false;
  /// Whether they are columns of the problem, since operands are swapped.
  bool areColumns = false;
};

/// The factors of one operand of a promoted_matmul. The columns of `operand`
/// are blocks of K.
struct SumFactors {
  KernelOperand operand;
  /// None for f32.
  Format format = Format::None;
  ScaleBlock block;
};

/// How sums over parts of K are promoted: see promoted_matmul.
struct PromotedSums {
  int64_t interval;
  std::optional<SumFactors> x, y;
  /// Whether these are factors of the whole sum, see `hasWholeFactors`.
  bool isWhole = false;
};

/// How a quantized operand becomes bf16 values, if the instruction takes those.
enum class OperandTransform {
  None,
  /// A kernel in front writes bf16 values to memory.
  DequantizedInFront,
  /// The mainloop makes bf16 values in registers.
  DequantizedInRegisters,
};

/// The transforms of x and of y.
struct OperandTransforms {
  OperandTransform x = OperandTransform::None, y = OperandTransform::None;

  /// Mixed input: whether y is dequantized in registers, but x is not.
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
  /// The number of split-K ranges, if K has as many steps (SplitKProblem.h).
  /// With more than one, the result has a matrix for each range of each matrix
  /// of the batch: all matrices of the first range, then those of the next one.
  /// If it is dynamic, which it is only without a batch, the grid has the
  /// ranges along y.
  int64_t splitK = 1;
  int64_t m, n, k;
  /// No M and N above these are launched; not known if there are none.
  std::optional<int64_t> mostM, mostN;
  /// x is A. If y is quantized and x is not, SFA is a splat.
  PerOperand<KernelOperand> operands;
  /// The parameter that holds the initial accumulator (C); none if that is
  /// zero.
  std::optional<unsigned> acc;
  /// Null if one accumulator adds up all of K.
  std::optional<PromotedSums> promotion;
  /// The groups of rows of a grouped product. The result has no batch then.
  std::optional<RowGroups> groups;
  /// For mixed input and GEMV, where y is dequantized in registers: the types
  /// before x was dequantized. The scales of y are SFB. A mixed-input kernel
  /// has a second result behind the first: the i32 inexact flags of the kernel
  /// in front of it, the first of which it sets if a value is inexact. With a
  /// sparse x, x is the operand in registers: its scales are SFA, and both
  /// types are its.
  std::optional<TypeCombination> quantizedB;
  /// For a high-precision x: a scalar that the dequantized y is multiplied by.
  FusedScalar tensorScale;
  /// The fused elementwise ops: one makes the accumulator, one reads the
  /// result.
  std::optional<FusedElementwise> producer, consumer;
  /// The fused `quantize` of the result, or of what `consumer` makes of it.
  std::optional<FusedQuantize> quantizer;
  /// Parameters that hold inexact flags: the kernel runs only if one is not 0.
  SmallVector<unsigned, 2> skipConditions;
  /// The parameter for the result.
  unsigned result;
  /// Whether TMA can pad packed elements.
  bool hasPaddedCopies = true;
  /// Null on a path without instructions, and without schedules.
  InstructionAttr instruction;
  ScheduleInterface schedule;

  /// Whether a size is static, and a multiple of `unit`.
  static bool isMultiple(int64_t size, int64_t unit) {
    return !ShapedType::isDynamic(size) && size % unit == 0;
  }

  /// Whether operands have scales; there are no scale factors if not.
  bool hasScales() const { return types.scale != Format::None; }

  /// Whether x has bf16 or f16 values, while y may be quantized.
  bool hasHighPrecisionX() const {
    return getFormatInfo(types.lhs).use == FormatUse::HighPrecision;
  }

  /// Whether x is one row of quantized elements that the mainloop dequantizes
  /// in registers, too. All its values are exact, and there are no flags.
  bool isGemv() const {
    return quantizedB && schedule &&
           schedule.getKernelKind() == KernelKind::Gemv;
  }

  /// Whether operands are dequantized before the instruction reads them.
  bool isDequantized() const {
    return hasScales() && instruction && !instruction.hasScales();
  }

  /// The parameter for inexact flags, behind those for the result.
  unsigned getInexactFlags() const {
    return result + (quantizer ? quantizer->getNumResults() : 1);
  }
  unsigned getNumResults() const {
    return getInexactFlags() - result + (quantizedB && !isGemv() ? 1 : 0);
  }

  /// Whether the result has half of the columns of the product.
  bool hasPairs() const { return consumer && consumer->hasPairs; }

  KernelOperand &operator[](GemmOperand operand) { return operands[operand]; }
  const KernelOperand &operator[](GemmOperand operand) const {
    return operands[operand];
  }

  /// The elements of `operand` along K that stand for `k` logical ones: kept
  /// elements, scales, or bytes of metadata.
  int64_t getColumns(GemmOperand operand, int64_t k) const {
    if (ShapedType::isDynamic(k))
      return k;
    return k / getLogicalUnit(operand);
  }
  /// The logical elements along K that an element of `operand` stands for.
  int64_t getLogicalUnit(GemmOperand operand) const {
    GemmOperandInfo info = getInfo(operand);
    if (info.isScale)
      return types.blockSize;
    if (info.isMetadata && types.sparsity)
      return getGranularityInfo(*types.sparsity).elementsPerByte();
    return info.isA && types.sparsity ? kUnitsPerChunk / kKeptUnits : 1;
  }

  /// Whether the kernel reads an operand.
  bool reads(GemmOperand operand) const {
    if (getInfo(operand).isMetadata)
      return types.sparsity.has_value();
    if (!getInfo(operand).isScale)
      return true;
    if (quantizedB && !isGemv())
      return operand == getScalesOf(/*isA=*/types.sparsity.has_value());
    return hasScales() || isGemv();
  }
};

/// The sizes of a problem as values of the kernel.
struct ProblemSizes {
  /// Reads dynamic sizes from the parameters of `kernel`.
  ProblemSizes(OpBuilder &builder, gpu::GPUFuncOp kernel,
               const KernelProblem &problem);

  Value m, n, k;
  /// The rows of x: M, but for groups whose rows are gathered.
  Value rowsOfX;
  /// K divided by the size of a block.
  Value blocks;
  /// For a sparse A: its kept elements along K, and its bytes of metadata.
  Value keptK, metadata;
};

/// The size of `operand` along an index of its map (0 batch, 1 row, 2 column),
/// in elements, from the parameter that holds it.
Value getOperandSize(OpBuilder &builder, gpu::GPUFuncOp kernel,
                     const KernelOperand &operand, unsigned dim);

/// The index of the matrix of `operand` for the matrix `batch` of the result.
Value getOperandBatch(OpBuilder &builder, gpu::GPUFuncOp kernel,
                      const KernelOperand &operand, Value batch);

/// The index of the inexact flag of `group` in `flags`: those of groups are the
/// last ones.
Value emitGroupFlag(OpBuilder &builder, Location loc,
                    const KernelProblem &problem, gpu::GPUFuncOp kernel,
                    Value flags, Value group);

/// How tiles are assigned to the blocks of a grid.
enum class BlockOrder {
  Grid,       // one for each tile: M along x, N along y, the batch along z
  Linear,     // one for each tile, all along x
  PerMatrix,  // one for each tile: those of a matrix along x, matrices along y
  Persistent, // all along x, at most one block for each SM
};

/// The tile of a block along M, N and the batch, and how a kernel is launched.
struct KernelShape {
  std::array<int64_t, 3> tile;
  SmallVector<int64_t, 3> threads;
  /// Dynamic shared memory, in bytes.
  int64_t shared = 0;
  BlockOrder order = BlockOrder::Grid;
  /// The cluster, whose blocks compute neighboring tiles; not with
  /// BlockOrder::Grid.
  ClusterSize cluster = {};
  /// Tensor maps, which are the last parameters of the kernel, and the indices
  /// of the parameters that they describe.
  SmallVector<Attribute> maps = {};
  SmallVector<int64_t> mapped = {};
  /// Whether it sets inexact flags of the kernel in front, a second result.
  bool setsInexactFlags = false;
};

/// The reduction kernel of split-K: parameter 0 holds the partial results, the
/// others are those of `problem`.
KernelShape getSplitKReductionShape(const KernelProblem &problem);
void buildSplitKReduction(gpu::GPUFuncOp kernel, const KernelProblem &problem);

/// A `swizzle_scales` as a kernel computes it, on bytes: parameter 0 holds the
/// row-major scales, parameter 1 is the result. M of its shape is rows, N is
/// columns.
KernelShape getSwizzleKernelShape();
void buildSwizzleKernel(gpu::GPUFuncOp kernel);

/// The same for a `swizzle_group_scales`: offsets are parameter 1, rows, if
/// there are some, parameter 2, and the result is the last one.
void buildSwizzleGroupsKernel(gpu::GPUFuncOp kernel);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_KERNELPROBLEM_H
