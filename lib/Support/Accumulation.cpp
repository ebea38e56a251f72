//===- Accumulation.cpp - The adder of fp8 tensor cores -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Accumulation.h"

#include <algorithm>
#include <iterator>

using namespace mlir::blockscale;

bool mlir::blockscale::isAccumulateChunk(int64_t chunk) {
  const auto *end = std::end(kAccumulateChunks);
  return std::find(std::begin(kAccumulateChunks), end, chunk) != end;
}

std::string mlir::blockscale::listAccumulateChunks() {
  std::string list;
  for (const int64_t &chunk : kAccumulateChunks) {
    bool isLast = &chunk == std::end(kAccumulateChunks) - 1;
    list += std::string(list.empty() ? "" : isLast ? " or " : ", ");
    list += std::to_string(chunk);
  }
  return list;
}
