//===- Paths.cpp - The path table -----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One row for each path, so that a new one is found in one place.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Paths.h"

using namespace mlir;
using namespace mlir::blockscale;

// clang-format off
static constexpr PathInfo kPaths[kNumPaths] = {
    // path           name         opcode         lowering vectors swizzled
    {Path::Decompose, "decompose", "",            true,    false,  false},
    {Path::MmaSync,   "mma_sync",  "mma.sync",    true,    true,   true},
    {Path::Tcgen05,   "tcgen05",   "tcgen05.mma", false,   false,  true},
};
// clang-format on

const PathInfo &blockscale::getPathInfo(Path path) {
  return kPaths[static_cast<unsigned>(path)];
}

Path blockscale::getVectorPath() {
  for (const PathInfo &info : kPaths)
    if (info.takesVectors)
      return info.path;
  return Path::Decompose;
}
