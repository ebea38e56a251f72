//===- WeightStationaryTest.cpp - Tests of tcgen05.mma.ws -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares all cells of D with sums of products.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/WeightStationaryTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

/// D after `times` products. `isZero(n)` are columns that count as 0.
template <typename IsZero>
static void expectProduct(const Product &product, const KernelRun &run,
                          IsZero isZero, int times = 1, unsigned shift = 0) {
  KernelResult result = runKernel(run);
  ASSERT_EQ(result.error, "") << product.m << "x" << product.n;
  EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
  std::vector<uint32_t> words = result.get<uint32_t>(3);
  std::vector<uint16_t> halves = result.get<uint16_t>(3);
  for (unsigned lane = 0; lane != kTensorThreads; ++lane)
    for (unsigned column = 0; column != product.getColumns(); ++column) {
      unsigned part = lane / product.m;
      unsigned n = part * product.getColumns() + column;
      int sum = 0;
      for (unsigned k = 0; k != product.getK() && !isZero(n); ++k)
        sum += getA(product, part, lane % product.m, k) * getB(n + shift, k);
      sum = times * sum + (product.addsD ? getD(lane, column) : 0);
      uint32_t cell = product.sum == Sum::F16
                          ? halves[lane * kMostColumns * 2 + column]
                          : words[lane * kMostColumns + column];
      ASSERT_EQ(cell, encodeSum(product.sum, sum))
          << product.a->kind << " " << product.m << "x" << product.n << " lane "
          << lane << " column " << column;
    }
}

static void expectProduct(const Product &product, const KernelRun &run,
                          int times = 1, unsigned shift = 0) {
  expectProduct(product, run, [](unsigned) { return false; }, times, shift);
}
static void expectProduct(const Product &product) {
  expectProduct(product, makeWholeRun(product, multiply(product)));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

TEST(WeightStationaryTest, ShapesAndKinds) {
  const ElementRow *pairs[][2] = {
      {&kF16, &kBF16}, {&kTF32, &kTF32}, {&kE4M3, &kE5M2}, {&kS8, &kS8}};
  for (unsigned m : {32, 64, 128})
    for (unsigned n : {64, 128, 256})
      for (auto [a, b] : pairs)
        for (bool isTensorA : {false, true}) {
          Product product = {m, n, a, b, a == &kS8 ? Sum::S32 : Sum::F32};
          product.isTensorA = isTensorA;
          expectProduct(product);
        }
}

TEST(WeightStationaryTest, DThatIsNotAdded) {
  Product product = {32, 128, &kBF16, &kF16};
  product.addsD = false;
  expectProduct(product);
}

TEST(WeightStationaryTest, SumsOfF16) {
  expectProduct({64, 64, &kF16, &kF16, Sum::F16});
  expectProduct({32, 256, &kE5M2, &kE4M3, Sum::F16});
}

TEST(WeightStationaryTest, TransposedB) {
  Product product = {64, 128, &kF16, &kF16};
  product.isTransposedB = true;
  expectProduct(product);
}

TEST(WeightStationaryTest, TargetsAndMasksThatAreLeftOut) {
  Product product = {64, 64, &kF16, &kF16};
  for (const char *mask : {"", ", 0"}) {
    product.mask = mask;
    KernelRun run = makeWholeRun(product, multiply(product));
    for (const char *target : {"sm_100f", "sm_103a", "sm_110f"}) {
      run.target = target;
      expectProduct(product, run);
    }
  }
}

TEST(WeightStationaryTest, Numerics) {
  Product product = {32, 64, &kE4M3, &kE5M2};
  KernelRun run = makeWholeRun(product, multiply(product));
  run.options.numerics = Numerics::Hardware;
  expectProduct(product, run);
}

TEST(WeightStationaryTest, Statistics) {
  Product product = {32, 64, &kF16, &kBF16};
  product.maxShift = 1;
  product.zeroColumns = uint64_t(3) << 56;
  KernelRun run = makeWholeRun(product, multiply(product));
  run.options.wantsStatistics = true;
  std::string text = runKernel(run).statistics;
  // 32 bytes of 32 rows of A and of 64 + 3 columns of B.
  for (const char *part :
       {"\"tcgen05.mma.ws.f16.m32n64k16.f16.bf16.f32\": 1",
        "\"multiply_adds\": 32768", "\"matrix_operands\": 3168"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
}

//===----------------------------------------------------------------------===//
// Columns of B
//===----------------------------------------------------------------------===//

TEST(WeightStationaryTest, ColumnsThatAreShifted) {
  struct {
    unsigned m, maxShift, shift;
  } rows[] = {{32, 1, 8},  {32, 2, 16}, {64, 1, 3},  {64, 3, 32},
              {128, 3, 1}, {128, 3, 0}, {128, 2, 11}};
  for (const auto &row : rows)
    for (bool isTransposedB : {false, true}) {
      Product product = {row.m, 256, &kF16, &kF16};
      product.maxShift = row.maxShift;
      product.isTransposedB = isTransposedB;
      product.zeroColumns = uint64_t(row.shift) << 56;
      expectProduct(product, makeWholeRun(product, multiply(product)),
                    /*times=*/1, row.shift);
    }
  // Without a mask, its other fields do not matter.
  Product product = {64, 64, &kF16, &kF16};
  product.zeroColumns = 0x0004000F'01020304;
  expectProduct(product);
}

TEST(WeightStationaryTest, ColumnsThatCountAsZero) {
  // Spans of 16 columns; the parts begin with zeros or not, some of them
  // further on.
  constexpr unsigned span = 16;
  constexpr unsigned starts[] = {0, 5, 16, 70};
  constexpr bool firsts[] = {true, false, false, true};
  for (unsigned m : {32, 64, 128}) {
    Product product = {m, 256, &kBF16, &kF16};
    product.zeroColumns =
        uint64_t(1) << 39 | uint64_t(span - 1) << 40 | uint64_t(span - 1) << 48;
    for (unsigned i = 0; i != 4; ++i)
      product.zeroColumns |= uint64_t(starts[i]) << 8 * i | uint64_t(firsts[i])
                                                                << (32 + i);
    auto isZero = [&](unsigned n) {
      unsigned part = n / product.getColumns();
      bool isZeroNow = firsts[part];
      for (unsigned i = 0, at = 0; i != starts[part] + n % product.getColumns();
           ++i)
        if (++at == span) {
          at = 0;
          isZeroNow = !isZeroNow;
        }
      return isZeroNow;
    };
    expectProduct(product, makeWholeRun(product, multiply(product)), isZero);
  }
}

TEST(WeightStationaryTest, ZerosReplaceUndefinedColumns) {
  // 192 of 256 columns are stored, and the last 64 count as 0.
  Product product = {128, 256, &kF16, &kF16};
  product.numBlocks = 5;
  product.zeroColumns =
      uint64_t(1) << 39 | uint64_t(63) << 40 | uint64_t(63) << 48;
  expectProduct(product, makeWholeRun(product, multiply(product)),
                [](unsigned n) { return n / 64 % 2 == 1; });
  product.zeroColumns = 0;
  EXPECT_NE(
      getError(makeWholeRun(product, multiply(product))).find("argument 3"),
      std::string::npos);
}

TEST(WeightStationaryTest, MasksThatAreRefused) {
  auto run = [](unsigned m, unsigned maxShift, uint64_t mask) {
    Product product = {m, 64, &kF16, &kF16};
    product.maxShift = maxShift;
    product.zeroColumns = mask;
    return makeWholeRun(product, multiply(product));
  };
  constexpr uint64_t isMasked = uint64_t(1) << 39;
  EXPECT_FAILS(run(64, 3, uint64_t(1) << 36), 2,
               "expected 0 in the reserved bits in a zero-column mask "
               "descriptor for M = 64, got 0x1000000000 {start_count_0 0,");
  EXPECT_FAILS(run(64, 3, uint64_t(1) << 62), 2, "expected 0 in the reserved");
  EXPECT_FAILS(run(64, 3, uint64_t(33) << 56), 2,
               "expected a column_shift of at most 32 in a zero-column mask");
  EXPECT_FAILS(run(32, 2, uint64_t(17) << 56), 2,
               "expected a column_shift of at most 16 in a zero-column mask");
  EXPECT_FAILS(run(64, 1, uint64_t(9) << 56), 2,
               "expected a column_shift in the zero-column mask descriptor up "
               "to the max_shift of the instruction descriptor, which is 8, "
               "got 9");
  // The examples of the ISA: a span of 3 and one of 4, and a shift.
  EXPECT_FAILS(run(128, 0, isMasked | uint64_t(2) << 40 | uint64_t(3) << 48), 2,
               "not supported in this version: a skip_span that differs from "
               "the use_span, for which the PTX ISA is contradictory, in a "
               "zero-column mask");
  EXPECT_FAILS(
      run(32, 1,
          isMasked | uint64_t(3) << 40 | uint64_t(3) << 48 | uint64_t(2) << 56),
      2, "not supported in this version: a mask and a column_shift");
}

//===----------------------------------------------------------------------===//
// Collectors
//===----------------------------------------------------------------------===//

TEST(WeightStationaryTest, CollectorsThatAreFilled) {
  Product product = {64, 64, &kF16, &kF16};
  std::string body;
  for (const char *use : {"b1::fill", "b0::fill", "b1::use", "b1::lastuse",
                          "b0::use", "b3::discard"})
    body += multiply(product, std::string(".collector::") + use);
  expectProduct(product, makeWholeRun(product, body), /*times=*/6);
}

TEST(WeightStationaryTest, CollectorsThatAreNotFilled) {
  Product product = {64, 64, &kF16, &kF16};
  auto run = [&](const char *first, const std::string &between,
                 const char *second) {
    return makeWholeRun(
        product, multiply(product, std::string(".collector::") + first) +
                     between +
                     multiply(product, std::string(".collector::") + second));
  };
  const std::string empty = " to be filled with B before it is used";
  EXPECT_FAILS(run("b1::fill", "", "b2::use"), 2,
               "tcgen05.mma.ws expected collector buffer b2" + empty);
  EXPECT_FAILS(run("b0::fill", multiply(product), "b0::use"), 2,
               "collector buffer b0" + empty);
  EXPECT_FAILS(run("b3::discard", "", "b3::lastuse"), 2,
               "collector buffer b3" + empty);
  EXPECT_FAILS(
      run("b3::fill", multiply(product, ".collector::b3::lastuse"), "b3::use"),
      2, "collector buffer b3" + empty);
  const std::string other =
      "collector buffer b1 to be filled with this B, but it has another one";
  EXPECT_FAILS(run("b1::fill", "add.u64 %d11, %d11, 16;", "b1::use"), 2, other);
  // f16 instead of bf16.
  EXPECT_FAILS(run("b1::fill", "xor.b32 %r14, %r14, 0x400;", "b1::use"), 2,
               other);
}

// A buffer keeps the bytes with which it was filled.
TEST(WeightStationaryTest, CollectorsOfChangedBytes) {
  Product product = {64, 64, &kF16, &kF16};
  const std::string wait =
      "W1: mbarrier.try_wait.parity.shared.b64 %p7, [M], 0; @!%p7 bra W1;"
      "bar.sync 0;";
  auto run = [&](const std::string &between, const char *second) {
    return makeProductRun(
        product, multiply(product, ".collector::b1::fill") +
                     "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one."
                     "shared::cluster.b64 [M];" +
                     wait + between + "fence.proxy.async; bar.sync 0;\n" +
                     multiply(product, second));
  };
  const std::string changed =
      "tcgen05.mma.ws expected the bytes of B with which collector buffer b1 "
      "was filled, ";
  for (const char *use : {".collector::b1::use", ".collector::b1::lastuse"}) {
    EXPECT_FAILS(run("@%p0 st.shared.b8 [S + 4096], 7;", use), 3,
                 changed + "0x0 at 0x1400 in shared memory, got 0x7");
    // Stores behind B, and stores of the same bytes.
    for (const char *between :
         {"@%p0 st.shared.b8 [S + 14335], 7;",
          "ld.shared.b8 %r9, [S + 4096]; @%p0 st.shared.b8 [S + 4096], %r9;"})
      EXPECT_EQ(getError(run(between, use)).find("collector"),
                std::string::npos);
  }
  EXPECT_EQ(
      getError(run("@%p0 st.shared.b8 [S + 4096], 7;", ".collector::b1::fill"))
          .find("collector"),
      std::string::npos);
}

TEST(WeightStationaryTest, CollectorsWithAnotherShift) {
  Product product = {64, 64, &kF16, &kF16};
  product.maxShift = 2;
  product.zeroColumns = uint64_t(8) << 56;
  auto run = [&](const char *shift) {
    return makeWholeRun(product, multiply(product, ".collector::b1::fill") +
                                     shift +
                                     multiply(product, ".collector::b1::use"));
  };
  for (auto [change, shift] :
       {std::pair("mov.b64 %d12, 0;", "0"),
        std::pair("mov.b64 %d12, 0x1000000000000000;", "16")})
    EXPECT_FAILS(run(change), 2,
                 "tcgen05.mma.ws expected the column shift with which "
                 "collector buffer b1 was filled, 8, got " +
                     std::string(shift));
  EXPECT_EQ(getError(run("")), "no error");
}

//===----------------------------------------------------------------------===//
// Order, and what is refused
//===----------------------------------------------------------------------===//

TEST(WeightStationaryTest, OrderAndProxies) {
  Product product = {32, 64, &kF16, &kF16};
  product.isTensorA = true;
  std::string ws = multiply(product);
  const std::string meet = "tcgen05.fence::before_thread_sync; bar.sync 0;"
                           "tcgen05.fence::after_thread_sync;\n";
  auto load = [](unsigned column) {
    return "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r12 + " +
           std::to_string(column) + "]; tcgen05.wait::ld.sync.aligned;";
  };
  // D has 16 columns, in all lanes.
  EXPECT_FAILS(makeProductRun(product, ws + meet + load(15)), 3,
               "the tcgen05.mma in line 2 by warp 0 and this tcgen05.ld "
               "access 0x");
  EXPECT_EQ(getError(makeWholeRun(product, ws + load(256) + load(263))),
            "no error");
  // A is read in all lanes.
  EXPECT_FAILS(
      makeProductRun(product, ws + meet +
                                  "tcgen05.st.sync.aligned.32x32b.x1.b32 "
                                  "[%r12 + 263], {%r0};"),
      3, "and this tcgen05.st access 0x");
  // Column 63 of B is read, column 64 only with a shift.
  EXPECT_FAILS(makeWholeRun(product, ws + "@%p0 st.shared.b8 [S + 6127], 0;"),
               2,
               "while the tcgen05.mma in line 2 by warp 0 may still have to "
               "read it");
  std::string behind = "@%p0 st.shared.b8 [S + 6144], 0;";
  EXPECT_EQ(getError(makeWholeRun(product, ws + behind)), "no error");
  product.maxShift = 1;
  product.zeroColumns = uint64_t(1) << 56;
  EXPECT_FAILS(makeWholeRun(product, ws + behind), 2,
               "while the tcgen05.mma in line 2 by warp 0 may still have to "
               "read it");
  // Another layout of D.
  Product square = {128, 64, &kF16, &kF16};
  EXPECT_FAILS(
      makeProductRun(square, multiply(square) +
                                 "\n@%p0 tcgen05.mma.cta_group::1.kind::f16 "
                                 "[%r10], %d10, %d11, %r14, %p2;"),
      3, "and the first of them may not be complete");
}

TEST(WeightStationaryTest, DescriptorsAndAddressesThatAreRefused) {
  Product product = {64, 64, &kF16, &kF16};
  auto run = [&](const std::string &before) {
    product.isTensorA = true;
    return makeWholeRun(product, before + multiply(product));
  };
  EXPECT_FAILS(run("or.b32 %r14, %r14, 4;"), 2,
               "expected sparse 0 without .sp in an instruction descriptor of "
               "kind::f16 with .ws, got 0x");
  EXPECT_FAILS(run("mov.b32 %r14, 0x01100010;"), 2,
               "expected M of 32, 64 or 128 in an instruction descriptor of "
               "kind::f16 with .ws, got 0x1100010 {");
  EXPECT_FAILS(run("mov.b32 %r14, 0x04080010;"), 2,
               "expected N that the kind has with this M in an instruction "
               "descriptor of kind::f16 with .ws, got");
  EXPECT_FAILS(run("mov.b32 %r14, 0xC2100010;"), 2,
               "expected a shift of at most 16 with M of 32");
  EXPECT_FAILS(run("add.u32 %r10, %r10, 0x100000;"), 2,
               "expected lane 0 in the address of D in tensor memory, got "
               "lane 16");
  EXPECT_FAILS(run("add.u32 %r15, %r15, 0x400000;"), 2,
               "expected lane 0 in the address of A in tensor memory");
  EXPECT_FAILS(run("or.b32 %r14, %r14, 0x8000;"), 2,
               "expected A in tensor memory not to be transposed");
}

TEST(WeightStationaryTest, FormsThatAreRefused) {
  auto load = [](const std::string &modifiers,
                 const std::string &operands = "[%r0], %d0, %d1, %r1, %p0;",
                 const std::string &target = "sm_100a") {
    return getLoadError("tcgen05.mma.ws." + modifiers + " " + operands, target);
  };
  EXPECT_EQ(load("cta_group::1.kind::f16", "[%r0], %d0, %d1, %r1, %p0, %r2;"),
            "expected a register for .b64, got %r2 of type .b32");
  EXPECT_EQ(load("cta_group::1.kind::f16", "[%r0], %d0, %d1, %r1, %p0, 0, 1;"),
            "expected 5 to 6 operands of tcgen05, got 7");
  EXPECT_EQ(load("cta_group::1.kind::f16",
                 "[%r0], %d0, %d1, %r1, {%r2, %r3, %r4, %r5}, %p0;"),
            "expected a predicate register");
  const std::string single = "expected .cta_group::1 and a kind without scales "
                             "with tcgen05.mma.ws, got .cta_group::";
  EXPECT_EQ(load("cta_group::2.kind::f16"), single + "2 and .kind::f16");
  EXPECT_EQ(load("cta_group::1.kind::mxf8f6f4.block_scale"),
            single + "1 and .kind::mxf8f6f4");
  EXPECT_EQ(
      load("cta_group::1.kind::i8", "[%r0], %d0, %d1, %r1, %p0;", "sm_103a"),
      "expected a target that has tcgen05.mma.kind::i8, got sm_103a");
  EXPECT_EQ(load("cta_group::1.kind::f16.sp"),
            "not supported in this version: tcgen05.mma.ws with .sp");
  EXPECT_EQ(load("cta_group::1.kind::f16.ashift"),
            "not supported in this version: tcgen05.mma.ashift");
  for (const char *collector : {"a::fill", "b4::fill", "b0::keep"})
    EXPECT_EQ(
        load("cta_group::1.kind::f16.collector::" + std::string(collector)),
        "not supported in this version: modifier 'collector::" +
            std::string(collector) + "' of tcgen05");
  EXPECT_EQ(getLoadError("tcgen05.mma.cta_group::1.kind::f16.collector::b0::"
                         "fill [%r0], %d0, %d1, %r1, %p0;",
                         "sm_100a"),
            "not supported in this version: modifier 'collector::b0::fill' of "
            "tcgen05");
}
