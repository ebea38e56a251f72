//===- InstructionTable.h - Legal rows and instructions ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `mma_scaled` accepts, and which instruction computes it where. The
// verifier, path selection, the support matrix and the generated tests all
// read these rows.
//
// Sources: PTX ISA 9.0, section "Block Scaling for mma.sync" (tables 35 to
// 37) and "tcgen05.mma"; PTX ISA 9.1 for the one row that is not emitted.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_INSTRUCTIONTABLE_H
#define BLOCKSCALE_SUPPORT_INSTRUCTIONTABLE_H

#include "blockscale/Support/Chips.h"
#include "blockscale/Support/Formats.h"

#include <string>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// One legal combination of element types, scale type and block size of
/// `mma_scaled`. There are 27.
struct OpRow {
  Format lhs;
  Format rhs;
  Format scale;
  /// Elements along K that share one scale.
  unsigned blockSize;

  bool operator==(const OpRow &other) const {
    return lhs == other.lhs && rhs == other.rhs && scale == other.scale &&
           blockSize == other.blockSize;
  }
};

/// The 27 legal rows.
const std::vector<OpRow> &getOpRows();

/// Whether the combination is one of the 27.
bool isLegal(const OpRow &row);

/// The block sizes for which these types are legal, ascending; empty if there
/// is none.
std::vector<unsigned> getLegalBlockSizes(Format lhs, Format rhs, Format scale);

/// All block sizes that stand in the rows, ascending.
std::vector<unsigned> getBlockSizes();

/// The instruction's `.kind` qualifier.
enum class Kind : unsigned char { MXF8F6F4, MXF4, MXF4NVF4 };
inline constexpr unsigned kNumKinds = 3;
std::string_view stringifyKind(Kind kind);

/// How an op row whose instruction cannot be emitted is computed by others.
enum class Rewrite : unsigned char {
  None,
  /// Two mxf4 instructions of block size 32, each with the other 16-element
  /// halves of every block of A zeroed and with its own halves' scales of A
  /// and B. Exact, because fp4 has no NaN: a zeroed element adds zero.
  TwoHalfBlocks,
};
std::string_view describeRewrite(Rewrite rewrite);

/// One dense block-scaled instruction. Scaling happens in the instruction, the
/// accumulator is f32.
struct Instruction {
  Path path;
  Kind kind;
  /// Elements of K that one instruction takes. For mma.sync, M = 16 and N = 8.
  unsigned k;
  Format a;
  Format b;
  Format scale;
  /// Scales along K per instruction: `.scale_vec::NX`. `k == scaleVec *
  /// blockSize` always.
  unsigned scaleVec;
  unsigned blockSize;
  /// The lowest PTX version that has it, on any chip of its path; the chip's
  /// own lowest version applies besides.
  unsigned lowestPtx;
  /// Among instructions that compute the same op row the lowest rank wins.
  unsigned rank;
  /// False if the code generator's newest PTX version lacks it.
  bool isEmitted;
  /// What stands in for it when it is not emitted.
  Rewrite rewrite;

  OpRow getOpRow() const { return {a, b, scale, blockSize}; }
};

inline constexpr unsigned kMmaSyncM = 16;
inline constexpr unsigned kMmaSyncN = 8;

/// All instructions: for mma.sync 28 that are emitted and one that is not,
/// for tcgen05.mma 29.
const std::vector<Instruction> &getInstructions();

/// The instruction to use for `row` on `path`: of those that compute it, an
/// emitted one before others, then the lowest rank. Null if `path` has none.
const Instruction *getPreferredInstruction(const OpRow &row, Path path);

/// The instruction of this kind, formats and scale vector on `path`, or null.
const Instruction *lookupInstruction(Path path, Kind kind, Format a, Format b,
                                     Format scale, unsigned scaleVec);

/// The instruction that is emitted for `instruction`: itself, or the one that
/// its rewrite is made of.
const Instruction &getEmittedInstruction(const Instruction &instruction);

/// The instruction that computes the legal `row` on `path`, which has it, or
/// that stands in for the one that does.
const Instruction &getEmittedInstruction(const OpRow &row, Path path);

/// The lowest PTX version for `instruction`, or for what stands in for it, on
/// `chip`.
unsigned getLowestPtx(const Instruction &instruction, const Chip &chip);

/// The opcode up to its qualifiers, such as
/// "mma.sync.kind::mxf4.block_scale.scale_vec::2X".
std::string getOpcode(const Instruction &instruction);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_INSTRUCTIONTABLE_H
