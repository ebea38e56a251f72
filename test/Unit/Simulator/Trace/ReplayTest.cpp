//===- ReplayTest.cpp - Tests of estimated times --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimated clocks of kernels on an H200, whose figures are in Rates.cpp:
// dependent chains of one warp, saturated units, and waits.
//
//===----------------------------------------------------------------------===//

#include "ThreadTesting.h"

#include "llvm/Support/JSON.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

/// The estimate of a kernel.
static llvm::json::Object estimate(KernelRun run,
                                   const std::string &target = "sm_90a") {
  run.target = target;
  run.options.wantsStatistics = true;
  run.options.maxSteps = 1 << 25;
  KernelResult result = runKernel(run);
  EXPECT_EQ(result.error, "");
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(result.statistics);
  if (!json) {
    ADD_FAILURE() << llvm::toString(json.takeError());
    return {};
  }
  return *json->getAsObject()
              ->getArray("kernels")
              ->front()
              .getAsObject()
              ->getObject("estimate");
}

static double getClocks(const KernelRun &run,
                        const std::string &target = "sm_90a") {
  return estimate(run, target).getNumber("clocks").value_or(-1);
}

/// A member of an object in the estimate, or of that object's object `unit`.
static double getShare(const llvm::json::Object &estimate,
                       llvm::StringRef group, llvm::StringRef name,
                       llvm::StringRef unit = "") {
  const llvm::json::Object *shares = estimate.getObject(group);
  if (shares && !unit.empty())
    shares = shares->getObject(unit);
  return shares ? shares->getNumber(name).value_or(-1) : -1;
}

static std::string repeat(const std::string &text, unsigned count) {
  std::string all;
  for (unsigned i = 0; i != count; ++i)
    all += text;
  return all;
}

TEST(ReplayTest, ChainsTakeTheirLatency) {
  const std::string start = "mov.f32 %f0, 0f3F800000; mov.f32 %f1, %f0;"
                            "mov.f32 %f2, %f0; mov.f32 %f3, %f0;";
  double chain = getClocks(
      makeRun(start + repeat("fma.rn.f32 %f0, %f0, %f0, %f0;", 1000)));
  EXPECT_NEAR(chain, 4000, 100);
  // Four chains side by side take no longer: one instruction in a clock.
  std::string four;
  for (const char *f : {"%f0", "%f1", "%f2", "%f3"})
    four +=
        "fma.rn.f32 " + std::string(f) + ", " + f + ", " + f + ", " + f + ";";
  EXPECT_NEAR(getClocks(makeRun(start + repeat(four, 1000))), 4000, 100);
  // Integers have half the rate: two chains.
  EXPECT_NEAR(getClocks(makeRun("mov.u32 %r4, 1; mov.u32 %r5, 1;" +
                                repeat("xor.b32 %r4, %r4, %r0;"
                                       "xor.b32 %r5, %r5, %r0;"
                                       "xor.b32 %r6, %r0, %r0;",
                                       1000))),
              6000, 100);
  EXPECT_NEAR(
      getClocks(makeRun("mov.u32 %r4, 1;" + repeat("setp.eq.u32 %p0, %r4, 1;"
                                                   "@%p0 add.u32 %r4, %r4, 0;",
                                                   1000))),
      8000, 100);
}

// The register of a constant may have the same number as a predicate, which
// must not cause a wait. The test tries several numbers.
TEST(ReplayTest, PredicatesAreNoRegisters) {
  auto compare = [](const std::string &with) {
    std::string body = "mov.u32 %r4, 1; mov.u32 %r5, 7; .reg .pred q<400>;";
    for (unsigned i = 0; i != 400; ++i)
      body +=
          repeat("setp.eq.u32 q" + std::to_string(i) + ", %r4, " + with + ";",
                 100) +
          "bar.sync 0;";
    return getClocks(makeRun(body));
  };
  EXPECT_NEAR(compare("7"), compare("%r5"), 50);
}

TEST(ReplayTest, WarpsShareUnits) {
  const std::string body =
      "mov.u32 %r4, 1; mov.u32 %r5, 1;" +
      repeat("xor.b32 %r4, %r4, %r0; xor.b32 %r5, %r5, %r0;", 100);
  // Each quarter of an SM has its own: 4 warps are as fast as one,
  // 8 take twice as long.
  double one = getClocks(makeRun(body, 32));
  EXPECT_NEAR(one, 400, 40);
  EXPECT_NEAR(getClocks(makeRun(body, 128)), one, 40);
  EXPECT_NEAR(getClocks(makeRun(body, 256)), 2 * one, 40);
  // As many blocks as the chip can hold; further blocks begin later.
  KernelRun full = makeRun(body, 1024);
  full.blocks = 132 * 2;
  double wave = getClocks(full);
  EXPECT_NEAR(wave, 16 * one, 300);
  full.blocks = 132 * 2 + 1;
  EXPECT_NEAR(getClocks(full), wave + 8 * one, 300);
}

TEST(ReplayTest, ConflictsInSharedMemory) {
  auto makeLoads = [](unsigned stride) {
    return makeRun("and.b32 %r4, %r0, 31; mul.lo.u32 %r4, %r4, " +
                       std::to_string(stride) +
                       "; add.u32 %r4, %r4, %r2; st.shared.b32 [%r4], 0;" +
                       repeat("ld.shared.b32 %r5, [%r4];"
                              "ld.shared.b32 %r6, [%r4];"
                              "ld.shared.b32 %r7, [%r4];"
                              "ld.shared.b32 %r8, [%r4];",
                              250),
                   1024);
  };
  EXPECT_NEAR(getClocks(makeLoads(4)), 32000, 300);
  EXPECT_NEAR(getClocks(makeLoads(16)), 128000, 300);
  llvm::json::Object busy = estimate(makeLoads(16));
  EXPECT_NEAR(getShare(busy, "busy", "shared memory"), 1, 0.05);
  // Each load has to wait for the one before.
  EXPECT_NEAR(getClocks(makeRun("st.shared.b32 [%r3], %r3;" +
                                repeat("ld.shared.b32 %r3, [%r3];", 1000))),
              23000, 200);
}

TEST(ReplayTest, MemoryIsFartherThanTheCache) {
  KernelRun run = makeRun("ld.global.b32 %r4, [%d3]; add.u32 %r4, %r4, 1;"
                          "st.global.b32 [%d3], %r4;");
  double first = getClocks(run);
  EXPECT_GT(first, 660);
  EXPECT_LT(first, 900);
  run.body += "ld.global.b32 %r4, [%d3]; add.u32 %r4, %r4, 1;"
              "st.global.b32 [%d3], %r4;";
  EXPECT_NEAR(getClocks(run) - first, 270, 30);
}

// The second warp waits for the first one, with a barrier or in a polling loop.
TEST(ReplayTest, WaitsForWarps) {
  const std::string chain = repeat("fma.rn.f32 %f0, %f0, %f0, %f0;", 1000);
  const std::string start =
      "mov.f32 %f0, 0f3F800000; setp.lt.u32 %p0, %r0, 32;";
  KernelRun barrier =
      makeRun(start + "@!%p0 bra E;" + chain + "E: bar.sync 0; " + chain, 64);
  llvm::json::Object found = estimate(barrier);
  EXPECT_NEAR(*found.getNumber("clocks"), 8000, 100);
  EXPECT_NEAR(getShare(found, "waits", "warps"), 0.25, 0.01);
  const std::string init =
      "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r2], 1;"
      "bar.sync 0;";
  for (const char *wait : {"try_wait", "test_wait"}) {
    KernelRun loop =
        makeRun(start + init + "@!%p0 bra W;" + chain +
                    "@%p1 mbarrier.arrive.shared.b64 _, [%r2]; bra E;"
                    "W: mbarrier." +
                    wait +
                    ".parity.shared.b64 %p2, [%r2], 0;"
                    "@!%p2 bra W;" +
                    chain + "E: ret;",
                64);
    for (uint64_t seed : {0, 1, 2, 3}) {
      loop.options.seed = seed;
      // The number of polls makes no difference.
      EXPECT_NEAR(getClocks(loop), 8170, 60) << wait << " " << seed;
    }
  }
}

TEST(ReplayTest, BarriersOfABlock) {
  for (unsigned threads : {32, 128})
    EXPECT_NEAR(getClocks(makeRun(repeat("bar.sync 0;", 1000), threads)) / 1000,
                10, 0.1)
        << threads;
}

// A warp that peeks at a phase goes on until it needs the phase.
TEST(ReplayTest, PeeksDoNotWait) {
  const std::string chain = repeat("fma.rn.f32 %f0, %f0, %f0, %f0;", 1000);
  auto makePeek = [&](const std::string &behind) {
    return makeRun("mov.f32 %f0, 0f3F800000; setp.lt.u32 %p0, %r0, 32;"
                   "setp.eq.u32 %p1, %r0, 0;"
                   "@%p1 mbarrier.init.shared.b64 [%r2], 1; bar.sync 0;"
                   "@!%p0 bra W;" +
                       chain +
                       "@%p1 mbarrier.arrive.shared.b64 _, [%r2]; bra E;"
                       "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;"
                       "selp.b32 %r4, 1, 0, %p2;" +
                       behind + chain + "E: ret;",
                   64);
  };
  EXPECT_NEAR(getClocks(makePeek("")), 4100, 100);
  EXPECT_NEAR(getClocks(makePeek("bar.sync 1, 32;")), 8200, 100);
  // A branch that depends on the result waits.
  EXPECT_NEAR(getClocks(makePeek("add.u32 %r5, %r0, 1; setp.eq.u32 %p3, %r4, 0;"
                                 "@%p3 bra W;")),
              8200, 100);
}

TEST(ReplayTest, WaitsForCopies) {
  // Four copies of 16384 bytes: 64 bytes in a clock.
  std::string copies;
  for (unsigned i = 0; i != 4; ++i)
    copies += "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
              "bytes [D + " +
              std::to_string(i << 14) + "], [%buf0], 16384, [%r2];";
  KernelRun run = makeRun(
      "setp.eq.u32 %p1, %r0, 0; @!%p1 bra W;"
      "mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster;"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 65536;" +
      copies +
      "W: bar.warp.sync -1;"
      "L: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra L;");
  run.declarations = ".extern .shared .align 128 .b8 D[];";
  run.dynamicShared = 1 << 16;
  run.buffers[0].resize(1 << 14);
  llvm::json::Object found = estimate(run);
  // Memory has served the first copy before the last one begins.
  EXPECT_NEAR(*found.getNumber("clocks"), 1024 + 290, 50);
  EXPECT_GT(getShare(found, "waits", "copies"), 0.9);
  EXPECT_NEAR(getShare(found, "busy", "L2 cache"),
              1024 / *found.getNumber("clocks"), 0.01);
}

TEST(ReplayTest, TensorCores) {
  // D is %f0 to %f3; A and B are the same bytes.
  const std::string start =
      "mul.lo.u32 %r20, %r0, 16; add.u32 %r20, %r20, %r2; mov.b32 %r21, 0;"
      "st.shared.v4.b32 [%r20], {%r21, %r21, %r21, %r21};"
      "mov.b64 %d10, 0x800400040; fence.proxy.async.shared::cta; bar.sync 0;"
      "wgmma.fence.sync.aligned;";
  const std::string multiply =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, "
      "%d10, %d10, 0, 1, 1, 0, 0;";
  auto makeProducts = [&](unsigned count) {
    return makeRun(start + repeat(multiply, count) +
                       "wgmma.commit_group.sync.aligned;"
                       "wgmma.wait_group.sync.aligned 0;",
                   128);
  };
  double few = getClocks(makeProducts(10)),
         many = getClocks(makeProducts(1010));
  // 4 clocks for the operations, but 2304 bytes of shared memory.
  EXPECT_NEAR(many - few, 18000, 100);
  llvm::json::Object found = estimate(makeProducts(1010));
  EXPECT_GT(getShare(found, "busy", "matrix pipes"), 0.95);
  EXPECT_GT(getShare(found, "waits", "tensor core"), 0.7);
  // There is little idle time before and after them.
  EXPECT_LT(getShare(found, "idle", "warps", "matrix pipes"), 0.02);
  llvm::json::Object late =
      estimate(makeRun("mov.f32 %f9, 0f3F800000;" +
                           repeat("fma.rn.f32 %f9, %f9, %f9, %f9;", 4500) +
                           start + repeat(multiply, 1000) +
                           "wgmma.commit_group.sync.aligned;"
                           "wgmma.wait_group.sync.aligned 0;",
                       128));
  EXPECT_NEAR(getShare(late, "idle", "warps", "matrix pipes") +
                  getShare(late, "idle", "issue", "matrix pipes"),
              0.5, 0.02);
  // mma.sync: 4096 operations at a quarter of 2140 in a clock.
  std::string four;
  for (unsigned i = 0; i != 4; ++i) {
    std::string d = "%f";
    d += std::to_string(8 + i);
    four += "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {" + d + ", " +
            d + ", " + d + ", " + d +
            "}, {%r4, %r4, %r4, %r4}, {%r4, %r4}, {%f4, %f4, %f4, %f4};";
  }
  EXPECT_NEAR(getClocks(makeRun("mov.b32 %r4, 0; mov.f32 %f4, 0f00000000;" +
                                repeat(four, 250))),
              7656, 100);
}

/// 32 instructions of mma without a chain among them: `d` is the kind of
/// register of C and D, and how many registers they have; `rest` has the
/// operands behind C.
static std::string makeProducts(const std::string &form, const std::string &d,
                                unsigned numD, const std::string &a,
                                const std::string &b,
                                const std::string &rest = "",
                                const std::string &opcode = "mma.sync") {
  std::string text;
  for (unsigned i = 0; i != 32; ++i) {
    std::string name = "%" + d + std::to_string(16 + i), sums = name;
    for (unsigned j = 1; j != numD; ++j)
      sums += ", " + name;
    text += opcode + ".aligned." + form + " {" + sums + "}, " + a + ", " + b +
            ", {" + sums + "}" + rest + ";";
  }
  return text;
}

// The clocks of a pipe for one instruction of a warp.
TEST(ReplayTest, PipesOfChips) {
  std::string floats, doubles;
  std::string start = "mov.b32 %r4, 0; mov.f32 %f0, 0f00000000;"
                      "mov.f64 %d9, 0d0000000000000000;";
  for (unsigned i = 16; i != 48; ++i) {
    std::string number = std::to_string(i);
    floats += "fma.rn.f32 %f" + number + ", %f0, %f0, %f0;";
    doubles += "fma.rn.f64 %d" + number + ", %d9, %d9, %d9;";
    start += "mov.b32 %r" + number + ", 0; mov.f32 %f" + number +
             ", 0f00000000; mov.f64 %d" + number + ", 0d0000000000000000;";
  }
  const std::string four = "{%r4, %r4, %r4, %r4}", two = "{%r4, %r4}";
  const std::string s8 = makeProducts("m16n8k32.row.col.s32.s8.s8.s32", "r", 4,
                                      four, two),
                    s4 = makeProducts("m16n8k64.row.col.s32.s4.s4.s32", "r", 4,
                                      four, two),
                    fp8 = makeProducts("m16n8k32.row.col.f32.e4m3.e4m3.f32",
                                       "f", 4, four, two),
                    f16 = makeProducts("m16n8k16.row.col.f32.f16.f16.f32", "f",
                                       4, four, two),
                    f64 = makeProducts("m8n8k4.row.col.f64.f64.f64.f64", "d", 2,
                                       "{%d9}", "{%d9}");
  const std::string opcode = "mma.sp::ordered_metadata.sync",
                    metadata = ", %r5, 0",
                    scales = ", %r4, {0, 0}, %r4, {0, 0}";
  start += "mov.b32 %r5, 0x44444444;";
  auto makeSparse = [&](const std::string &form, const std::string &rest) {
    return makeProducts(form, "f", 4, four, four, metadata + rest, opcode);
  };
  const std::string
      sparseF16 = makeSparse("m16n8k32.row.col.f32.f16.f16.f32", ""),
      sparseF8 = makeSparse("m16n8k64.row.col.f32.e4m3.e4m3.f32", ""),
      mxf8 = makeProducts("m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3"
                          ".e4m3.f32.ue8m0",
                          "f", 4, four, two, scales),
      sparseMXF8 = makeSparse("m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32."
                              "e4m3.e4m3.f32.ue8m0",
                              scales),
      sparseMXF4 = makeSparse("m16n8k128.row.col.kind::mxf4.block_scale.f32."
                              "e2m1.e2m1.f32.ue8m0",
                              scales);
  const struct {
    const char *name;
    const std::string &body;
    const char *target;
    double clocks;
  } rows[] = {
      {"fma.f32", floats, "sm_80", 2},
      {"fma.f32", floats, "sm_86", 1},
      {"fma.f32", floats, "sm_90a", 1},
      {"fma.f64", doubles, "sm_80", 4},
      {"fma.f64", doubles, "sm_86", 64},
      {"fma.f64", doubles, "sm_90a", 2},
      {"fma.f64", doubles, "sm_120a", 64},
      {"s8", s8, "sm_80", 8},
      {"s8", s8, "sm_89", 16},
      {"s8", s8, "sm_90a", 7.66},
      {"s8", s8, "sm_120a", 16},
      {"s4", s4, "sm_80", 8},
      {"fp8", fp8, "sm_89", 16},
      {"fp8", fp8, "sm_90a", 15.31},
      {"fp8", fp8, "sm_120a", 32},
      {"f16", f16, "sm_80", 8},
      {"f16", f16, "sm_90a", 7.66},
      // As long as half of K takes without sparsity.
      {"sparse f16", sparseF16, "sm_80", 8},
      {"sparse f16", sparseF16, "sm_90a", 7.66},
      {"sparse fp8", sparseF8, "sm_90a", 15.31},
      {"mxf8", mxf8, "sm_120a", 16},
      {"sparse mxf8", sparseMXF8, "sm_120a", 16},
      {"sparse mxf8", sparseMXF8, "sm_121a", 16},
      {"sparse mxf4", sparseMXF4, "sm_120a", 16},
      {"f64", f64, "sm_80", 16},
      {"f64", f64, "sm_90a", 8},
  };
  for (const auto &row : rows) {
    auto measure = [&](unsigned times) {
      return getClocks(makeRun(start + repeat(row.body, times)), row.target);
    };
    EXPECT_NEAR((measure(20) - measure(10)) / (10 * 32), row.clocks, 0.05)
        << row.name << " " << row.target;
  }
}

TEST(ReplayTest, CallsAreOneInstruction) {
  KernelRun run = makeRun(
      "mov.u32 %r4, 1;" +
      repeat("{ .reg .b32 t; call (t), F, (%r4); mov.b32 %r4, t; }", 100));
  run.declarations = ".func (.reg .b32 r) F(.reg .b32 a) "
                     "{ add.u32 r, a, 1; ret; }";
  double few = getClocks(run);
  run.body += repeat("add.u32 %r4, %r4, 1;", 100);
  // The call and an instruction of the function; dependences are not tracked
  // across functions.
  EXPECT_NEAR(few, 220, 30);
  EXPECT_NEAR(getClocks(run) - few, 400, 10);
}

TEST(ReplayTest, FiguresOfOtherChipsAreNamed) {
  KernelRun run = makeRun("st.global.b32 [%d3], 1;");
  run.options.wantsStatistics = true;
  for (const char *target : {"sm_80", "sm_100a", "sm_120a"}) {
    run.target = target;
    KernelResult result = runKernel(run);
    EXPECT_EQ(result.error, "");
    EXPECT_NE(result.statistics.find("l2_latency (H200)"), std::string::npos)
        << target;
  }
  // Instructions that a chip does not have need no figure.
  for (const char *target : {"sm_80", "sm_90a"}) {
    run.target = target;
    EXPECT_EQ(runKernel(run).statistics.find("\"byte_flops"), std::string::npos)
        << target;
  }
  run.target = "sm_121a";
  for (const char *figure :
       {"sync_byte_flops (RTX 5090)", "sparse_factor (RTX 5090)"})
    EXPECT_NE(runKernel(run).statistics.find(figure), std::string::npos)
        << figure;
}
