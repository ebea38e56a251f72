//===- ArithmeticTesting.cpp - Rows of results of instructions ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticTesting.h"

#include <iomanip>
#include <sstream>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

static std::string toHex(uint64_t bits, unsigned size) {
  std::ostringstream text;
  text << "0x" << std::hex << std::uppercase << std::setfill('0')
       << std::setw(size / 4) << bits;
  return text.str();
}

/// Expands "add.u32" to "add.u32 %d, %a, %b;".
static std::string addOperands(const std::string &text, size_t numSources) {
  if (text.find(' ') != std::string::npos)
    return text;
  static constexpr const char *names[] = {", %a", ", %b", ", %c", ", %e"};
  std::string whole = text + " %d";
  for (size_t i = 0; i != numSources; ++i)
    whole += names[i];
  return whole + ";";
}

void kerneltest::checkRows(unsigned resultBits, const std::vector<Row> &rows) {
  for (const Row &row : rows) {
    std::string text = addOperands(row.text, row.sources.size());
    std::string context = text;
    for (const Source &source : row.sources)
      context += " " + toHex(source.value, source.bits);
    Value value = evaluate(text, resultBits, row.sources);
    EXPECT_EQ(value.error, "") << context;
    EXPECT_EQ(unsigned(value.undefined), unsigned(row.undefined)) << context;
    uint64_t bits = value.bits;
    for (unsigned byte = 0; byte != 8; ++byte)
      if (row.undefined >> byte & 1)
        bits &= ~(uint64_t(0xFF) << byte * 8);
    EXPECT_EQ(toHex(bits, resultBits), toHex(row.expected, resultBits))
        << context;
  }
}

void kerneltest::checkRefusals(const std::vector<Refusal> &refusals) {
  for (const Refusal &refusal : refusals)
    EXPECT_EQ(getLoadError(refusal.body), refusal.message) << refusal.body;
}

std::vector<uint64_t>
kerneltest::evaluateAll(const std::string &text, unsigned resultBits,
                        const std::vector<unsigned> &sourceBits,
                        const std::vector<std::vector<uint64_t>> &sources) {
  static constexpr const char *names[] = {"%a", "%b", "%c"};
  KernelRun run;
  run.blocks = (sources.size() + 31) / 32;
  run.buffers = {zeros<uint64_t>(run.blocks * 32)};
  run.body = "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; "
             "mad.lo.u32 %r0, %r1, 32, %r0; mul.wide.u32 %d0, %r0, 8; ";
  for (size_t j = 0; j != sourceBits.size(); ++j) {
    std::vector<uint64_t> values(run.blocks * 32);
    for (size_t i = 0; i != sources.size(); ++i)
      values[i] = sources[i][j];
    run.buffers.push_back(toBytes(values));
    std::string bits = std::to_string(sourceBits[j]);
    run.body += ".reg .b" + bits + " " + names[j] + "; add.u64 %d1, %buf" +
                std::to_string(j + 1) + ", %d0; ld.global.b" + bits + " " +
                names[j] + ", [%d1]; ";
  }
  std::string bits = std::to_string(resultBits);
  run.body += ".reg .b" + bits + " %d; " +
              addOperands(text, sourceBits.size()) +
              " add.u64 %d1, %buf0, %d0; st.global.b" + bits + " [%d1], %d; ";
  KernelResult result = runKernel(run);
  EXPECT_EQ(result.error, "") << text;
  std::vector<uint64_t> results(sources.size());
  if (result.error.empty())
    std::memcpy(results.data(), result.buffers[0].data(), results.size() * 8);
  return results;
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

uint64_t RandomNumbers::draw() {
  unsigned signBit = exponentBits + mantissaBits;
  uint64_t all = (uint64_t(1) << signBit << 1) - 1;
  uint64_t fraction = (uint64_t(1) << mantissaBits) - 1;
  uint64_t bits = engine() & all;
  switch (engine() % 8) {
  case 0: // Few bits set in the fraction: exact results and ties.
    return bits & ~(fraction & ~(engine() & engine() & engine()));
  case 1: // Subnormal.
    return bits & (fraction | uint64_t(1) << signBit);
  case 2: // At the lower end of the fraction.
    return (bits & ~fraction) | (engine() & 3);
  case 3: // At the upper end of the fraction.
    return bits | (fraction & ~(engine() & 3));
  case 4: // At the upper end of the exponent, with infinity and NaN.
    return bits | (((uint64_t(1) << exponentBits) - 2) << mantissaBits);
  default:
    return bits;
  }
}

/// An exponent nearby, so that sums meet in their last bits.
uint64_t RandomNumbers::drawNear(uint64_t number) {
  uint64_t mask = ((uint64_t(1) << exponentBits) - 1) << mantissaBits;
  uint64_t distance = engine() % (2 * mantissaBits + 6);
  uint64_t exponent = (number & mask) >> mantissaBits;
  exponent += mantissaBits + 3;
  exponent -= std::min(distance, exponent);
  return (draw() & ~mask) | (exponent << mantissaBits & mask);
}

std::vector<uint64_t> RandomNumbers::next(unsigned count) {
  std::vector<uint64_t> numbers = {draw()};
  bool isNear = engine() % 2;
  if (count == 2)
    numbers.push_back(isNear ? drawNear(numbers[0]) : draw());
  if (count == 3) {
    numbers.push_back(draw());
    // The exponent of the product.
    uint64_t mask = ((uint64_t(1) << exponentBits) - 1) << mantissaBits;
    uint64_t bias = ((uint64_t(1) << (exponentBits - 1)) - 1) << mantissaBits;
    uint64_t product = (numbers[0] & mask) + (numbers[1] & mask) - bias;
    numbers.push_back(isNear ? drawNear(product) : draw());
  }
  return numbers;
}
