//===- MmaSync.h - Matrix instructions of a warp ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `mma.sync` and `mma.sp`, as functions of the registers of a warp. Written
// from the PTX ISA alone: nothing here may use the tables of
// the lowering (Support/FragmentLayout.h, Support/InstructionTable.h), which
// this code judges.
//
// Source: PTX ISA, sections 9.7.14.3 "Block Scaling for mma.sync", 9.7.14.5
// "Matrix multiply-accumulate operation using mma instruction", 9.7.14.6 "...
// using mma.sp instruction".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MMA_MMASYNC_H
#define BLOCKSCALE_LIB_SIMULATOR_MMA_MMASYNC_H

#include "Machine/Lanes.h"
#include "Ptx/Types.h"
#include "Translation/MatrixClass.h"
#include "blockscale/Runtime/Error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::blockscale::sim {

/// A form of mma, from the table of instructions.
struct MmaForm;

/// How the tensor core of a chip adds; see AdderRules.h.
struct AdderRule;

/// Finds the instruction of `mma` with these modifiers (`sync`, `aligned`,
/// `m16n8k32`, `row`, `col`, `kind::mxf8f6f4`, ...; `sp` and
/// `sp::ordered_metadata` as well), in any order that ptxas accepts. The
/// message of a failure says what was expected and got.
Result<const MmaForm *> lookupMma(llvm::ArrayRef<llvm::StringRef> modifiers);

/// How many registers the operands have, and the types that they must have.
struct MmaRegisters {
  unsigned a, b, c, d;
  /// Type::B32, F32, F16x2, S32 or F64 of each register of the operand.
  Type aType, bType, cType, dType;
  bool isSparse;
  bool isBlockScaled;
};
MmaRegisters getRegisters(const MmaForm &form);

/// For `--stats`: such as "mma.m16n8k32.mxf8f6f4.e4m3.e2m1", and how many
/// multiply-adds it counts as (logical K).
std::string getStatsName(const MmaForm &form);
uint64_t getMultiplyAdds(const MmaForm &form);

/// The class of the instruction for time estimates.
MatrixClass getMatrixClass(const MmaForm &form);

/// The lowest PTX version (87 is 8.7), and whether a target ("sm_120a") has the
/// instruction.
unsigned getPtxVersion(const MmaForm &form);
bool isOnTarget(const MmaForm &form, llvm::StringRef target);

/// The registers of one execution; all lanes take part.
struct MmaOperands {
  llvm::ArrayRef<const Lanes *> a, b, c;
  llvm::ArrayRef<Lanes *> d;
  /// Sparse forms: metadata, and the sparsity selector.
  const Lanes *metadata = nullptr;
  unsigned sparsitySelector = 0;
  /// Block-scaled forms: 32 bits of scales, byte-id and thread-id of both
  /// operands.
  const Lanes *scaleA = nullptr, *byteIdA = nullptr, *threadIdA = nullptr;
  const Lanes *scaleB = nullptr, *byteIdB = nullptr, *threadIdB = nullptr;
};

/// A message about an execution, and the lane.
struct LaneMessage {
  unsigned lane;
  std::string text;
};

struct MmaOutcome {
  /// Why the instruction was not executed: a selector that is out of range,
  /// undefined or not the same in all lanes, or illegal metadata.
  std::optional<LaneMessage> error;
  /// The instruction was executed, but against the PTX ISA: padding bits that
  /// are not 0 in an 8-bit container, or a ue4m3 scale with its sign bit set.
  /// At most one message of each kind.
  llvm::SmallVector<LaneMessage, 1> warnings;
  /// The same, but an error with --check=strict: metadata 0b0000 of a chunk of
  /// zeros.
  std::optional<LaneMessage> strict;
};

/// Executes. A result element is undefined if an element, scale or accumulator
/// that its sum uses is; d may be the registers of c. Without an adder, sums
/// are exact.
MmaOutcome executeMma(const MmaForm &form, const MmaOperands &operands,
                      const AdderRule *adder);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MMA_MMASYNC_H
