//===- MatrixForm.h - Forms of matrix instructions --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One form per spelling of `mma`: its modifiers, and the layouts of its
// operands. The interpreter (MmaInstruction.cpp) needs nothing else about an
// instruction.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MMA_MATRIXFORM_H
#define BLOCKSCALE_LIB_SIMULATOR_MMA_MATRIXFORM_H

#include "Mma/MatrixLayout.h"
#include "Mma/MmaSync.h"
#include "Ptx/Targets.h"

#include <array>
#include <vector>

namespace mlir::blockscale::sim {

enum class MmaKind : uint8_t { None, F8F6F4, MXF8F6F4, MXF4, MXF4NVF4 };

/// As PTX writes it, without the dot ("kind::mxf4"); empty for None.
llvm::StringRef getKindName(MmaKind kind);

/// Whether A is sparse, and which metadata it may have: `sp` lets the two
/// indices of a chunk come in any order, `sp::ordered_metadata` does not.
enum class Sparsity : uint8_t { Dense, Plain, Ordered };

/// As PTX writes it ("sp::ordered_metadata"); empty for Dense.
llvm::StringRef getSparsityName(Sparsity sparsity);

/// The elements of a type that has a table: those of 8 bits or fewer. Built
/// once.
struct ElementTable {
  Type type;
  unsigned slotBits;
  /// Indexed by the bits of a slot; padding bits are ignored.
  std::array<double, 256> values;
  /// The bits of a 32-bit register that the PTX ISA calls padding.
  uint32_t padding;
  /// Every finite value is a multiple of 2^lowestBit and less than 2^(top + 1)
  /// in magnitude.
  int lowestBit, top;
  /// The lowest exponent of normal values, which subnormals use as well.
  int minExponent;
};

/// Null for wider types.
const ElementTable *getElementTable(Type type, unsigned slotBits);

/// Invariants: `k` is the logical K of the instruction; A holds
/// `getKeptK()` elements of each row. `c` is the type of D as well.
struct MmaForm {
  MmaKind kind;
  Sparsity sparsity;
  unsigned m, n, k;
  Type a, b, c;
  bool isSatfinite;
  /// Block-scaled forms only, else 0: the number of scales of a row of A or a
  /// column of B.
  unsigned scaleVec;
  Type scale;
  /// Whether `.scale_vec::NX` may be left out.
  bool isScaleVecOptional;
  unsigned ptxVersion;
  /// The targets that have the instruction.
  Feature targets;
  /// Bits of an element in its register: more than those of its type if it is
  /// in an 8-bit container.
  unsigned slotBits;
  const FragmentLayout *aLayout, *bLayout, *cLayout;
  /// Sparse forms only: else null.
  const MetadataLayout *metadata;
  const ElementTable *aTable, *bTable;
  /// Whether the sum of the products of a scale block (of a whole row without
  /// scales) is exact in double for all elements.
  bool isSumExact;

  bool isSparse() const { return sparsity != Sparsity::Dense; }
  bool isBlockScaled() const { return scaleVec != 0; }
  unsigned getKeptK() const { return isSparse() ? k / 2 : k; }
  unsigned getNumBlocks() const { return isBlockScaled() ? scaleVec : 1; }
  /// How many products a scale block has.
  unsigned getBlockSize() const { return getKeptK() / getNumBlocks(); }
};

/// The shape as PTX writes it.
std::string getShapeName(const MmaForm &form);

/// All instructions that are simulated.
const std::vector<MmaForm> &getMmaForms();

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MMA_MATRIXFORM_H
