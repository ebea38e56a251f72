//===- TensorReductionTest.cpp - Tests of tcgen05.ld.red ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes every form that ptxas 13.0 accepts on cells with all sorts of bits,
// and compares the result with a reduction of the columns of a lane in order.
//
//===----------------------------------------------------------------------===//

#include "ThreadTesting.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

namespace {
/// The modifiers behind the shape and the count.
struct Operation {
  const char *modifiers;
  bool isMax, isFloat, isSigned, isAbsolute, propagatesNaN;
};
} // namespace

static constexpr Operation kOperations[] = {
    {"min.f32", false, true, false, false, false},
    {"max.f32", true, true, false, false, false},
    {"f32.min.abs", false, true, false, true, false},
    {"max.abs.f32", true, true, false, true, false},
    {"min.NaN.f32", false, true, false, false, true},
    {"f32.max.NaN", true, true, false, false, true},
    {"min.abs.NaN.f32", false, true, false, true, true},
    {"max.NaN.abs.f32", true, true, false, true, true},
    {"min.u32", false, false, false, false, false},
    {"u32.max", true, false, false, false, false},
    {"s32.min", false, false, true, false, false},
    {"max.s32", true, false, true, false, false},
};

static constexpr unsigned kThreads = 32, kColumns = 256, kStored = 128;

/// The cells, lane by lane. Some lanes have only NaNs, and one has only zeros
/// of both signs.
static std::vector<uint32_t> makeCells() {
  static constexpr uint32_t special[] = {
      0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x00000001,
      0x80000001, 0x3F800000, 0xBF800000, 0x7FC00123, 0xFFC00000};
  std::minstd_rand random(7);
  std::vector<uint32_t> cells(kThreads * kColumns);
  for (unsigned lane = 0; lane != kThreads; ++lane)
    for (unsigned column = 0; column != kColumns; ++column) {
      uint32_t &cell = cells[lane * kColumns + column];
      unsigned draw = random() % 4;
      if (lane % 8 == 3)
        cell = 0x7FC00000 | lane << 31;
      else if (lane == 9)
        cell = random() % 2 << 31;
      else if (draw == 0)
        cell = special[random() % std::size(special)];
      else
        cell = static_cast<uint32_t>(random()) << draw;
    }
  return cells;
}

static bool isNaN(uint32_t bits) { return (bits & 0x7FFFFFFF) > 0x7F800000; }

/// A key that orders bits by their value.
static uint32_t getRank(const Operation &operation, uint32_t bits) {
  constexpr uint32_t sign = 0x80000000;
  if (operation.isFloat)
    return bits & sign ? ~bits : bits | sign;
  return operation.isSigned ? bits ^ sign : bits;
}

static uint32_t reduceCells(const Operation &operation,
                            std::vector<uint32_t> cells) {
  constexpr uint32_t canonical = 0x7FFFFFFF;
  if (operation.isFloat) {
    size_t count = cells.size();
    cells.erase(std::remove_if(cells.begin(), cells.end(), isNaN), cells.end());
    if (cells.empty() || (operation.propagatesNaN && cells.size() != count))
      return canonical;
  }
  if (operation.isAbsolute)
    for (uint32_t &cell : cells)
      cell &= 0x7FFFFFFF;
  std::sort(cells.begin(), cells.end(), [&](uint32_t a, uint32_t b) {
    return getRank(operation, a) < getRank(operation, b);
  });
  return operation.isMax ? cells.back() : cells.front();
}

/// "{%v0, %v1, ...}".
static std::string makeVector(unsigned count) {
  std::string text = "{%v0";
  for (unsigned i = 1; i != count; ++i)
    text += ", %v" + std::to_string(i);
  return text + "}";
}

/// One warp with all cells stored; the address of its columns is in %r10.
static std::string begin() {
  std::string text =
      ".reg .b32 %v<128>; .shared .b32 S; mov.u32 %r0, %tid.x;"
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [S], 256;"
      "bar.sync 0; ld.shared.b32 %r10, [S]; mul.wide.u32 %d1, %r0, 1024;"
      "add.u64 %d1, %d1, %buf0;";
  for (unsigned first = 0; first != kColumns; first += kStored) {
    for (unsigned i = 0; i != kStored; ++i)
      text += "ld.global.b32 %v" + std::to_string(i) + ", [%d1 + " +
              std::to_string(4 * (first + i)) + "];";
    text += "tcgen05.st.sync.aligned.32x32b.x128.b32 [%r10 + " +
            std::to_string(first) + "], " + makeVector(kStored) + ";";
  }
  return text + "tcgen05.wait::st.sync.aligned;\n";
}

static const std::string kEnd =
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 256;";
static const std::string kWaitLoad = "tcgen05.wait::ld.sync.aligned;";

/// `body` is on line 2. Buffer 1 has 128 words for each thread, whose address
/// is in %d2, and buffer 2 one, whose address is in %d3.
static KernelRun makeReductionRun(const std::string &body) {
  KernelRun run;
  run.body = begin() +
             "mul.wide.u32 %d2, %r0, 512; add.u64 %d2, %d2, %buf1;"
             "mul.wide.u32 %d3, %r0, 4; add.u64 %d3, %d3, %buf2;" +
             body;
  run.buffers = {toBytes(makeCells()), zeros<uint32_t>(kThreads * 128),
                 zeros<uint32_t>(kThreads)};
  run.target = "sm_103a";
  run.options.checkRace = run.options.checkStrict = true;
  return run;
}

/// Executes one form; `isSplit` is .16x32bx2.
static void expectReductions(const Operation &operation, unsigned count,
                             bool isSplit) {
  unsigned column = 256 - 128 - count % 100, secondColumn = 256 - count;
  std::string body =
      std::string("tcgen05.ld.red.sync.aligned.") +
      (isSplit ? "16x32bx2" : "32x32b") + ".x" + std::to_string(count) + "." +
      operation.modifiers + " " + makeVector(count) + ", %r11, [%r10 + " +
      std::to_string(column) + "]" +
      (isSplit ? ", " + std::to_string(secondColumn - column) : "") + ";" +
      kWaitLoad + "st.global.b32 [%d3], %r11;";
  for (unsigned i = 0; i != count; ++i)
    body += "st.global.b32 [%d2 + " + std::to_string(4 * i) + "], %v" +
            std::to_string(i) + ";";
  std::string name = std::string(isSplit ? "16x32bx2.x" : "32x32b.x") +
                     std::to_string(count) + "." + operation.modifiers;
  KernelResult result = runKernel(makeReductionRun(body + kEnd));
  ASSERT_EQ(result.error, "") << name;
  std::vector<uint32_t> cells = makeCells(), loaded = result.get<uint32_t>(1),
                        reduced = result.get<uint32_t>(2);
  for (unsigned t = 0; t != kThreads; ++t) {
    unsigned lane = isSplit ? t % 16 : t;
    unsigned first = isSplit && t >= 16 ? secondColumn : column;
    auto begin = cells.begin() + lane * kColumns + first;
    std::vector<uint32_t> expected(begin, begin + count);
    for (unsigned i = 0; i != count; ++i)
      ASSERT_EQ(loaded[t * 128 + i], expected[i])
          << t << " " << i << " of " << name;
    EXPECT_EQ(reduced[t], reduceCells(operation, expected))
        << t << " of " << name;
  }
}

TEST(TensorReductionTest, AllForms) {
  for (const Operation &operation : kOperations)
    for (unsigned count = 2; count <= 128; count *= 2) {
      expectReductions(operation, count, /*isSplit=*/false);
      // Halves that do not overlap, but for the widest one.
      expectReductions(operation, count, /*isSplit=*/true);
    }
}

TEST(TensorReductionTest, UndefinedCells) {
  // Of 32 columns that are allocated, one is stored.
  KernelRun run = makeReductionRun(
      "bar.sync 0; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
      "[S], 256;"
      "bar.sync 0; ld.shared.b32 %r12, [S];"
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r0};"
      "tcgen05.wait::st.sync.aligned;"
      "tcgen05.ld.red.sync.aligned.32x32b.x2.max.u32 {%v0, %v1}, %r11, "
      "[%r12];" +
      kWaitLoad +
      "st.global.b32 [%d2], %v0; st.global.b32 [%d3], %r11;"
      "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r12, 256;" +
      kEnd);
  EXPECT_NE(getError(run).find("argument 2"), std::string::npos)
      << getError(run);
}

TEST(TensorReductionTest, LoadsWithoutAWaitBefore) {
  const std::string load = "tcgen05.ld.red.sync.aligned.32x32b.x2.max.u32 "
                           "{%v0, %v1}, %r11, [%r10];";
  EXPECT_FAILS(makeReductionRun(load + "tcgen05.st.sync.aligned.32x32b.x1.b32 "
                                       "[%r10 + 1], {%r0};"),
               2, "expected tcgen05.wait::ld between");
  EXPECT_FAILS(makeReductionRun(load + kEnd), 2,
               "expected tcgen05.wait::ld before tcgen05.dealloc");
  EXPECT_FAILS(makeReductionRun("add.u32 %r10, %r10, 255;" + load), 2,
               "of tensor memory to be allocated by block");
  EXPECT_FAILS(makeReductionRun("add.u32 %r10, %r10, 0x200000;" + load), 2,
               "expected an address in lane 0, got lane 32");
}

TEST(TensorReductionTest, FormsThatAreRefused) {
  auto load = [](const std::string &modifiers,
                 const std::string &operands = "{%r0, %r1}, %r2, [%r3];",
                 const std::string &target = "sm_103a") {
    return getLoadError(
        "tcgen05.ld.red.sync.aligned." + modifiers + " " + operands, target);
  };
  // Accepted forms run up to the undefined address.
  const std::string taken =
      "an address in tensor memory is undefined: %r3 is never given a value";
  EXPECT_EQ(load("32x32b.x2.max.f32"), taken);
  EXPECT_EQ(load("32x32b.x2.max.f32", "{%r0, %r1}, {%f0}, [%r3];"), taken);
  for (const char *target : {"sm_103f", "sm_110a", "sm_110f"})
    EXPECT_EQ(load("32x32b.x2.max.f32", "{%r0, %r1}, %r2, [%r3];", target),
              taken);
  for (const char *target : {"sm_100a", "sm_100f"})
    EXPECT_EQ(load("32x32b.x2.max.f32", "{%r0, %r1}, %r2, [%r3];", target),
              std::string("expected a target that has tcgen05.ld.red, got ") +
                  target);
  EXPECT_EQ(load("32x32b.x1.max.f32", "{%r0}, %r2, [%r3];"),
            "expected at least .x2 with tcgen05.ld.red, got .x1");
  for (const char *shape : {"16x64b", "16x128b", "16x256b"})
    EXPECT_EQ(load(shape + std::string(".x2.max.f32")),
              "expected .32x32b or .16x32bx2 with tcgen05.ld.red, got ." +
                  std::string(shape));
  const std::string operation =
      "expected .min or .max of .f32, .u32 or .s32 behind tcgen05.ld.red";
  for (const char *modifiers :
       {"add.f32", "max.b32", "max.f16x2", "max.u64", "f32", "max"})
    EXPECT_EQ(load("32x32b.x2." + std::string(modifiers)), operation);
  for (const char *modifiers :
       {"max.abs.u32", "min.NaN.s32", "max.min.f32", "max.f32.u32",
        "pack::16b.max.f32", "max.abs.abs.f32"})
    EXPECT_EQ(load("32x32b.x2." + std::string(modifiers))
                  .rfind("not supported in this version: modifier ", 0),
              0u)
        << modifiers;
  EXPECT_EQ(load("32x32b.x2.max.f32", "{%r0, %r1}, [%r3];"),
            "expected 3 operands of tcgen05, got 2");
  EXPECT_EQ(load("16x32bx2.x2.max.f32", "{%r0, %r1}, %r2, [%r3];"),
            "expected 4 operands of tcgen05, got 3");
  EXPECT_EQ(load("32x32b.x2.max.f32", "{%r0, %r1}, %d2, [%r3];"),
            "expected a register for .b32, got %d2 of type .b64");
  EXPECT_EQ(getLoadError("tcgen05.st.red.sync.aligned.32x32b.x2.b32 [%r3], "
                         "{%r0, %r1};",
                         "sm_103a"),
            "not supported in this version: modifier 'red' of tcgen05");
}

TEST(TensorReductionTest, Versions) {
  auto load = [](const std::string &version) {
    Result<SimulatedProgram> program = SimulatedProgram::load(
        ".version " + version +
        "\n.target sm_103a\n.address_size 64\n.entry k() { .reg .b32 %r<4>;\n"
        "tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%r0, %r1}, %r2, "
        "[%r3]; }");
    LaunchPlan plan;
    plan.kernels.emplace_back().name = "k";
    plan.kernels.back().block[0] = 32;
    std::vector<LaunchArgument> arguments;
    return program->run(plan, arguments, Options()).message();
  };
  EXPECT_NE(load("8.8").find("an address in tensor memory is undefined"),
            std::string::npos)
      << load("8.8");
  EXPECT_NE(load("8.7").find("expected PTX version 8.8 or above for "
                             "tcgen05.ld.red, got 8.7"),
            std::string::npos)
      << load("8.7");
}
