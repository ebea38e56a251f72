//===- MatrixMessagesTest.cpp - Messages of kernels with matrices ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The messages of MatrixScaleTest and MatrixUndefinedTest as users of a kernel
// see them.
//
//===----------------------------------------------------------------------===//

#include "ThreadTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

/// Two warps multiply zeros; elements, scales and selectors can be changed in
/// line 1.
static KernelRun makeScaled(const std::string &changes,
                            const std::string &kind) {
  const bool isFp4 = kind.find("nvf4") != std::string::npos;
  return makeRun("mov.b32 %r10, 0; mov.b32 %r11, 0x38383838; mov.b32 %r12, "
                 "0x38383838; mov.b16 %s0, 0; mov.b16 %s1, 0; mov.b16 %s2, 0; "
                 "mov.b16 %s3, 0; mov.f32 %f0, 0.0; setp.ge.u32 %p0, %r0, 40;" +
                     changes + "\nmma.sync.aligned.m16n8k" +
                     (isFp4 ? "64" : "32") + ".row.col.kind::" + kind +
                     " {%f4, %f5, %f6, %f7}, {%r10, %r10, %r10, %r10}, {%r10, "
                     "%r10}, {%f0, %f0, %f0, %f0}, {%r11}, {%s0, %s1}, {%r12}, "
                     "{%s2, %s3};",
                 64);
}

static const char *const kMx = "mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3."
                               "e4m3.f32.ue8m0";
static const char *const kNv = "mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1."
                               "e2m1.f32.ue4m3";

TEST(MatrixMessagesTest, Selectors) {
  ASSERT_EQ(getError(makeScaled("", kMx)), "no error");
  ASSERT_EQ(getError(makeScaled("", kNv)), "no error");
  struct Row {
    const char *kind, *changes, *text;
  };
  for (Row row :
       {Row{kMx, "mov.b16 %s0, 4;", "byte-id-a: expected 0 to 3, got 4"},
        Row{kMx, "mov.b16 %s1, 2;", "thread-id-a: expected 0 or 1, got 2"},
        Row{kMx, "mov.b16 %s2, 4;", "byte-id-b: expected 0 to 3, got 4"},
        Row{kMx, "mov.b16 %s3, 4;", "thread-id-b: expected 0 to 3, got 4"},
        Row{kNv, "mov.b16 %s0, 1;", "byte-id-a: expected 0, got 1"},
        Row{kNv, "mov.b16 %s2, 2;", "byte-id-b: expected 0, got 2"}}) {
    EXPECT_FAILS(makeScaled(row.changes, row.kind), 2,
                 ", lane 0: " + std::string(row.text));
    // Only in some lanes, of the second warp.
    EXPECT_FAILS(makeScaled("@%p0 " + std::string(row.changes), row.kind), 2,
                 "block (0,0,0), warp 1, lane 8: ");
  }
  EXPECT_FAILS(makeScaled("@%p0 mov.b16 %s1, %s9;", kMx), 2,
               "warp 1, lane 8: thread-id-a: expected a defined value, got an "
               "undefined one");
}

TEST(MatrixMessagesTest, Warnings) {
  KernelResult padding =
      runKernel(makeScaled("@%p0 mov.b32 %r10, 0x4000;", kMx));
  EXPECT_EQ(padding.error, "");
  ASSERT_EQ(padding.warnings.size(), 1u);
  EXPECT_EQ(padding.warnings[0],
            "line 2, block (0,0,0), warp 1, lane 8: padding bits of e2m3 in "
            "8-bit containers: expected 0 in the bits 0xc0 of each byte, got "
            "0x00004000 in register 0 of operand a");
  KernelResult sign =
      runKernel(makeScaled("@%p0 mov.b32 %r12, 0x38b83838;", kNv));
  EXPECT_EQ(sign.error, "");
  ASSERT_EQ(sign.warnings.size(), 1u);
  EXPECT_EQ(sign.warnings[0],
            "line 2, block (0,0,0), warp 1, lane 8: ue4m3 scale: expected 0 in "
            "the sign bit, got 0xb8 in byte 2 of scale-b-data; the bit is "
            "ignored");
}

/// D = A * B with A and B in f16, where D is the output: A has zeros in rows of
/// 32 bytes in shared memory, but for the row of `lane`. `changes` come before
/// the product.
static std::string getUndefinedOutput(const std::string &lane,
                                      const std::string &changes) {
  std::string error = getError(makeRun(
      "mov.b32 %r10, 0; mov.f32 %f0, 0.0; mov.b32 %r11, 0; mov.b32 %r12, 0;"
      "and.b32 %r4, %r0, 15; shr.u32 %r5, %r0, 4; mad.lo.u32 %r6, %r4, 32, %r2;"
      "mad.lo.u32 %r6, %r5, 16, %r6; setp.ne.u32 %p0, %r4, " +
      lane +
      "; @%p0 st.shared.v4.b32 [%r6], {%r10, %r10, %r10, %r10};"
      "bar.warp.sync -1;" +
      changes +
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, "
      "[%r6];"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f4, %f5, %f6, %f7}, "
      "{%r20, %r21, %r22, %r23}, {%r11, %r12}, {%f0, %f0, %f0, %f0};"
      "mul.wide.u32 %d9, %r0, 8; add.u64 %d9, %buf1, %d9;"
      "st.global.v2.f32 [%d9], {%f4, %f5};"
      "st.global.v2.f32 [%d9 + 256], {%f6, %f7};"));
  return error.substr(0, error.find(", stored in line"));
}

TEST(MatrixMessagesTest, UndefinedRowsAndColumns) {
  EXPECT_EQ(getUndefinedOutput("16", ""), "no error");
  // A row of D has 8 elements.
  EXPECT_EQ(getUndefinedOutput("5", ""),
            "argument 1: 32 bytes are undefined at the end, the first is "
            "number 160");
  EXPECT_EQ(getUndefinedOutput("13", ""),
            "argument 1: 32 bytes are undefined at the end, the first is "
            "number 416");
  // A column has 16: lane 14 has elements of column 3 of B.
  EXPECT_EQ(getUndefinedOutput("16", "setp.eq.u32 %p1, %r0, 14;"
                                     "@%p1 mov.b32 %r12, {%s8, %s9};"),
            "argument 1: 64 bytes are undefined at the end, the first is "
            "number 12");
}
