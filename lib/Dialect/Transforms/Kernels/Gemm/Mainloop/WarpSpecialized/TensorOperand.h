//===- TensorOperand.h - TMA operands ---------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand that TMA brings to stages: its tensor map, the copies of one
// stage, and how the blocks of a cluster divide them for multicast.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_TENSOROPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_TENSOROPERAND_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"
#include "Kernels/Gemm/TileScheduler/BlockCluster.h"

namespace mlir::blockscale {

/// The origin of a tile in an operand, where its copies start: the matrix of a
/// batch, the row, and the column (of elements, of scale blocks, or of bytes of
/// metadata). With `mostColumn`, copies from columns beyond it bring those from
/// it on.
struct TileOrigin {
  Value batch, row, column, mostColumn;
};

/// How the blocks of a cluster divide the scale atoms of a stage for multicast:
/// first along rows of atoms, then along K, then within an atom in u16. Each
/// part is contiguous: rows of atoms are divided along K only if a part has one
/// row, and atoms only if a part has one atom.
struct ScaleParts {
  int64_t rows = 1, columns = 1, units = 1;
  /// How much of each one part has.
  int64_t rowAtoms = 0, columnAtoms = 0, atomUnits = 0;
};

/// Whether TMA could bring the elements of `format` of an operand of `problem`,
/// which memory holds in a byte each, if they were packed as the instruction
/// takes them.
bool couldCopyIfPacked(const KernelOperand &operand, Format format,
                       const KernelProblem &problem);

class TensorOperand {
public:
  /// How TMA copies an operand of `problem`; nullopt, with a `reason`, if it
  /// cannot.
  static std::optional<TensorOperand> plan(const KernelProblem &problem,
                                           const SharedMemoryPlan &pipeline,
                                           GemmOperand id, std::string &reason);

  TensorMapAttr getMap() const { return map; }
  /// The parameter of the kernel that the map describes.
  unsigned getArgument() const { return operand->argument; }
  /// The bytes that the full mbarrier of a stage expects, from all blocks that
  /// load parts of it.
  int64_t getCountedBytes() const { return countedBytes; }
  /// How elements lie in a stage.
  TileLayout getLayout() const { return layout; }

  /// Copies the tile at `origin` to `shared` from byte `offset` on: the part
  /// that this block of `cluster` loads, multicast to all blocks that share it.
  void emit(OpBuilder &b, Location loc, Value mapPointer,
            const TileOrigin &origin, Value shared, Value offset,
            Value barriers, Value barrier, const BlockCluster &cluster) const;

private:
  const KernelOperand *operand = nullptr;
  TensorMapAttr map;
  int64_t countedBytes = 0;
  TileLayout layout;
  /// The copies of a tile: how many, and the distance from each to the next one
  /// in rows, columns and bytes.
  int64_t copies = 1, copyRows = 0, copyColumns = 0, copyBytes = 0;
  /// The distance from the part of one block to that of the next one in rows,
  /// columns and bytes. For scales, see `ScaleParts`.
  int64_t partRows = 0, partColumns = 0, partBytes = 0;
  /// The same for atoms of metadata, in units of 256 bytes.
  int64_t partUnits = 0;
  ScaleParts scaleParts;

  bool isA() const { return getInfo(id).isA; }
  bool isScale() const { return getInfo(id).isScale; }
  bool isMetadata() const { return getInfo(id).isMetadata; }
  GemmOperand id = GemmOperand::A;
  /// Elements in a unit of the innermost coordinate.
  int64_t elementsOfUnit = 1;
  /// Whether only one tile reads each byte.
  bool isReadOnce = false;

  bool planElements(const KernelProblem &problem,
                    const SharedMemoryPlan &pipeline, std::string &reason);
  /// Plans the quantized A of mixed input, which lanes read in K chunks of 64
  /// bytes.
  bool planQuantized(const SharedMemoryPlan &pipeline, std::string &reason);
  bool planScales(const KernelProblem &problem,
                  const SharedMemoryPlan &pipeline, std::string &reason);
  bool planMetadata(const SharedMemoryPlan &pipeline, std::string &reason);
  /// The TMA box of one copy. Divides the tile between the blocks that share
  /// it: by whole copies, or by rows of each box. `outer` is the dimension that
  /// is not contiguous.
  SmallVector<int64_t> planBox(const SharedMemoryPlan &pipeline, bool isK,
                               int64_t unit, int64_t columnBytes,
                               unsigned outer);
  /// Adds the start of the part of this block to the position in the tensor.
  void addScalePart(OpBuilder &b, Location loc, Value part,
                    MutableArrayRef<Value> position) const;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_TENSOROPERAND_H
