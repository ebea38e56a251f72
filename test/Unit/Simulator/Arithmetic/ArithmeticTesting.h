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

/// An instruction such as "add.u32" (its operands are %d and the sources), or
/// several instructions with operands; the sources, and the expected result.
/// Undefined bytes of the result are 0.
struct Row {
  std::string text;
  std::vector<Source> sources;
  uint64_t expected;
  uint8_t undefined = 0;
};

void checkRows(unsigned resultBits, const std::vector<Row> &rows);

/// A body that is refused, and its message.
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

/// Random values of a floating-point format that favor corner cases: ends of
/// the range, ties, small differences of exponents.
class RandomNumbers {
public:
  RandomNumbers(unsigned exponentBits, unsigned mantissaBits)
      : exponentBits(exponentBits), mantissaBits(mantissaBits) {}

  /// Up to three related values.
  std::vector<uint64_t> next(unsigned count);

private:
  uint64_t draw();
  uint64_t drawNear(uint64_t number);

  unsigned exponentBits, mantissaBits;
  std::mt19937_64 engine{20240607};
};

} // namespace mlir::blockscale::sim::kerneltest

#endif // BLOCKSCALE_TEST_UNIT_SIMULATOR_ARITHMETIC_ARITHMETICTESTING_H
