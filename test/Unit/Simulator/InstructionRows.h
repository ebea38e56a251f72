//===- InstructionRows.h - Rows of tests of instructions --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_SIMULATOR_INSTRUCTIONROWS_H
#define BLOCKSCALE_TEST_UNIT_SIMULATOR_INSTRUCTIONROWS_H

#include "KernelTesting.h"

namespace mlir::blockscale::sim::kerneltest {

/// An instruction, its sources, and the result as computed by hand. The names
/// here are others than those in ArithmeticTesting.h: they share a namespace.
struct InstructionRow {
  const char *text;
  unsigned resultBits;
  std::vector<Source> sources;
  uint64_t expected;
  uint8_t undefined = 0;
};

inline void expectRows(const std::vector<InstructionRow> &rows) {
  for (const InstructionRow &row : rows) {
    Value value = evaluate(row.text, row.resultBits, row.sources);
    std::string what = row.text;
    for (const Source &source : row.sources)
      what += " " + std::to_string(source.value);
    EXPECT_EQ(value.error, "") << what;
    EXPECT_EQ(value.undefined, row.undefined) << what;
    // The value of undefined bytes is not compared.
    uint64_t mask = 0;
    for (unsigned byte = 0; byte != 8; ++byte)
      if (!(row.undefined >> byte & 1))
        mask |= uint64_t(0xFF) << byte * 8;
    EXPECT_EQ(value.bits & mask, row.expected & mask) << what;
  }
}

/// A body that is refused, and a part of the message.
struct RefusedBody {
  const char *body, *message;
};

inline void expectRefusals(const std::vector<RefusedBody> &refusals) {
  for (const RefusedBody &refusal : refusals)
    EXPECT_EQ(getLoadError(refusal.body), refusal.message) << refusal.body;
}

} // namespace mlir::blockscale::sim::kerneltest

#endif // BLOCKSCALE_TEST_UNIT_SIMULATOR_INSTRUCTIONROWS_H
