//===- SimulatorRegressionTest.cpp - Tests of limits and odd programs -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs that no compiler writes, and that once crashed the simulator or took
// unbounded memory: found by the fuzzers (test/Fuzz), and variants of those.
//
//===----------------------------------------------------------------------===//

#include "ThreadTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

/// The message of a kernel `k` with one parameter, a scalar of some size.
static std::string getParameterError(const std::string &parameter,
                                     unsigned size) {
  Result<SimulatedProgram> program = SimulatedProgram::load(
      ".version 9.1\n.target sm_120a\n.address_size 64\n.entry k(" + parameter +
      ") { ret; }\n");
  if (!program)
    return program.message();
  LaunchPlan plan;
  PlannedKernel &kernel = plan.kernels.emplace_back();
  kernel.name = "k";
  kernel.params.push_back({PlannedParam::Kind::Scalar, 0, size});
  std::vector<LaunchArgument> arguments;
  Result<Report> report = program->run(plan, arguments, Options());
  return report ? "no error" : report.message();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

TEST(SimulatorRegressionTest, VariablesWithoutAnInitializer) {
  KernelRun run = makeRun("ld.global.b32 %r4, [g + 8];\n"
                          "st.global.b32 [%d3], %r4;");
  run.declarations = ".global .b32 g[4];";
  EXPECT_EQ(getOutput(run)[0], 0u);
}

TEST(SimulatorRegressionTest, LocalMemory) {
  std::string text = "expected at most 524288 bytes of local memory for a "
                     "thread, got ";
  EXPECT_EQ(getLoadError(".local .b8 a[300000]; .local .b8 b[300000];"),
            text + "600016");
  EXPECT_EQ(getLoadError(".local .b8 a; .local .align 2147483648 .b8 b;"),
            text + "2147483649");
}

TEST(SimulatorRegressionTest, GapsOfSharedMemory) {
  EXPECT_EQ(getLoadError(".shared .align 2147483648 .b8 a[1]; mov.u32 %r0, a;"),
            "expected at most 16544768 bytes of shared memory and of gaps for "
            "alignment");
}

TEST(SimulatorRegressionTest, Parameters) {
  EXPECT_EQ(getParameterError(".param .b8 p[8]", 8), "no error");
  EXPECT_EQ(getParameterError(".param .b8 p[12]", 12),
            "kernel k: expected the bytes of parameter 0, which has 12, got a "
            "number");
  EXPECT_EQ(getParameterError(".param .b8 p[40000]", 40000),
            "line 4:21: expected at most 32764 bytes of parameters, got 40000");
}

TEST(SimulatorRegressionTest, NothingToRun) {
  KernelRun run = makeRun("ret;");
  run.threads = 0;
  EXPECT_EQ(getError(run), "kernel k: expected at least one thread in a block, "
                           "got a block of (0,1,1)");
  run.threads = 1;
  run.blocks = 0;
  EXPECT_EQ(getError(run),
            "kernel k: expected at least one block in a grid, got "
            "a grid of (0,1,1)");
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

TEST(SimulatorRegressionTest, ParametersInRegisters) {
  auto getCallError = [](const std::string &type, const std::string &argument) {
    KernelRun run = makeRun("\ncall f, (" + argument + ");");
    run.declarations = ".func f(.reg ." + type + " %i) { ret; }";
    return getError(run);
  };
  EXPECT_EQ(getCallError("b32", "1"), "no error");
  for (const char *type : {"pred", "b128"})
    EXPECT_EQ(getCallError(type, "1"),
              std::string("line 2:10: not supported in this version: parameter "
                          "of type .") +
                  type + " in a register");
}

TEST(SimulatorRegressionTest, FunctionsWithoutABody) {
  KernelRun run = makeRun("\ncall f, (%r0);");
  run.declarations = ".func f(.reg .v2 .b32 %i) {}";
  std::string error = getError(run);
  EXPECT_NE(error.find("register %i of a vector type"), std::string::npos)
      << error;
}

TEST(SimulatorRegressionTest, CallOfAKernel) {
  KernelRun run = makeRun(".param .b32 p;\ncall e, (p);");
  run.declarations = ".entry e(.param .b32 i) { ret; }";
  EXPECT_EQ(getError(run), "line 2:6: expected a function, got the kernel e");
}

TEST(SimulatorRegressionTest, AlignmentInCalledFunctions) {
  KernelRun run =
      makeRun(".local .b8 x[8]; call (%r4), f; st.global.b32 [%d3], %r4;");
  run.declarations =
      ".func (.reg .b32 %o) f { .local .align 64 .b8 a[64]; .reg .b64 %d<4>; "
      "mov.u64 %d0, 7; st.local.v4.b64 [a], {%d0, %d0, %d0, %d0}; "
      "mov.u64 %d1, a; and.b64 %d1, %d1, 63; cvt.u32.u64 %o, %d1; ret; }";
  EXPECT_EQ(getOutput(run)[0], 0u);
}

/// A function with some registers that calls itself.
static std::string getRecursionError(unsigned numRegisters) {
  std::string body;
  for (unsigned i = 0; i != numRegisters; ++i)
    body += " mov.u32 %r" + std::to_string(i) + ", 1;";
  KernelRun run = makeRun("\ncall f;");
  run.declarations = ".func f { .reg .b32 %r<9999>; call f;" + body + " ret; }";
  return getError(run);
}

TEST(SimulatorRegressionTest, DeepRecursion) {
  std::string error = getRecursionError(1);
  EXPECT_NE(error.find("expected at most 1024 nested calls"), std::string::npos)
      << error;
  error = getRecursionError(9000);
  EXPECT_NE(
      error.find("expected at most 4194304 registers in the active functions"),
      std::string::npos)
      << error;
}

/// Locations of parameters are looked up for each call.
TEST(SimulatorRegressionTest, ManyCallsOfALargeFunction) {
  std::string body, calls;
  for (unsigned i = 0; i != 5000; ++i) {
    body += " mov.u32 %r" + std::to_string(i) + ", 1;";
    calls += "call (%r4), f, (%r4);\n";
  }
  // No lane executes most of the calls.
  KernelRun run = makeRun("mov.u32 %r4, 0; call (%r4), f, (%r4);"
                          "st.global.b32 [%d3], %r4; ret;" +
                          calls);
  run.declarations = ".func (.reg .b32 %o) f(.reg .b32 %i) { .reg .b32 "
                     "%r<5000>; .local .b32 l; add.u32 %o, %i, 1; ret;" +
                     body + " }";
  EXPECT_EQ(getOutput(run)[0], 1u);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

TEST(SimulatorRegressionTest, WarningsOfALoop) {
  // Each iteration copies from another address without a fence.
  KernelRun run = makeRun(
      "setp.ne.u32 %p0, %r0, 0; @%p0 ret; mov.u32 %r4, 0;\n"
      "L: add.u32 %r5, %r2, %r4; st.shared.b32 [%r5], 1;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%buf1], [%r5], 16;\n"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
      "add.u32 %r4, %r4, 16; setp.lt.u32 %p1, %r4, 1024; @%p1 bra L;");
  run.blocks = 3;
  run.options.allowUndefinedOutput = true;
  for (unsigned jobs : {1, 3}) {
    run.options.jobs = jobs;
    KernelResult result = runKernel(run);
    EXPECT_EQ(result.error, "");
    ASSERT_EQ(result.warnings.size(), 2u);
    EXPECT_EQ(result.warnings[0],
              "line 3, block (0,0,0), warp 0, lane 0: the async proxy reads "
              "the byte at 0x400 in shared memory, which lane 0 of warp 0 has "
              "stored: expected fence.proxy.async between (and 63 more)");
  }
  // No more are counted than that.
  run.body.replace(run.body.find("1024"), 4, "32768");
  run.body.replace(run.body.find("%r2, S;"), 7, "%r2, D;");
  run.declarations = ".extern .shared .align 128 .b8 D[];";
  run.dynamicShared = 32768;
  KernelResult result = runKernel(run);
  EXPECT_EQ(result.error, "");
  ASSERT_EQ(result.warnings.size(), 2u);
  EXPECT_NE(result.warnings[0].find(" between (and 999 or more)"),
            std::string::npos)
      << result.warnings[0];
}

TEST(SimulatorRegressionTest, CopiesWithoutAWait) {
  EXPECT_FAILS(
      makeRun("\nL: cp.async.ca.shared.global [%r3], [%d2], 4;\nbra L;"), 2,
      "expected at most 65536 copies and arrivals of a warp in flight");
  EXPECT_FAILS(makeRun("setp.ne.u32 %p0, %r0, 0; @%p0 ret;\n"
                       "L: cp.async.bulk.global.shared::cta.bulk_group "
                       "[%buf1], [S], 16;\nbra L;"),
               2, "expected at most 65536 bulk copies in flight in a block");
}

TEST(SimulatorRegressionTest, CopiesThatHaveOnlyRead) {
  // They may complete without a wait.
  KernelRun run = makeRun(
      "setp.ne.u32 %p0, %r0, 0; @%p0 ret; mov.u32 %r4, 0;\n"
      "L: st.shared.v4.b32 [S], {%r4, %r4, %r4, %r4}; fence.proxy.async;"
      "cp.async.bulk.global.shared::cta.bulk_group [%buf1], [S], 16;\n"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"
      "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 1000; @%p1 bra L;");
  EXPECT_EQ(getOutput(run)[3], 999u);
  EXPECT_EQ(getOutput(checkingRaces(run))[3], 999u);
}

TEST(SimulatorRegressionTest, TheSizeOfAWarpIsAConstant) {
  EXPECT_EQ(evaluate("mov.u32 %d, WARP_SZ;", 32, {}).bits, 32u);
}
