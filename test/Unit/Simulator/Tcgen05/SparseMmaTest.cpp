//===- SparseMmaTest.cpp - Tests of tcgen05.mma.sp ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forms and errors of tcgen05.mma.sp; kernels in test/Execution/tcgen05 test
// its results.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/TensorMmaTesting.h"
#include "blockscale/Simulator/Simulator.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Makes the instruction descriptor sparse. Fields 0b0100 are in eight rows of
/// 16 bytes in shared memory, which the descriptor in %d11 repeats; %r23 is a
/// column for metadata.
static const std::string kSparse =
    "mov.b32 %r14, 0x44444444; st.shared.b32 [%r3 + 3072], %r14;"
    "fence.proxy.async; bar.sync 0;"
    "add.u32 %r13, %r12, 3072; shr.u32 %r13, %r13, 4; cvt.u64.u32 %d11, %r13;"
    "or.b64 %d11, %d11, 0x400000000000;"
    "or.b32 %r20, %r20, 4; add.u32 %r23, %r10, 144;";
static const std::string kCopyMetadata =
    "@%p0 tcgen05.cp.cta_group::1.128x128b [%r23], %d11;";
static const std::string kMultiply =
    "tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X "
    "[%r10], %d10, %d10, [%r23], %r20, [%r21], [%r22], %p2;";
static const std::string kOperands = kSparse + kCopyScales + kCopyMetadata;

/// An mma behind `before`, on line 2.
static KernelRun makeMultiplyRun(const std::string &before,
                                 const std::string &multiply = kMultiply) {
  return makeTensorRun(before + "@%p0 " + multiply + kCommit + kWait + kEnd);
}

TEST(SparseMultiplyTest, GoesWell) {
  EXPECT_EQ(getError(checkingStrictly(makeMultiplyRun(kOperands))), "no error");
  // Collectors are accepted, an offset of the address and an immediate
  // descriptor.
  for (const char *use : {"fill", "use", "lastuse", "discard"})
    EXPECT_EQ(getError(makeMultiplyRun(
                  kOperands + "sub.u32 %r23, %r23, 146;",
                  "tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale."
                  "scale_vec::1X.collector::a::" +
                      std::string(use) +
                      " [%r10], %d10, %d10, [%r23 + 146], 0x08820004, [%r21], "
                      "[%r22], "
                      "!%p2;")),
              "no error");
}

TEST(SparseMultiplyTest, Statistics) {
  KernelRun run = makeMultiplyRun(kOperands);
  run.options.wantsStatistics = true;
  std::string text = runKernel(run).statistics;
  for (const char *part :
       {"\"tcgen05.mma.sp.mxf8f6f4.m128n8k64.e4m3.e4m3\": 1",
        "\"multiply_adds\": 65536", "\"matrix_operands\": 4608",
        "\"tensor_copies\": 3072"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
}

TEST(SparseMultiplyTest, Descriptors) {
  EXPECT_FAILS(makeMultiplyRun(kOperands + "xor.b32 %r20, %r20, 4;"), 2,
               "expected sparse 1 in an instruction descriptor of "
               "kind::mxf8f6f4 with .sp and .cta_group::1, got 0x8820000 "
               "{sparse 0, ");
  // Each row of B has 64 bytes.
  std::string toB = "add.u64 %d12, %d10, 0;"
                    "and.b64 %d12, %d12, 0x3FFFFFFFFFFFFFFF;";
  std::string ofB = "tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale."
                    "scale_vec::1X [%r10], %d10, %d12, [%r23], %r20, [%r21], "
                    "[%r22], %p2;";
  EXPECT_FAILS(
      makeMultiplyRun(kOperands + toB +
                          "or.b64 %d12, %d12, "
                          "0xC000000000000000;",
                      ofB),
      2,
      "B: expected all bytes of a row of a matrix in a row of 32 bytes of the "
      "swizzle pattern");
}

TEST(SparseMultiplyTest, Scales) {
  std::string nvf4 =
      "tcgen05.mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r10], "
      "%d10, %d10, [%r23], %r20, [%r21], [%r22], %p2;";
  EXPECT_FAILS(makeMultiplyRun(kOperands + "mov.b32 %r20, 0x08820494;", nvf4),
               2,
               "expected an identifier out of {0} of the scale factors of B "
               "with 4 of them in a row, got 1");
  std::string block32 =
      "tcgen05.mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.block32 [%r10], "
      "%d10, %d10, [%r23], %r20, [%r21], [%r22], %p2;";
  EXPECT_FAILS(
      makeMultiplyRun(kOperands + "mov.b32 %r20, 0x28820484;", block32), 2,
      "expected an identifier out of {0, 2} of the scale factors of A "
      "with 2 of them in a row, got 1");
  EXPECT_FAILS(
      makeMultiplyRun(kOperands + "mov.b32 %r20, 0x08020484;", block32), 2,
      "expected scales of ue8m0 for blocks of 64 elements");
  KernelRun run =
      makeMultiplyRun(kOperands + "mov.b32 %r20, 0x88820484;", block32);
  run.target = "sm_103a";
  EXPECT_FAILS(run, 2, "expected k96 0 of a sparse instruction");
}

TEST(SparseMultiplyTest, AddressesOfMetadata) {
  EXPECT_FAILS(makeMultiplyRun(kOperands + "add.u32 %r23, %r23, 1;"), 2,
               "expected lane 0 and a column that is a multiple of 2 in the "
               "address of the metadata, got lane 0, column 145");
  EXPECT_FAILS(makeMultiplyRun(kOperands + "add.u32 %r23, %r23, 0x200000;"), 2,
               "in the address of the metadata, got lane 32, column 144");
  EXPECT_FAILS(makeMultiplyRun(kOperands + "add.u32 %r23, %r23, 256;"), 2,
               "of tensor memory to be allocated by block (0,0,0), but column");
  EXPECT_FAILS(makeMultiplyRun(kOperands + "mov.b32 %r23, %r10;"), 2,
               "expected cells of its own for each operand, but those from 0x");
  EXPECT_FAILS(makeMultiplyRun(kOperands + "mov.b32 %r23, %r63;"), 2,
               "an address in tensor memory is undefined");
}

TEST(SparseMultiplyTest, UndefinedMetadata) {
  // D of those rows is undefined, and no more: A and B are 0.
  std::string load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%r10];"
                     "tcgen05.wait::ld.sync.aligned;"
                     "st.global.b32 [%d3], %r30;";
  auto makeLoadingRun = [&](const std::string &before) {
    return makeTensorRun(before + "@%p0 " + kMultiply + kCommit + kWait + load +
                         kEnd);
  };
  EXPECT_EQ(getError(makeLoadingRun(kOperands)), "no error");
  EXPECT_NE(getError(makeLoadingRun(kSparse + kCopyScales)).find("undefined"),
            std::string::npos);
}

TEST(SparseMultiplyTest, FieldsOfZeros) {
  // The row of the eight that the copy repeats: A is 0 there.
  KernelRun run = makeMultiplyRun(
      kSparse + "@%p0 st.shared.b32 [%r12 + 3120], 0; fence.proxy.async;" +
      kCopyScales + kCopyMetadata);
  KernelResult result = runKernel(run);
  EXPECT_EQ(result.error, "");
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find(
                "metadata: expected 0b0100, 0b1000, 0b1001, 0b1100, 0b1101 or "
                "0b1110 for the columns 0 to 3 of row 3, got 0b0000 in the "
                "bits 0 to 3 of lane 3, column 144, where the kept values are "
                "0 (PTX ISA, tcgen05, \"Sparse matrices\")"),
            std::string::npos)
      << result.warnings[0];
  EXPECT_FAILS(checkingStrictly(run), 2, "where the kept values are 0");
  EXPECT_FAILS(makeMultiplyRun(kSparse +
                               "@%p0 st.shared.b32 [%r12 + 3124], 0x44464444;"
                               "fence.proxy.async;" +
                               kCopyScales + kCopyMetadata),
               2,
               "for the columns 48 to 51 of row 3, got 0b0110 in the bits 16 "
               "to 19 of lane 3, column 145");
}

TEST(SparseMultiplyTest, OrderAndProxies) {
  EXPECT_FAILS(
      makeTensorRun(kOperands + "@%p0 " + kMultiply + "\n" + kCopyMetadata), 3,
      ", and nothing orders them: expected tcgen05.commit and a wait "
      "for it between");
  // Another warp's thread, or this one with tcgen05.st.
  std::string store = "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r23], {%r14, "
                      "%r14};";
  EXPECT_FAILS(
      makeTensorRun(kOperands + "@%p0 " + kMultiply + "\n" + store), 3,
      "the tcgen05.mma in line 2 by warp 0 and this tcgen05.st access 0x");
  EXPECT_FAILS(checkingStrictly(makeMultiplyRun(
                   kOperands + kCommit +
                   "K: mbarrier.try_wait.parity.shared.b64 %p7, [M], 0; "
                   "@!%p7 bra K; tcgen05.fence::after_thread_sync;" +
                   store)),
               2, "expected tcgen05.wait::st between");
  EXPECT_FAILS(makeMultiplyRun(kOperands + "st.shared.b32 [%r3 + 3072], %r14;"),
               2, "while the tcgen05.cp in line 2 by warp 0 may still");
  // An instruction without .sp on the same accumulator.
  EXPECT_FAILS(
      makeTensorRun(kOperands + "@%p0 " + kMultiply +
                    "xor.b32 %r20, %r20, 4;\n@%p0 "
                    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale."
                    "scale_vec::1X [%r10], %d10, %d10, %r20, [%r21], [%r22], "
                    "%p2;"),
      3, "and the first of them may not be complete");
  EXPECT_EQ(getError(makeMultiplyRun(kOperands + "@%p0 " + kMultiply)),
            "no error");
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// Nothing is executed.
static std::string load(const std::string &modifiers,
                        const std::string &target = "sm_100a") {
  return getLoadError("exit; tcgen05.mma." + modifiers +
                          " [%r0], %d0, %d1, [%r4], %r1, [%r2], [%r3], %p0;",
                      target);
}

namespace {
/// What ptxas accepts: the lowest version, and whether family targets have it.
struct FormRow {
  const char *kind, *spelling;
  unsigned version;
  bool isOfFamily;
};
} // namespace

static const FormRow kForms[] = {
    {"mxf8f6f4", "", 88, true},
    {"mxf8f6f4", ".scale_vec::1X", 86, false},
    {"mxf8f6f4", ".block32", 88, true},
    {"mxf4", "", 88, false},
    {"mxf4", ".scale_vec::2X", 86, false},
    {"mxf4", ".block32", 88, false},
    {"mxf4nvf4", ".scale_vec::2X", 87, false},
    {"mxf4nvf4", ".scale_vec::4X", 87, false},
    {"mxf4nvf4", ".block16", 88, false},
    {"mxf4nvf4", ".block32", 88, false},
};

TEST(SparseMultiplyTest, FormsAndTargets) {
  for (const char *kind : {"mxf8f6f4", "mxf4", "mxf4nvf4"})
    for (const char *spelling : {"", ".scale_vec::1X", ".scale_vec::2X",
                                 ".scale_vec::4X", ".block16", ".block32"}) {
      const FormRow *row = nullptr;
      for (const FormRow &form : kForms)
        if (std::string(form.kind) == kind &&
            std::string(form.spelling) == spelling)
          row = &form;
      for (const char *target : {"sm_100a", "sm_103a", "sm_110a", "sm_100f",
                                 "sm_103f", "sm_110f", "sm_120a", "sm_90a"}) {
        bool isFamily = std::string(target).back() == 'f';
        bool hasTensors = std::string(target).substr(0, 5) == "sm_10" ||
                          std::string(target).substr(0, 6) == "sm_110";
        for (const char *group : {"1", "2"})
          EXPECT_EQ(load("sp.cta_group::" + std::string(group) +
                             ".kind::" + kind + ".block_scale" + spelling,
                         target) == "no error",
                    row && hasTensors && (!isFamily || row->isOfFamily))
              << kind << spelling << " " << target;
      }
    }
}

TEST(SparseMultiplyTest, Versions) {
  auto loadVersion = [](unsigned version, const FormRow &row) {
    Result<SimulatedProgram> program = SimulatedProgram::load(
        ".version " + std::to_string(version / 10) + "." +
        std::to_string(version % 10) +
        "\n.target sm_100a\n.address_size 64\n"
        ".entry k() { .reg .b32 %r<5>; .reg .b64 %d<2>; .reg .pred %p<1>;\n"
        "tcgen05.mma.sp.cta_group::1.kind::" +
        row.kind + ".block_scale" + row.spelling +
        " [%r0], %d0, %d1, [%r4], %r1, [%r2], [%r3], %p0; }");
    LaunchPlan plan;
    plan.kernels.emplace_back().name = "k";
    plan.kernels.back().block[0] = 32;
    std::vector<LaunchArgument> arguments;
    return program->run(plan, arguments, Options()).message();
  };
  for (const FormRow &row : kForms) {
    EXPECT_NE(loadVersion(row.version, row).find("is undefined"),
              std::string::npos)
        << loadVersion(row.version, row);
    std::string message = loadVersion(row.version - 1, row);
    EXPECT_NE(message.find("expected PTX version "), std::string::npos)
        << message;
  }
}

TEST(SparseMultiplyTest, FormsThatAreRefused) {
  EXPECT_EQ(load("sp.cta_group::1.kind::mxf4.block_scale.block32", "sm_100f"),
            "expected a target that has tcgen05.mma.sp with .kind::mxf4, got "
            "sm_100f");
  EXPECT_EQ(
      load("sp.cta_group::2.kind::mxf4nvf4.block_scale.block16", "sm_103f"),
      "expected a target that has tcgen05.mma.sp with .kind::mxf4nvf4, got "
      "sm_103f");
  EXPECT_EQ(load("sp.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X",
                 "sm_110f"),
            "expected .block16 or .block32 for sm_110f, got .scale_vec::1X");
  EXPECT_EQ(load("sp.cta_group::1.kind::mxf8f6f4"),
            "expected .block_scale with .kind::mxf8f6f4");
  for (const char *kind : {"f16", "tf32", "i8", "f8f6f4"})
    EXPECT_EQ(load("sp.cta_group::1.kind::" + std::string(kind)),
              "not supported in this version: tcgen05.mma.sp with .kind::" +
                  std::string(kind));
  EXPECT_EQ(load("ws.sp.cta_group::1.kind::f16"),
            "not supported in this version: tcgen05.mma.ws with .sp");
  const std::string scaled = ".cta_group::1.kind::mxf8f6f4.block_scale";
  EXPECT_EQ(load("sp" + scaled + ".ashift"),
            "not supported in this version: tcgen05.mma.ashift");
  EXPECT_EQ(load("sp" + scaled + ".collector::b0::fill"),
            "not supported in this version: modifier 'collector::b0::fill' of "
            "tcgen05");
  EXPECT_EQ(load("sp::ordered_metadata" + scaled),
            "not supported in this version: modifier 'sp::ordered_metadata' of "
            "tcgen05");
  EXPECT_EQ(load(scaled.substr(1)), "expected 7 operands of tcgen05, got 8");

  auto loadOperands = [&](const std::string &operands) {
    return getLoadError("tcgen05.mma.sp" + scaled + " " + operands + ";",
                        "sm_100a");
  };
  EXPECT_EQ(loadOperands("[%r0], [%r5], %d1, [%r4], %r1, [%r2], [%r3], %p0"),
            "not supported in this version: tcgen05.mma.sp with A in tensor "
            "memory");
  EXPECT_EQ(loadOperands("[%r0], %d0, %d1, %r1, [%r2], [%r3], %p0"),
            "expected 8 operands of tcgen05, got 7");
  const std::string address = "expected an address in tensor memory: a "
                              "register of 32 bits in brackets, and an offset";
  for (const char *metadata : {"%r4", "[64]", "[%d4]", "{%r4}"})
    EXPECT_EQ(loadOperands("[%r0], %d0, %d1, " + std::string(metadata) +
                           ", %r1, [%r2], [%r3], %p0"),
              address)
        << metadata;
  // Lanes of D that are not written, and scale-input-d.
  EXPECT_EQ(loadOperands("[%r0], %d0, %d1, [%r4], %r1, [%r2], [%r3], {%r0, "
                         "%r0, %r0, %r0}, %p0"),
            "expected 8 operands of tcgen05, got 9");
  EXPECT_EQ(loadOperands("[%r0], %d0, %d1, [%r4], %r1, [%r2], [%r3], %p0, 1"),
            "expected 8 operands of tcgen05, got 9");
}
