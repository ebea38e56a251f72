//===- Paths.h - The path table ---------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ways in which chips multiply block-scaled matrices. What a path does is
// told by its row here, by its instructions (InstructionTable.h) and by its
// backend (lib/Dialect/Transforms/Kernels/Gemm/Paths); nothing else asks
// which path it has to do with.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_PATHS_H
#define BLOCKSCALE_SUPPORT_PATHS_H

#include <string_view>

namespace mlir::blockscale {

enum class Path : unsigned char {
  /// Plain arithmetic, which every chip has.
  Decompose,
  /// Warp-level `mma.sync ... block_scale`, operands in registers.
  MmaSync,
  /// Fifth-generation tensor core, `tcgen05.mma ... block_scale`.
  Tcgen05,
  /// Warp-level `mma.sync` of bf16, to which operands are converted together
  /// with their scales on the way from shared memory to registers.
  DequantMma,
  /// Asynchronous `wgmma` of warpgroups, operands in shared memory and sums in
  /// registers. It has no scales.
  Wgmma,
};

inline constexpr unsigned kNumPaths = 5;

struct PathInfo {
  Path path;
  /// As attributes and messages write it.
  std::string_view name;
  /// The opcode of its instructions; empty for a path without any.
  std::string_view opcode;
  /// Whether its instructions are those of a warp, with operands and sums in
  /// registers: then `mma_scaled` on vectors, in kernels of others, can take
  /// it.
  bool isWarpLevel;
  /// Whether its instructions are best fed with scales in the 32x4x4 layout.
  bool wantsSwizzledScales;
};

/// The row of `path`.
const PathInfo &getPathInfo(Path path);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_PATHS_H
