//===- GemmKernel.h - The interface of a GEMM kernel ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emitting half of a GEMM kernel: from a problem and a schedule to a launch
// and a body. The choosing half, which says whether a kernel fits an op and
// with which schedules, is KernelChooser (Schedule/KernelChooser.h).
// Paths/GemmPath.cpp lists both for each path.
//
// Where the parts of a GEMM are:
// * tile scheduler (persistence, rasterization, clusters, split-K ranges,
//   groups of rows): TileScheduler/TileScheduler.h
// * mainloops: Mainloop/Multistage/ (cp.async), Mainloop/WarpSpecialized/ (TMA)
// * MMA by instruction: Mma/MmaSync/, Mma/Wgmma/{Dense,MixedInput,Gemv}/,
//   Mma/Tcgen05/
// * epilogue: Epilogue/Epilogue.h
// * which instructions there are, and their K: the instruction table in
//   lib/Support/InstructionTable.cpp
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_GEMMKERNEL_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_GEMMKERNEL_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// How a kernel divides K into split-K ranges. A second kernel adds their
/// results (SplitKProblem.h).
struct SplitKRule {
  /// At most so many ranges.
  int64_t ranges = 1;
  /// All ranges but the last one are a multiple of so many elements of K.
  int64_t unit = 1;
};

/// The tile of the result that a block stores, and the types of the
/// accumulators that hold it.
struct ResultTile {
  int64_t m, n;
  SmallVector<AccType> accumulators;
};

/// How the rows of x that a grouped product reads come into the order of those
/// of the result.
enum class RowGather {
  ByCopy,  // a kernel in front copies them
  InFront, // the kernel in front that makes other values of x reads them so
  InLoads, // the kernel itself does
};

class GemmKernel {
public:
  virtual ~GemmKernel() = default;

  /// The name of the kernel in schedules.
  virtual KernelKind getKind() const = 0;
  /// Whether it computes elementwise ops around the product, too, and knows
  /// operands that are splats.
  virtual bool fusesSurroundings() const { return true; }
  /// Whether it computes products of groups of rows, and how it gathers those
  /// of x.
  virtual bool takesGroups() const { return false; }
  /// Whether it promotes sums (promoted_matmul).
  virtual bool takesPromotion() const { return false; }
  virtual RowGather getRowGather() const { return RowGather::ByCopy; }
  /// Whether it takes scale factors only in the 32x4x4 layout, and metadata
  /// only in atoms, or in rows that bulk copies make atoms of. A kernel in
  /// front arranges others.
  virtual bool wantsAtoms() const { return false; }
  /// Whether it reads operands only through tensor maps. An operand that no
  /// tensor map can describe is copied first. Only the types, the instruction
  /// and the schedule of `problem` are known at that point.
  virtual bool needsTensorMaps(const KernelProblem &problem) const {
    return false;
  }
  /// Whether bulk copies could bring `operand`, quantized elements of `format`
  /// with a byte each in memory, if they were packed.
  virtual bool wantsPackedElements(const KernelOperand &operand, Format format,
                                   const KernelProblem &problem) const {
    return false;
  }
  /// How quantized operands that `instruction` does not take are dequantized.
  virtual OperandTransforms getTransforms(InstructionAttr instruction) const {
    return {};
  }
  /// A remark about the kernel for `problem`, such as that warps copy an
  /// operand that bulk copies cannot bring; empty for none.
  virtual std::string getRemark(const KernelProblem &problem) const {
    return {};
  }
  /// The split-K rule. If there is more than one range, the functions below get
  /// a problem of getPartialProducts.
  virtual SplitKRule getSplitK(const KernelProblem &problem) const {
    return {};
  }
  /// K has to be a positive multiple of this. A dynamic one is checked when the
  /// kernel is launched.
  virtual int64_t getUnitOfK(const KernelProblem &problem) const { return 1; }
  /// The accumulators that the epilogue stores a tile from; nullopt if it
  /// stores results one by one.
  virtual std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const {
    return std::nullopt;
  }
  /// Whether its epilogue has pairs of columns (AccLowering.h) in a warp. Only
  /// the instruction and the schedule of `problem` are known at that point.
  virtual bool holdsPairs(const KernelProblem &problem) const { return false; }
  /// The tile of a block, and how the kernel is launched.
  virtual KernelShape getShape(const KernelProblem &problem) const = 0;
  /// Fills in the body of `kernel`, which is empty, at its start. Adds
  /// workgroup memory to it.
  virtual void build(gpu::GPUFuncOp kernel,
                     const KernelProblem &problem) const = 0;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_GEMMKERNEL_H
