//===- plain.cpp - Uses the parts without MLIR ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/ArrayPrinter.h"
#include "blockscale/Support/Formats.h"

#include <cstdio>

int main() {
  using namespace mlir::blockscale;
  Result<NpyArray> array = makeZeros(DType::U1, {2});
  if (!array)
    return 1;
  std::printf("%s %g\n", printArray(*array).c_str(), decode(Format::E2M1, 7));
  return 0;
}
