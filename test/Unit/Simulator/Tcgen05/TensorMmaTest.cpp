//===- TensorMmaTest.cpp - Tests of tcgen05.mma and cp --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors of tcgen05.mma; kernels in test/Execution/tcgen05 test its results.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/TensorMmaTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

static const std::string kMultiply =
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r10], "
    "%d10, %d10, %r20, [%r21], [%r22], %p2;";
/// An mma behind `before`, on line 2.
static KernelRun makeMultiplyRun(const std::string &before,
                                 const std::string &multiply = kMultiply) {
  return makeTensorRun(before + "@%p0 " + multiply + kCommit + kWait + kEnd);
}

TEST(TensorMultiplyTest, GoesWell) {
  EXPECT_EQ(getError(makeMultiplyRun(kCopyScales)), "no error");
}

TEST(TensorMultiplyTest, Statistics) {
  KernelRun run = makeMultiplyRun(kCopyScales);
  run.options.wantsStatistics = true;
  std::string text = runKernel(run).statistics;
  for (const char *part :
       {"\"tcgen05.mma.mxf8f6f4.m128n8k32.e4m3.e4m3\": 1", "\"matrix\": 1",
        "\"multiply_adds\": 32768", "\"tensor_memory_columns\": 256",
        "\"matrix_operands\": 4352", "\"tensor_copies\": 1024"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  EXPECT_EQ(text.find("\"tcgen05\""), std::string::npos);
}

TEST(TensorMultiplyTest, Descriptors) {
  EXPECT_FAILS(makeMultiplyRun(kCopyScales + "or.b32 %r20, %r20, 1;"), 2,
               "expected 0 in the reserved bits 0x1 in an instruction "
               "descriptor of kind::mxf8f6f4 with .cta_group::1, got 0x8820001 "
               "{sparse 0, sfb_id 0,");
  EXPECT_FAILS(makeMultiplyRun(kCopyScales + "or.b32 %r20, %r20, 4;"), 2,
               "expected sparse 0 without .sp in an instruction descriptor");
  EXPECT_FAILS(
      makeMultiplyRun(kCopyScales + "xor.b64 %d10, %d10, 0x400000000000;"), 2,
      "A: expected version 1 in a shared memory descriptor");
  // Row groups 0x3FFF0 bytes apart.
  EXPECT_FAILS(
      makeMultiplyRun(kCopyScales + "or.b64 %d10, %d10, 0x3FFF00000000;"), 2,
      "A: expected a matrix in shared memory, which has");
  EXPECT_FAILS(
      makeMultiplyRun(kCopyScales + "or.b64 %d10, %d10, 0x10000000000000;"), 2,
      "an absolute leading offset only for K = 96 with a swizzle of 128 bytes");
  EXPECT_FAILS(makeMultiplyRun(kCopyScales +
                               "or.b32 %r20, %r20, 0x8000;"
                               "or.b64 %d10, %d10, 0x2000000000000000;"),
               2, "32-byte atoms (swizzle 1) only for tf32");
}

TEST(TensorMultiplyTest, AddressesInTensorMemory) {
  EXPECT_FAILS(makeMultiplyRun(kCopyScales + "add.u32 %r10, %r10, 0x100000;"),
               2,
               "expected lane 0 in the address of D in tensor memory, got "
               "lane 16");
  EXPECT_FAILS(makeMultiplyRun(kCopyScales + "add.u32 %r10, %r10, 256;"), 2,
               "of tensor memory to be allocated by block (0,0,0), but column");
  EXPECT_FAILS(makeMultiplyRun(kCopyScales + "add.u32 %r21, %r21, 1;"), 2,
               "expected lane 0 and a column that is a multiple of 2 in the "
               "address of the scale factors of A, got lane 0");
  EXPECT_FAILS(
      makeMultiplyRun(kCopyScales + "or.b32 %r22, %r22, 0x40000000;"), 2,
      "expected 0 or identifier 0 in bits 30 and 31 of the address of the "
      "scale factors of B, got 1");
  std::string fromTensor =
      "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X "
      "[%r10], [%r15], %d10, %r20, [%r21], [%r22], %p2;";
  EXPECT_FAILS(makeMultiplyRun(kCopyScales + "add.u32 %r15, %r10, 0x100040;",
                               fromTensor),
               2,
               "expected lane 0 in the address of A in tensor memory, as D "
               "has it, got lane 16");
  EXPECT_FAILS(makeMultiplyRun(kCopyScales + "add.u32 %r15, %r10, 64;"
                                             "or.b32 %r20, %r20, 0x8000;",
                               fromTensor),
               2, "expected A in tensor memory not to be transposed");
}

TEST(TensorMultiplyTest, Scales) {
  std::string nvf4 =
      "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r10], "
      "%d10, %d10, %r20, [%r21], [%r22], %p2;";
  EXPECT_FAILS(makeMultiplyRun(kCopyScales + "mov.b32 %r20, 0x08820490;", nvf4),
               2,
               "expected an identifier out of {0} of the scale factors of B "
               "with 4 of them in a row, got 1");
  std::string block32 =
      "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block32 [%r10], "
      "%d10, %d10, %r20, [%r21], [%r22], %p2;";
  EXPECT_FAILS(
      makeMultiplyRun(kCopyScales + "mov.b32 %r20, 0x08020480;", block32), 2,
      "expected scales of ue8m0 for blocks of 32 elements");
  EXPECT_FAILS(
      makeMultiplyRun(kCopyScales + "mov.b32 %r20, 0x88820480;", block32), 2,
      "expected a target of sm_103a for K = 96");
  // One warp writes the copies of lanes 0 to 31 alone.
  EXPECT_FAILS(
      makeMultiplyRun("tcgen05.st.sync.aligned.32x32b.x4.b32 [%r21], {%r0, "
                      "%r0, %r0, %r0}; tcgen05.wait::st.sync.aligned;"),
      2,
      "expected copies of the scale factors in all groups of 32 lanes, but "
      "byte 0 in column");
}

TEST(TensorMultiplyTest, OrderAndProxies) {
  // There is no wait.
  EXPECT_FAILS(makeTensorRun(kCopyScales + "@%p0 " + kMultiply + "\n" +
                             "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r11}, "
                             "[%r10];"),
               3,
               "the tcgen05.mma in line 2 by warp 0 and this tcgen05.ld "
               "access 0x");
  EXPECT_FAILS(makeTensorRun(kCopyScales + "@%p0 " + kMultiply + "\n" + kEnd),
               3,
               "the tcgen05.mma in line 2 by warp 0 may still use these "
               "columns: expected tcgen05.commit and a wait for it before "
               "tcgen05.dealloc");
  EXPECT_FAILS(
      makeTensorRun(kCopyScales + "@%p0 " + kMultiply + "\n" + kCopyScales), 3,
      ", and nothing orders them: expected tcgen05.commit and a "
      "wait for it between");
  // No multiplication reads the cells between two copies.
  EXPECT_FAILS(
      makeTensorRun(kCopyScales + "\n" + kCopyScales + kCommit + kWait), 3,
      "the tcgen05.cp in line 2 by warp 0 and this tcgen05.cp access");
  KernelRun copies =
      makeTensorRun(kCopyScales + "\n" + kCopyScales + kCommit + kWait + kEnd);
  copies.options.checkProxy = false;
  EXPECT_EQ(getError(copies), "no error");
  EXPECT_FAILS(
      makeMultiplyRun(kCopyScales + "st.shared.b32 [S], %r0; bar.sync 0;"), 2,
      "which lane 31 of warp 0 has stored: expected "
      "fence.proxy.async between");
  EXPECT_FAILS(
      makeTensorRun(kCopyScales + "@%p0 " + kMultiply +
                    "st.shared.b32 [S + 64], %r0;" + kCommit + kWait),
      2,
      "is written, or about to be, while the tcgen05.cp in line 2 by "
      "warp 0 may still have to read it: expected tcgen05.commit and a "
      "wait for it before");
  KernelRun run = makeMultiplyRun(
      kCopyScales +
      "mov.u32 %r12, M; shr.u32 %r12, %r12, 4; cvt.u64.u32 %d10, %r12; or.b64 "
      "%d10, %d10, 0x400000000000;");
  run.dynamicShared = 1024;
  EXPECT_FAILS(run, 2, "where there is an mbarrier object");
}

TEST(TensorMultiplyTest, OrderOfThreads) {
  // No lane was elected.
  EXPECT_FAILS(makeTensorRun(kCopyScales + kMultiply), 2,
               " without tcgen05.fence::before_thread_sync between");
  // D of one is A of the next, without a wait between.
  std::string next =
      "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X "
      "[%r16], [%r10], %d10, %r20, [%r21], [%r22], %p2;";
  EXPECT_FAILS(makeTensorRun(kCopyScales + "add.u32 %r16, %r10, 64; @%p0 " +
                             kMultiply + "\n@%p0 " + next),
               3,
               "and the first of them may not be complete: expected "
               "tcgen05.commit and a wait for it between");
  // Another shape on the same accumulator.
  EXPECT_FAILS(makeTensorRun(kCopyScales + "@%p0 " + kMultiply +
                             "add.u32 %r20, %r20, 0x20000;\n@%p0 " + kMultiply),
               3, "and the first of them may not be complete");
}

TEST(TensorMultiplyTest, DOverwritesTheLastA) {
  // As in shipped kernels: one thread issues both.
  KernelRun run =
      makeTensorRun(kCopyScales +
                    "add.u32 %r16, %r10, 64;"
                    "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r16], {%r0, %r0, "
                    "%r0, %r0, %r0, %r0, %r0, %r0};"
                    "tcgen05.wait::st.sync.aligned;"
                    "tcgen05.fence::before_thread_sync; bar.sync 0;"
                    "tcgen05.fence::after_thread_sync;\n@%p0 "
                    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale."
                    "scale_vec::1X [%r10], [%r16], %d10, %r20, [%r21], [%r22], "
                    "%p2;\n@%p0 tcgen05.mma.cta_group::1.kind::mxf8f6f4."
                    "block_scale.scale_vec::1X [%r16], %d10, %d10, %r20, "
                    "[%r21], [%r22], %p2;" +
                    kCommit + kWait + kEnd);
  EXPECT_EQ(getError(run), "no error");
  EXPECT_EQ(runKernel(run).warnings.size(), 1u);
  EXPECT_FAILS(checkingStrictly(run), 4,
               "which changes cells that the first may still read: expected "
               "tcgen05.commit and a wait for it between (PTX ISA, \"Pipelined "
               "tcgen05 Instructions\")");
}

TEST(TensorMultiplyTest, OperandsThatOverlap) {
  EXPECT_FAILS(makeMultiplyRun(kCopyScales + "mov.b32 %r21, %r10;"), 2,
               "expected cells of its own for each operand, but those from 0x");
  EXPECT_FAILS(
      makeTensorRun("tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r10], 0, "
                    "{%r0};"),
      2, "expected cells of its own for each operand, but those from 0x");
}

TEST(TensorMultiplyTest, ReadersThatOthersFollow) {
  // A second reader that has waited does not hide the first one.
  std::string from =
      "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X "
      "[%r10], [%r16], %d10, %r20, [%r21], [%r22], %p2;";
  std::string cells = "[%r16]";
  EXPECT_FAILS(
      makeTensorRun(kCopyScales + "add.u32 %r16, %r10, 64;" +
                    "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r16], {%r0, %r0, "
                    "%r0, %r0, %r0, %r0, %r0, %r0};"
                    "tcgen05.wait::st.sync.aligned;"
                    "tcgen05.fence::before_thread_sync;"
                    "tcgen05.fence::after_thread_sync; @%p0 " +
                    from +
                    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r17}, [%r16];"
                    "tcgen05.wait::ld.sync.aligned;\n"
                    "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r16], {%r0};"),
      3, "the tcgen05.mma in line 2 by warp 0 and this tcgen05.st access 0x");
}

TEST(TensorMultiplyTest, LanesThatAreNotWritten) {
  // Lanes 0 to 31 are disabled: they may be loaded meanwhile.
  std::string multiply =
      "tcgen05.mma.cta_group::1.kind::f16 [%r10], %d10, %d10, %r20, {%r30, "
      "%r31, %r31, %r31}, %p2;";
  auto makeMaskedRun = [&](const char *first) {
    return makeTensorRun(
        std::string("mov.b32 %r30, ") + first +
        "; mov.b32 %r31, 0; mov.b32 %r20, 0x08020010;"
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r10], {%r0};"
        "tcgen05.wait::st.sync.aligned; @%p0 " +
        multiply + "\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r17}, [%r10];" +
        "tcgen05.wait::ld.sync.aligned;" + kCommit + kWait + kEnd);
  };
  EXPECT_EQ(getError(makeMaskedRun("0xFFFFFFFF")), "no error");
  EXPECT_FAILS(makeMaskedRun("0x7FFFFFFF"), 3, "tcgen05.ld access 0x");
}

TEST(TensorMultiplyTest, InputsThatAreScaledOrKept) {
  // A and B are 0: D of lane i is i / 8, and stays i where it is disabled.
  std::string multiply =
      "setp.eq.u32 %p3, %r0, %r0; @%p0 tcgen05.mma.cta_group::1.kind::f16 "
      "[%r10], %d10, %d10, %r20, {%r30, %r31, %r31, %r31}, %p3, 3;";
  KernelRun run = makeTensorRun(
      "mov.b32 %r30, 0xFFFF0000; mov.b32 %r31, 0; mov.b32 %r20, 0x08020010;"
      "cvt.rn.f32.u32 %f0, %r0; mov.b32 %r18, %f0;"
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r10], {%r18};"
      "tcgen05.wait::st.sync.aligned;" +
      multiply + kCommit + kWait +
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r17}, [%r10];"
      "tcgen05.wait::ld.sync.aligned; st.global.b32 [%d3], %r17;" +
      kEnd);
  KernelResult result = runKernel(run);
  ASSERT_EQ(result.error, "");
  std::vector<float> output = result.get<float>(1);
  for (unsigned lane = 0; lane != 32; ++lane)
    EXPECT_EQ(output[lane], lane < 16 ? lane / 8.0f : float(lane)) << lane;
}

TEST(TensorMultiplyTest, ArrivalsAtNothing) {
  std::string two = "@%p0 mbarrier.init.shared.b64 [M + 8], 1; bar.sync 0;";
  KernelRun run = makeTensorRun(
      two + kCopyScales + "@%p0 " + kMultiply + kCommit +
      "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [M + 8];"
      "@%p0 mbarrier.inval.shared.b64 [M];"
      "L: mbarrier.try_wait.parity.shared.b64 %p7, [M + 8], 0; @!%p7 bra L;");
  EXPECT_FAILS(run, 2, "expected an mbarrier object at 0x1410, got none");
  EXPECT_FAILS(checkingRaces(run), 2,
               "expected an mbarrier object at 0x1410, got none");
}

TEST(TensorMultiplyTest, CtaPairsAndSingleBlocks) {
  KernelRun run = makeTensorRun("call f;" + kEnd);
  run.declarations += ".func f() { tcgen05.relinquish_alloc_permit.cta_group::"
                      "2.sync.aligned; ret; } ";
  EXPECT_NE(runKernel(run).error.find(
                "as other functions of the kernel have, got .cta_group::"),
            std::string::npos)
      << runKernel(run).error;
}

TEST(TensorMultiplyTest, Copies) {
  std::string copy = "@%p0 tcgen05.cp.cta_group::1.128x128b [%r21], %d10;";
  EXPECT_FAILS(makeTensorRun("add.u32 %r21, %r21, 0x10000;" + copy), 2,
               "tcgen05.cp.128x128b expected an address in a lane up to 0, got "
               "lane 1");
  EXPECT_FAILS(makeTensorRun("or.b64 %d10, %d10, 0x2000000000000000;" + copy),
               2, "tcgen05.cp expected a swizzle out of 0, 2, 4 and 6");
  EXPECT_FAILS(makeTensorRun("mov.b64 %d10, 0;" + copy), 2,
               "tcgen05.cp: expected version 1");
  EXPECT_FAILS(makeTensorRun("@%p0 tcgen05.shift.cta_group::1.down [%r10 + "
                             "65536];"),
               2,
               "tcgen05.shift expected an address in a lane that is a "
               "multiple of 32, got lane 1");
  EXPECT_FAILS(
      makeTensorRun("@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one."
                    "b64 [M + 8];"),
      2, "expected an mbarrier object at 0x1418, got none");
  EXPECT_FAILS(
      makeTensorRun("mov.b16 %s0, 2; @%p0 tcgen05.commit.cta_group::1."
                    "mbarrier::arrive::one.shared::cluster.multicast::cluster."
                    "b64 [M], %s0;"),
      2, "expected a mask of blocks of the cluster, which has 1, got 0x2");
}

TEST(TensorMultiplyTest, FormsThatAreRefused) {
  auto load = [](const std::string &modifiers,
                 const std::string &target = "sm_100a") {
    return getLoadError("tcgen05.mma.cta_group::1." + modifiers +
                            " [%r0], %d0, %d1, %r1, [%r2], [%r3], %p0;",
                        target);
  };
  EXPECT_EQ(load("kind::mxf8f6f4"),
            "expected .block_scale with .kind::mxf8f6f4");
  EXPECT_EQ(load("kind::f16.block_scale"),
            "expected no .block_scale with .kind::f16");
  EXPECT_EQ(load("kind::mxf4.block_scale.block16"),
            "expected one of .scale_vec::2X, .block32 with .kind::mxf4, got "
            ".block16");
  EXPECT_EQ(load("kind::mxf4nvf4.block_scale"),
            "expected one of .scale_vec::2X, .scale_vec::4X, .block16, "
            ".block32 with .kind::mxf4nvf4, got nothing");
  EXPECT_EQ(load("kind::mxf4.block_scale.scale_vec::2X", "sm_100f"),
            "expected .block16 or .block32 for sm_100f, got .scale_vec::2X");
  EXPECT_EQ(load("kind::mxf3.block_scale"),
            "expected a kind behind tcgen05.mma, such as .kind::mxf8f6f4");
  EXPECT_EQ(load("kind::i8", "sm_103a"),
            "expected a target that has tcgen05.mma.kind::i8, got sm_103a");
  EXPECT_EQ(load("ashift.kind::f16"),
            "not supported in this version: tcgen05.mma.ashift");
  std::string plain = "tcgen05.mma.cta_group::1.kind::";
  EXPECT_EQ(
      getLoadError(plain + "f16 [%r0], %d0, %d1, %r1, %p0, 16;", "sm_100a"),
      "expected the operand scale-input-d from 0 to 15, got 16");
  EXPECT_EQ(
      getLoadError(plain + "f8f6f4 [%r0], %d0, %d1, %r1, %p0, 1;", "sm_100a"),
      "expected the operand scale-input-d only with .kind::f16 or .kind::tf32");
  EXPECT_EQ(
      getLoadError("tcgen05.cp.cta_group::1.64x128b [%r0], %d0;", "sm_100a"),
      "expected a shape and a multicast that tcgen05.cp has, such as "
      ".128x256b or .32x128b.warpx4");
  EXPECT_EQ(getLoadError("tcgen05.cp.cta_group::1.128x128b.b8x16 [%r0], %d0;",
                         "sm_100a"),
            "expected .b8x16.b6x16_p32, .b8x16.b4x16_p64 or none of both "
            "behind tcgen05.cp");
  EXPECT_EQ(getLoadError("tcgen05.shift.cta_group::1.down [%r0];", "sm_100f"),
            "expected a target that has tcgen05.shift, got sm_100f");
  EXPECT_EQ(getLoadError("tcgen05.shift.cta_group::1 [%r0];", "sm_100a"),
            "expected .down behind tcgen05.shift");
  EXPECT_EQ(getLoadError("tcgen05.commit.cta_group::1.b64 [%r0];", "sm_100a"),
            "expected .mbarrier::arrive::one and .b64 behind tcgen05.commit");
}
