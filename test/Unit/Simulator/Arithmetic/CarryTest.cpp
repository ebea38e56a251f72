//===- CarryTest.cpp - Random programs around the carry flag --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares random programs of 32-bit and 64-bit instructions that set and use
// the carry flag with a model that agreed with a card: one adder, with a + ~b +
// 1 for differences.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"

#include <random>

using namespace mlir::blockscale::sim;
using namespace kerneltest;

namespace {
using Wide = unsigned __int128;

constexpr unsigned kThreads = 32, kInstructions = 12, kInputs = 4;

struct Instruction {
  /// "add", "sub" or "mad".
  std::string base;
  bool takes, gives, isSigned, isHigh;
  unsigned bits;
  /// Indices of inputs, or of earlier results of the same width.
  unsigned sources[3];
};

/// Inputs, then results, of 64 bits each; only the low half counts for 32 bits.
using Values = std::vector<uint64_t>;

uint64_t cut(uint64_t value, unsigned bits) {
  return bits == 64 ? value : static_cast<uint32_t>(value);
}

uint64_t multiplyHigh(const Instruction &each, uint64_t a, uint64_t b) {
  if (!each.isSigned)
    return static_cast<uint64_t>(Wide(a) * b >> each.bits);
  if (each.bits == 64)
    return static_cast<uint64_t>(
        __int128(static_cast<int64_t>(a)) * static_cast<int64_t>(b) >> 64);
  return static_cast<uint64_t>(
      int64_t(static_cast<int32_t>(a)) * static_cast<int32_t>(b) >> 32);
}

/// The result of an instruction; changes the flag.
uint64_t model(const Instruction &each, const Values &values, bool &flag) {
  uint64_t a = cut(values[each.sources[0]], each.bits);
  uint64_t b = cut(values[each.sources[1]], each.bits);
  bool carry = each.takes && flag;
  if (each.base == "sub") {
    b = cut(~b, each.bits);
    carry |= !each.takes;
  } else if (each.base == "mad") {
    a = cut(each.isHigh ? multiplyHigh(each, a, b) : a * b, each.bits);
    b = cut(values[each.sources[2]], each.bits);
  }
  Wide sum = Wide(a) + b + carry;
  if (each.gives)
    flag = (sum >> each.bits & 1) != 0;
  return cut(static_cast<uint64_t>(sum), each.bits);
}

std::string getName(const Instruction &each) {
  std::string name = each.base + (each.takes ? "c" : "");
  if (each.base == "mad")
    name += each.isHigh ? ".hi" : ".lo";
  return name + (each.gives ? ".cc" : "") + (each.isSigned ? ".s" : ".u") +
         std::to_string(each.bits);
}

std::string print(const Instruction &each, unsigned result) {
  std::string prefix = each.bits == 64 ? "%d" : "%r";
  std::string text = getName(each) + " " + prefix + std::to_string(result);
  for (unsigned i = 0; i != (each.base == "mad" ? 3u : 2u); ++i)
    text += ", " + prefix + std::to_string(each.sources[i]);
  return text + ";\n";
}

class Programs {
public:
  std::vector<Instruction> drawProgram() {
    static constexpr const char *bases[] = {"add", "sub", "mad"};
    std::vector<Instruction> program(kInstructions);
    for (unsigned i = 0; i != kInstructions; ++i) {
      Instruction &each = program[i];
      each.base = bases[engine() % 3];
      // The first instruction sets the flag.
      each.takes = i != 0 && engine() % 4 != 0;
      each.gives = i == 0 || !each.takes || engine() % 4 != 0;
      each.isSigned = engine() % 2;
      each.isHigh = engine() % 2;
      each.bits = engine() % 2 ? 32 : 64;
      for (unsigned &source : each.sources)
        source = engine() % (kInputs + i);
    }
    return program;
  }
  /// Values whose sums are close to a carry.
  uint64_t drawInput() {
    uint64_t value = engine() % 3 == 0 ? engine() : 0;
    uint64_t ends[] = {0, ~uint64_t(0), uint64_t(1) << 63, 0x80000000,
                       0xFFFFFFFF};
    return value ^ (ends[engine() % 5] + engine() % 3 - 1);
  }

private:
  std::mt19937_64 engine{20250711};
};
} // namespace

/// Loads the inputs of a thread, executes the program, and stores the result of
/// each instruction.
static std::string makeBody(const std::vector<Instruction> &program) {
  std::string body = "mov.u32 %r60, %tid.x; mad.wide.u32 %d60, %r60, " +
                     std::to_string(kInputs * 8) +
                     ", %buf0; mad.wide.u32 "
                     "%d61, %r60, " +
                     std::to_string(kInstructions * 8) + ", %buf1;\n";
  for (unsigned i = 0; i != kInputs; ++i) {
    std::string number = std::to_string(i);
    body += "ld.global.b64 %d" + number + ", [%d60+" + std::to_string(i * 8) +
            "]; cvt.u32.u64 %r" + number + ", %d" + number + ";\n";
  }
  for (unsigned i = 0; i != kInstructions; ++i) {
    unsigned result = kInputs + i;
    std::string number = std::to_string(result);
    body += print(program[i], result);
    // Both widths of each result can be a source.
    body += program[i].bits == 32
                ? "cvt.u64.u32 %d" + number + ", %r" + number + ";\n"
                : "cvt.u32.u64 %r" + number + ", %d" + number + ";\n";
    body += "st.global.b64 [%d61+" + std::to_string(i * 8) + "], %d" + number +
            ";\n";
  }
  return body;
}

TEST(CarryTest, RandomPrograms) {
  Programs programs;
  for (unsigned number = 0; number != 500; ++number) {
    std::vector<Instruction> program = programs.drawProgram();
    std::vector<uint64_t> inputs(kThreads * kInputs);
    for (uint64_t &input : inputs)
      input = programs.drawInput();
    KernelRun run;
    run.threads = kThreads;
    run.body = makeBody(program);
    run.buffers = {toBytes(inputs), zeros<uint64_t>(kThreads * kInstructions)};
    KernelResult result = runKernel(run);
    ASSERT_EQ(result.error, "") << run.body;
    std::vector<uint64_t> results = result.get<uint64_t>(1);
    for (unsigned thread = 0; thread != kThreads; ++thread) {
      auto begin = inputs.begin() + thread * kInputs;
      Values values(begin, begin + kInputs);
      bool flag = false;
      for (unsigned i = 0; i != kInstructions; ++i) {
        values.push_back(model(program[i], values, flag));
        ASSERT_EQ(results[thread * kInstructions + i], values.back())
            << "program " << number << ", thread " << thread << ", instruction "
            << i << "\n"
            << run.body;
      }
    }
  }
}
