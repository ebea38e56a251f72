//===- Paths.cpp - The path table -----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Paths.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Without the qualifiers that have only one value.
static constexpr std::string_view kDequantMmaOpcode =
    "mma.sync.m16n8k16.f32.bf16.bf16.f32";

using D = Dequantization;

// clang-format off
static constexpr PathInfo kPaths[kNumPaths] = {
    // path           name         opcode          warps  swizzled dequantization
    {Path::Decompose, "decompose", "",             false, false, D::None},
    {Path::MmaSync,   "mma_sync",  "mma.sync",     true,  true,  D::None},
    {Path::Tcgen05,   "tcgen05",   "tcgen05.mma",  false, true,  D::None},
    {Path::DequantMma, "dequant_mma", kDequantMmaOpcode, true, false, D::InRegisters},
    {Path::Wgmma,     "wgmma",     "wgmma.mma_async", false, false, D::InFront},
};
// clang-format on

const PathInfo &blockscale::getPathInfo(Path path) {
  return kPaths[static_cast<unsigned>(path)];
}
