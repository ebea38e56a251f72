//===- InstructionDescriptor.h - tcgen05.mma's descriptor -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instruction descriptor (32 bits) of tcgen05.mma is decoded field by
// field, and printed with the names of its fields.
//
// Source: PTX ISA, section 9.7.16.4.2 "Instruction descriptor".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TCGEN05_INSTRUCTIONDESCRIPTOR_H
#define BLOCKSCALE_LIB_SIMULATOR_TCGEN05_INSTRUCTIONDESCRIPTOR_H

#include "Ptx/Targets.h"
#include "Ptx/Types.h"
#include "SharedDescriptors/SharedTile.h"
#include "blockscale/Runtime/Error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::blockscale::sim {

enum class Tcgen05Kind : uint8_t {
  F16,
  TF32,
  I8,
  F8F6F4,
  MXF8F6F4,
  MXF4,
  MXF4NVF4,
};

/// .ws, .sp or neither.
enum class MmaVariant : uint8_t { Dense, WeightStationary, Sparse };

/// Such as "kind::mxf4".
llvm::StringRef getName(Tcgen05Kind kind);
std::optional<Tcgen05Kind> lookupTensorKind(llvm::StringRef name);
inline bool isBlockScaled(Tcgen05Kind kind) {
  return kind >= Tcgen05Kind::MXF8F6F4;
}

/// A K that the descriptor asks for in place of that of the kind.
struct ExtendedK {
  /// The field of the descriptor that is set.
  llvm::StringRef field;
  unsigned k;
  /// What the target must have, and a name of such a target.
  Feature feature;
  llvm::StringRef target;
  /// The K of the kind, whose layout goes on and which takes as long.
  unsigned narrowK;
};
llvm::ArrayRef<ExtendedK> getExtendedKs();

/// The scale factor identifiers that an instruction may have: bit i for i. K
/// and the block size count the kept elements of a sparse A.
unsigned getScaleIds(unsigned keptK, unsigned blockSize);

struct InstructionDescriptor {
  uint32_t bits;
  Tcgen05Kind kind;
  Type a, b, d;
  /// The shape of the whole instruction: of both blocks of a CTA pair. K is the
  /// logical one, of B.
  unsigned m, n, k;
  /// For a K that is not that of the kind, else null.
  const ExtendedK *extendedK;
  bool isNegatedA, isNegatedB;
  /// MN-major in shared memory.
  bool isTransposedA, isTransposedB;
  bool isSparse, isSaturating;
  /// With .ws: the largest first column of B.
  unsigned maxShift;
  /// Block-scaled kinds only.
  Type scale;
  unsigned scaleIdA, scaleIdB;

  /// Elements of a row of A that one instruction multiplies.
  unsigned getKeptK() const { return isSparse ? k / 2 : k; }

  /// `numBlocks` is that of .cta_group, which is 1 with .ws. An error names the
  /// illegal field.
  static Result<InstructionDescriptor>
  decode(uint32_t bits, Tcgen05Kind kind, unsigned numBlocks,
         MmaVariant variant = MmaVariant::Dense);
  std::string print() const;
};

/// How a kind packs the elements of an operand in a chunk: fp4 and fp6 are
/// padded if the kind also allows 8-bit elements.
ElementPacking getPacking(Tcgen05Kind kind, Type type);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_INSTRUCTIONDESCRIPTOR_H
