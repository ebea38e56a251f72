//===- ArithmeticTesting.h - Rows of results of instructions ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_SIMULATOR_ARITHMETIC_ARITHMETICTESTING_H
#define BLOCKSCALE_TEST_UNIT_SIMULATOR_ARITHMETIC_ARITHMETICTESTING_H

#include "KernelTesting.h"

#include <random>

namespace mlir::blockscale::sim::kerneltest {

/// An instruction, as in "add.u32" (the operands are %d and the sources), or
/// several with their operands; what it works on and what must come out.
/// Undefined bytes of the result have no bits.
struct Row {
  std::string text;
  std::vector<Source> sources;
  uint64_t expected;
  uint8_t undefined = 0;
};

void checkRows(unsigned resultBits, const std::vector<Row> &rows);

/// A body that is refused, and the message.
struct Refusal {
  std::string body, message;
};

void checkRefusals(const std::vector<Refusal> &refusals);

/// The results of an instruction such as "add.u32" for many sources:
/// sources[i][j] is source j of element i.
std::vector<uint64_t>
evaluateAll(const std::string &text, unsigned resultBits,
            const std::vector<unsigned> &sourceBits,
            const std::vector<std::vector<uint64_t>> &sources);

/// Numbers of a floating-point format that are likely to meet at its corners:
/// ends, ties, small differences of exponents.
class RandomNumbers {
public:
  RandomNumbers(unsigned exponentBits, unsigned mantissaBits)
      : exponentBits(exponentBits), mantissaBits(mantissaBits) {}

  /// Up to three numbers, which belong together.
  std::vector<uint64_t> next(unsigned count);

private:
  uint64_t draw();
  uint64_t drawNear(uint64_t number);

  unsigned exponentBits, mantissaBits;
  std::mt19937_64 engine{20240607};
};

} // namespace mlir::blockscale::sim::kerneltest

#endif // BLOCKSCALE_TEST_UNIT_SIMULATOR_ARITHMETIC_ARITHMETICTESTING_H
