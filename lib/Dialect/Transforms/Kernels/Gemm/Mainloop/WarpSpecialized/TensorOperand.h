//===- TensorOperand.h - Operands by bulk copies ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand that bulk tensor copies bring to stages: its tensor map, and the
// copies for one stage.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_TENSOROPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_TENSOROPERAND_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"
#include "Kernels/Gemm/TileScheduler/BlockCluster.h"

namespace mlir::blockscale {

/// The tile of an operand for one stage, where copies start: the matrix of a
/// batch, the row, and the column (of elements, or of blocks of scales).
struct TilePlace {
  Value batch, row, column;
};

/// How blocks divide the atoms of a stage that they share: parts along rows of
/// atoms, then of each of these along K, then of each atom in words of 16 bits.
/// What each loads is contiguous: there is one row of atoms in each part that
/// is divided along K, and one atom in each that is divided in itself.
struct ScaleParts {
  int64_t rows = 1, columns = 1, words = 1;
  /// What one part has of each.
  int64_t rowAtoms = 0, columnAtoms = 0, atomWords = 0;
};

/// Whether bulk copies would bring the codes of `format` of an operand of
/// `problem`, which memory has in bytes of their own, if they were packed, as
/// the instruction takes them.
bool wantsPackedCodes(const KernelOperand &operand, Format format,
                      const KernelProblem &problem);

class TensorOperand {
public:
  /// How an operand of `problem` is copied; nullopt if copies
  /// cannot bring it, with what stands in the way in `reason`.
  static std::optional<TensorOperand> plan(const KernelProblem &problem,
                                           const SharedMemoryPlan &pipeline,
                                           GemmOperand id, std::string &reason);

  TensorMapAttr getMap() const { return map; }
  /// The parameter of the kernel that the map is of.
  unsigned getArgument() const { return operand->argument; }
  /// The bytes that the copies of one stage count, those of all blocks that
  /// load parts of it.
  int64_t getCountedBytes() const { return countedBytes; }
  /// How elements lie in a stage.
  TileLayout getLayout() const { return layout; }

  /// Copies the tile at `place` to `shared` from byte `offset` on: the part of
  /// it that this block of `cluster` loads, to all blocks that share it.
  void emit(OpBuilder &b, Location loc, Value mapPointer,
            const TilePlace &place, Value shared, Value offset, Value barriers,
            Value barrier, const BlockCluster &cluster) const;

private:
  const KernelOperand *operand = nullptr;
  TensorMapAttr map;
  int64_t countedBytes = 0;
  TileLayout layout;
  /// Copies side by side: how many, how many rows, columns and bytes further
  /// each is.
  int64_t copies = 1, copyRows = 0, copyColumns = 0, copyBytes = 0;
  /// What blocks that share the tile load: how many rows, columns and bytes
  /// further each is. Of scales, see `ScaleParts`.
  int64_t partRows = 0, partColumns = 0, partBytes = 0;
  ScaleParts scaleParts;

  bool isA() const { return getInfo(id).isA; }
  bool isScale() const { return getInfo(id).isScale; }
  GemmOperand id = GemmOperand::A;
  /// Codes in a unit of the innermost coordinate.
  int64_t codesOfUnit = 1;
  /// Whether no other tile reads the same bytes.
  bool isReadOnce = false;

  bool planElements(const KernelProblem &problem,
                    const SharedMemoryPlan &pipeline, std::string &reason);
  /// Codes that lanes take from rows of 64 bytes.
  bool planCodes(const SharedMemoryPlan &pipeline, std::string &reason);
  bool planScales(const KernelProblem &problem,
                  const SharedMemoryPlan &pipeline, std::string &reason);
  /// The box of one copy, and what one of the blocks that share the tile loads:
  /// whole copies, or a part of the lines of each. `outer` is the dimension
  /// that is not contiguous.
  SmallVector<int64_t> planBox(const SharedMemoryPlan &pipeline, bool isK,
                               int64_t unit, int64_t columnBytes,
                               unsigned outer);
  /// Adds where the part of this block starts to the position in the tensor.
  void addScalePart(OpBuilder &b, Location loc, Value part,
                    MutableArrayRef<Value> position) const;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_TENSOROPERAND_H
