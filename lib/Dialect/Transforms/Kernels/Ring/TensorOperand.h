//===- TensorOperand.h - Operands by bulk copies -------------- -*- C++ -*-===//
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

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_RING_TENSOROPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_RING_TENSOROPERAND_H

#include "Kernels/Ring/RingPlan.h"

namespace mlir::blockscale {

/// The tile of an operand for one stage, where copies start: the matrix of a
/// batch, the row, and the column (of elements, or of blocks of scales).
struct TilePlace {
  Value batch, row, column;
};

class TensorOperand {
public:
  /// How operand number `number` of `problem` is copied; nullopt if copies
  /// cannot bring it, with what stands in the way in `reason`.
  static std::optional<TensorOperand> plan(const KernelProblem &problem,
                                           const RingPlan &ring,
                                           unsigned number,
                                           std::string &reason);

  TensorMapAttr getMap() const { return map; }
  /// The parameter of the kernel that the map is of.
  unsigned getArgument() const { return operand->argument; }
  /// The bytes that the copies of one stage count.
  int64_t getCountedBytes() const { return countedBytes; }
  /// How elements lie in a stage.
  TileLayout getLayout() const { return layout; }

  /// Copies the tile at `place` to `shared` from byte `offset` on.
  void emit(OpBuilder &b, Location loc, Value mapPointer,
            const TilePlace &place, Value shared, Value offset, Value barriers,
            Value barrier) const;

private:
  const KernelOperand *operand = nullptr;
  TensorMapAttr map;
  int64_t countedBytes = 0;
  TileLayout layout;
  /// Copies side by side: how many, how many rows and bytes further each is.
  int64_t copies = 1, copyRows = 0, copyBytes = 0;
  /// Codes in a unit of the innermost coordinate.
  int64_t codesOfUnit = 1;
  bool isScale = false;
  /// Whether no other tile reads the same bytes.
  bool isReadOnce = false;

  bool planElements(const KernelProblem &problem, const RingPlan &ring,
                    bool isA, std::string &reason);
  bool planScales(const KernelProblem &problem, const RingPlan &ring, bool isA,
                  std::string &reason);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_RING_TENSOROPERAND_H
