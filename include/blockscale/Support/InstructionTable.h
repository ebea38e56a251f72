//===- InstructionTable.h - Legal rows and instructions ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which instruction computes what, and with that, what `mma_scaled` accepts.
// The verifier, path selection, the support matrix and the generated tests all
// read these rows. An instruction more is a row more.
//
// Sources: PTX ISA 9.0, section "Block Scaling for mma.sync" (tables 35 to
// 37) and "tcgen05.mma"; PTX ISA 9.1 for the one row that is not emitted.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_INSTRUCTIONTABLE_H
#define BLOCKSCALE_SUPPORT_INSTRUCTIONTABLE_H

#include "blockscale/Support/Chips.h"
#include "blockscale/Support/Formats.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// A combination of element types, scale type and block size: a legal one of
/// `mma_scaled`, or one without scales, the blocks of which are of 1.
struct TypeCombination {
  Format lhs;
  Format rhs;
  Format scale;
  /// Elements along K that share one scale.
  unsigned blockSize;

  bool operator==(const TypeCombination &other) const {
    return lhs == other.lhs && rhs == other.rhs && scale == other.scale &&
           blockSize == other.blockSize;
  }
};

/// The legal rows: what some instruction of the table computes with scales.
const std::vector<TypeCombination> &getTypeCombinations();

/// Whether the combination is one of them.
bool isLegal(const TypeCombination &types);

/// Whether some instruction of the table computes `row`: a legal one, or one of
/// numbers and scales of B alone.
bool isComputed(const TypeCombination &types);

/// The block sizes for which these types are legal, ascending; empty if there
/// is none.
std::vector<unsigned> getLegalBlockSizes(Format lhs, Format rhs, Format scale);

/// All block sizes that stand in the rows, ascending.
std::vector<unsigned> getBlockSizes();

/// What an instruction takes: its `.kind` qualifier, or bf16 that is made of
/// codes, a byte each (`BF16`), or of nibbles on both sides (`BF16Packed`), or
/// elements of 16 bits as they are (`Unscaled`).
enum class Kind : unsigned char {
  MXF8F6F4,
  MXF4,
  MXF4NVF4,
  BF16,
  BF16Packed,
  Unscaled,
};
inline constexpr unsigned kNumKinds = 6;
std::string_view stringifyKind(Kind kind);

/// Whether this kind reserves a byte of a register for each code, whatever its
/// format; the others take packed fp4.
bool hasContainers(Kind kind);

/// The lowest bit of a code of 4 bits in such a byte.
unsigned getNibbleShift(Kind kind);

/// Where scales are multiplied by.
enum class Scaling : unsigned char {
  /// The instruction takes codes and scales.
  InInstruction,
  /// Operands are converted to a wider type together with their scales.
  OnOperands,
  /// The same for B alone: A is numbers of that type.
  OnB,
  /// The instruction takes codes; sums of one block are scaled.
  OnBlockSums,
  /// There are no scales.
  Nowhere,
};

/// How an op row whose instruction cannot be emitted is computed by others.
enum class Rewrite : unsigned char {
  None,
  /// Two mxf4 instructions of block size 32, each with the other 16-element
  /// halves of every block of A zeroed and with its own halves' scales of A
  /// and B. Exact, because fp4 has no NaN: a zeroed element adds zero.
  TwoHalfBlocks,
};
std::string_view describeRewrite(Rewrite rewrite);

/// One dense instruction. The accumulator is f32.
struct Instruction {
  Path path;
  Kind kind;
  /// The elements of M, N and K that one instruction takes, or, where it takes
  /// wider ones, all that are made of one register of codes. Where the kernel
  /// chooses N, it is a multiple of `n` up to `mostN`; else both are the same.
  /// A pair of blocks may take up to `mostM` rows together.
  unsigned m, mostM, n, mostN, k;
  Format a;
  Format b;
  Format scale;
  /// Scales along K per instruction: `.scale_vec::NX`. `k == scaleVec *
  /// blockSize`, but without scales these are 0 and 1.
  unsigned scaleVec;
  unsigned blockSize;
  Scaling scaling;
  /// The lowest PTX version that has it, on any chip of its path; the chip's
  /// own lowest version applies besides.
  unsigned lowestPtx;
  /// Among instructions that compute the same op row the lowest rank wins.
  unsigned rank;
  /// What stands in for it where the code generator's newest PTX version lacks
  /// it.
  Rewrite rewrite;

  TypeCombination getTypeCombination() const {
    return {a, b, scale, blockSize};
  }
  /// Whether the code generator has it.
  bool isEmitted() const { return isKnownPtxVersion(lowestPtx); }
  /// Whether it is a block-scaled instruction.
  bool isNative() const { return scaling == Scaling::InInstruction; }
};

/// All instructions.
const std::vector<Instruction> &getInstructions();

/// How a path computes an op row.
struct InstructionChoice {
  /// The instruction that is made for the row.
  const Instruction *wanted;
  /// What is emitted: `wanted`, or what its rewrite is made of.
  const Instruction *emitted;

  /// The rewrite of the one into the other.
  Rewrite getRewrite() const {
    return wanted == emitted ? Rewrite::None : wanted->rewrite;
  }
};

/// How `path` computes `row`: of the instructions that do, one that is emitted
/// before one that is rewritten, then the lowest rank. Nullopt if nothing that
/// can be emitted does.
std::optional<InstructionChoice> chooseInstruction(const TypeCombination &types,
                                                   Path path);

/// How `chip` computes `row` on the first of its paths that has an instruction
/// for it. Nullopt if none has.
std::optional<InstructionChoice> chooseInstruction(const TypeCombination &types,
                                                   const Chip &chip);

/// The same among block-scaled instructions alone.
std::optional<InstructionChoice> chooseNative(const TypeCombination &types,
                                              const Chip &chip);

/// The rewrite by which `instruction` computes `row`: None if that is its own
/// row. Nullopt if it does not.
std::optional<Rewrite> getRewrite(const TypeCombination &types,
                                  const Instruction &instruction);

/// The instruction of this kind, formats and scale vector on `path`, or null.
const Instruction *lookupInstruction(Path path, Kind kind, Format a, Format b,
                                     Format scale, unsigned scaleVec);

/// The same with K = 96, for chips with hasWideInstructions; null if there is
/// none.
const Instruction *lookupWide(const Instruction &instruction);

/// Whether `chip` has block-scaled instructions with this opcode, such as
/// "mma.sync".
bool hasOpcode(const Chip &chip, std::string_view opcode);

/// The lowest PTX version for `instruction` on `chip`.
unsigned getLowestPtx(const Instruction &instruction, const Chip &chip);

/// The opcode up to its qualifiers, such as
/// "mma.sync.kind::mxf4.block_scale.scale_vec::2X".
std::string getOpcode(const Instruction &instruction);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_INSTRUCTIONTABLE_H
