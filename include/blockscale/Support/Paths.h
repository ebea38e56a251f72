//===- Paths.h - The path table ---------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ways in which chips multiply block-scaled matrices. A path is defined by
// its row here, by its instructions (InstructionTable.h) and by its backend
// (lib/Dialect/Transforms/Kernels/Gemm/Paths); no other code depends on which
// path it is.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_PATHS_H
#define BLOCKSCALE_SUPPORT_PATHS_H

#include <string_view>

namespace mlir::blockscale {

enum class Path : unsigned char {
  /// Scalar arithmetic, which every chip has.
  Decompose,
  /// Warp-level `mma.sync ... block_scale`, operands in registers.
  MmaSync,
  /// Fifth-generation tensor core, `tcgen05.mma ... block_scale`.
  Tcgen05,
  /// Warp-level `mma.sync` of bf16; operands are dequantized in registers.
  DequantMma,
  /// Asynchronous `wgmma` of warpgroups, with operands in shared memory and
  /// accumulators in registers. It has no scales.
  Wgmma,
};

inline constexpr unsigned kNumPaths = 5;

/// Where operands with scales become bf16 for a path whose instructions have
/// none.
enum class Dequantization : unsigned char {
  /// Not at all: its instructions take scales, or it has none.
  None,
  /// In registers, in all its kernels: they take all types, and metadata.
  InRegisters,
  /// Those of large products by kernels in front.
  InFront,
};

struct PathInfo {
  Path path;
  /// The name in attributes and messages.
  std::string_view name;
  /// The opcode of its instructions; empty for a path without any.
  std::string_view opcode;
  /// Whether a warp executes its instructions, with operands and accumulators
  /// in registers. Then `mma_scaled` on vectors, in kernels of users, can use
  /// it.
  bool isWarpLevel;
  /// Whether its kernels are fastest with scales in the 32x4x4 layout.
  bool wantsSwizzledScales;
  Dequantization dequantization;
};

/// The row of `path`.
const PathInfo &getPathInfo(Path path);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_PATHS_H
