//===- InstructionTable.h - Legal types and instructions --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of instructions and the type combinations that they compute, which
// are those that `mma_scaled` accepts. The verifier, path selection, the
// support matrix and the generated tests read it. A new instruction is a new
// row.
//
// Sources: PTX ISA 9.0, section "Block Scaling for mma.sync" (tables 35 to
// 37), "mma.sp" and "tcgen05.mma"; PTX ISA 9.1 for the rows that are not
// emitted.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_INSTRUCTIONTABLE_H
#define BLOCKSCALE_SUPPORT_INSTRUCTIONTABLE_H

#include "blockscale/Support/Chips.h"
#include "blockscale/Support/Formats.h"
#include "blockscale/Support/SparseMetadata.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// A combination of element types, scale type and block size: of `mma_scaled`,
/// of `sparse_mma_scaled`, or without scales, with a block size of 1.
struct TypeCombination {
  Format lhs;
  Format rhs;
  Format scale;
  /// Elements along K that share one scale. Of a sparse product, logical ones.
  unsigned blockSize;
  /// What x keeps two of four of; nullopt for a dense x.
  std::optional<Granularity> sparsity = std::nullopt;

  bool operator==(const TypeCombination &other) const {
    return lhs == other.lhs && rhs == other.rhs && scale == other.scale &&
           blockSize == other.blockSize && sparsity == other.sparsity;
  }
};

/// The legal combinations of `mma_scaled`: those with scales that some dense
/// instruction of the table computes.
const std::vector<TypeCombination> &getTypeCombinations();

/// Whether the combination is a legal one of `mma_scaled`.
bool isLegal(const TypeCombination &types);

/// Whether some instruction of the table computes `types`: a legal combination,
/// one of a sparse product, one of mixed input, with scales of B only, or one
/// without scales.
bool isComputed(const TypeCombination &types);

/// The block sizes for which these types are legal, ascending; empty if there
/// is none.
std::vector<unsigned> getLegalBlockSizes(Format lhs, Format rhs, Format scale);

/// All block sizes in the table, ascending.
std::vector<unsigned> getBlockSizes();

/// The kind of an instruction: its `.kind` qualifier; or bf16 that is
/// dequantized in registers, from bytes (`BF16`) or from nibbles of both
/// operands
/// (`BF16Packed`); or elements without scales, of 16 bits (`Unscaled`) or
/// of fp8 (`FP8`).
enum class Kind : unsigned char {
  MXF8F6F4,
  MXF4,
  MXF4NVF4,
  BF16,
  BF16Packed,
  Unscaled,
  FP8,
};
inline constexpr unsigned kNumKinds = 7;
std::string_view stringifyKind(Kind kind);

/// Whether this kind has a byte of a register for each element, of any format;
/// the others have packed fp4.
bool hasContainers(Kind kind);

/// The lowest bit of a 4-bit element in such a byte.
unsigned getNibbleShift(Kind kind);

/// Where scales are applied.
enum class Scaling : unsigned char {
  /// The instruction multiplies quantized elements and scales.
  InInstruction,
  /// Operands are dequantized to a wider type.
  OnOperands,
  /// B is dequantized; A has elements of the wider type (mixed input).
  OnB,
  /// The instruction multiplies quantized elements; sums of a block are scaled.
  OnBlockSums,
  /// There are no scales.
  Nowhere,
};

/// How other instructions compute an op whose instruction cannot be emitted.
enum class Rewrite : unsigned char {
  None,
  /// Two mxf4 instructions of block size 32, one for each half of 16 elements
  /// of every block: the other half of A is zero, and scales are those of the
  /// half. Exact, because fp4 has no NaN: an element that is set to zero adds
  /// zero.
  TwoHalfBlocks,
};
std::string_view describeRewrite(Rewrite rewrite);

/// The bytes of a 32-bit word from which on an instruction of tcgen05 may read
/// its scales: bit i for byte i. Only a wide instruction may read on into the
/// next word.
using ScaleIds = unsigned;

/// A larger K that some chips have for the same types. It takes as long as the
/// K that all chips have.
struct WideK {
  /// The chips, by compute capability.
  unsigned firstCapability = 0, lastCapability = 0;
  /// The value of the field "k96" of the instruction descriptor.
  unsigned k96 = 0;
  /// The sequence of K of the instructions that multiply one swizzle row, since
  /// this K may not divide it; zeros at the end.
  std::array<unsigned, 4> pattern = {};
};

/// One instruction. The accumulator is f32. K of a sparse one is the logical
/// one, that of B: it reads K / 2 kept elements of A.
struct Instruction {
  Path path;
  Kind kind;
  /// M, N and K of one instruction; for operands dequantized in registers,
  /// those of all instructions that use one register of quantized elements. If
  /// the kernel chooses N, it is a multiple of `n` up to `mostN`; else both are
  /// equal. A pair of CTAs may have up to `mostM` rows together.
  unsigned m, mostM, n, mostN, k;
  Format a;
  Format b;
  Format scale;
  /// Scales along K per instruction: `.scale_vec::NX`. `k == scaleVec *
  /// blockSize`, but without scales these are 0 and 1.
  unsigned scaleVec;
  unsigned blockSize;
  Scaling scaling;
  /// The lowest PTX version that has it, on any chip of its path. The chip's
  /// own lowest version applies, too.
  unsigned lowestPtx;
  /// Among instructions that compute the same op, the lowest rank wins.
  unsigned rank;
  /// The replacement if the code generator's newest PTX version lacks it.
  Rewrite rewrite;
  ScaleIds scaleIds;
  WideK wide;
  /// What A keeps two of four of; nullopt for a dense A.
  std::optional<Granularity> sparsity;

  TypeCombination getTypeCombination() const {
    return {a, b, scale, blockSize, sparsity};
  }
  bool isSparse() const { return sparsity.has_value(); }
  /// Kept elements of A along K.
  unsigned getKeptK() const {
    return static_cast<unsigned>(getKeptElements(k, sparsity));
  }
  /// Whether the code generator has it.
  bool isEmitted() const { return isKnownPtxVersion(lowestPtx); }
  /// Whether it is a block-scaled instruction.
  bool isNative() const { return scaling == Scaling::InInstruction; }
  /// Whether it has a larger K than the instruction for the same types that all
  /// chips of the path have.
  bool isWide() const { return wide.lastCapability != 0; }
  bool isOn(const Chip &chip) const;
  /// The sequence of K of the instructions that multiply one swizzle row.
  std::vector<unsigned> getKPattern() const;
};

/// All instructions.
const std::vector<Instruction> &getInstructions();

/// How a path computes an op.
struct InstructionChoice {
  /// The instruction for its type combination.
  const Instruction *wanted;
  /// The instruction that is emitted: `wanted`, or the one of its rewrite.
  const Instruction *emitted;

  /// The rewrite of `wanted` into `emitted`.
  Rewrite getRewrite() const {
    return wanted == emitted ? Rewrite::None : wanted->rewrite;
  }
};

/// How `path` computes `types`. Prefers an instruction that is emitted itself
/// to one that is rewritten, and then the lowest rank. Nullopt if no
/// instruction that can be emitted computes `types`.
std::optional<InstructionChoice> chooseInstruction(const TypeCombination &types,
                                                   Path path);

/// How `chip` computes `types` on the first of its paths that has an
/// instruction for it. Nullopt if none has.
std::optional<InstructionChoice> chooseInstruction(const TypeCombination &types,
                                                   const Chip &chip);

/// The same, among block-scaled instructions only.
std::optional<InstructionChoice> chooseNative(const TypeCombination &types,
                                              const Chip &chip);

/// The rewrite by which `instruction` computes `types`: None if it computes
/// them itself. Nullopt if it does not compute them.
std::optional<Rewrite> getRewrite(const TypeCombination &types,
                                  const Instruction &instruction);

/// The instruction of this kind, formats, scale vector and sparsity on `path`,
/// or null.
const Instruction *
lookupInstruction(Path path, Kind kind, Format a, Format b, Format scale,
                  unsigned scaleVec,
                  std::optional<Granularity> sparsity = std::nullopt);

/// The wide instruction with this K for the types of `instruction`, or null.
const Instruction *lookupWide(const Instruction &instruction, unsigned k);

/// Every K of wide instructions.
std::vector<unsigned> getWideKs();

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
