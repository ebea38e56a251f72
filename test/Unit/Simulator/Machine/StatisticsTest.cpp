//===- StatisticsTest.cpp - Tests of counts of accesses -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine/Statistics.h"
#include "KernelTesting.h"

#include "llvm/Support/JSON.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

/// Lane i accesses `size` bytes at `i * stride`.
static WarpAccess makeAccess(unsigned size, uint64_t stride,
                             LaneMask lanes = kAllLanes) {
  WarpAccess access;
  access.lanes = lanes;
  access.size = size;
  for (unsigned lane = 0; lane != kLanes; ++lane)
    access.addresses[lane] = lane * stride;
  return access;
}

TEST(StatisticsTest, Wavefronts) {
  EXPECT_EQ(countWavefronts(makeAccess(4, 4)), 1u);
  // Every second bank, twice; then every fourth, and one bank for all.
  EXPECT_EQ(countWavefronts(makeAccess(4, 8)), 2u);
  EXPECT_EQ(countWavefronts(makeAccess(4, 16)), 4u);
  EXPECT_EQ(countWavefronts(makeAccess(4, 128)), 32u);
  EXPECT_EQ(countWavefronts(makeAccess(4, 132)), 1u);
  // All lanes want one word.
  EXPECT_EQ(countWavefronts(makeAccess(4, 0)), 1u);
  EXPECT_EQ(countWavefronts(makeAccess(1, 1)), 1u);
  // 16 bytes: four groups of eight lanes.
  EXPECT_EQ(countWavefronts(makeAccess(16, 16)), 4u);
  EXPECT_EQ(countWavefronts(makeAccess(16, 128)), 32u);
  EXPECT_EQ(countWavefronts(makeAccess(8, 8)), 2u);
  EXPECT_EQ(countWavefronts(makeAccess(4, 128, 0x7)), 3u);
}

TEST(StatisticsTest, SectorsAndBytes) {
  EXPECT_EQ(countSectors(makeAccess(4, 4)), 4u);
  EXPECT_EQ(countSectors(makeAccess(4, 32)), 32u);
  EXPECT_EQ(countSectors(makeAccess(4, 0)), 1u);
  EXPECT_EQ(countSectors(makeAccess(16, 16)), 16u);
  EXPECT_EQ(countSectors(makeAccess(1, 1, 0xF)), 1u);
  EXPECT_EQ(countDistinctBytes(makeAccess(4, 4)), 128u);
  EXPECT_EQ(countDistinctBytes(makeAccess(4, 0)), 4u);
  EXPECT_EQ(countDistinctBytes(makeAccess(4, 2)), 66u);
}

/// The statistics of a kernel; its counts are those of one warp.
static llvm::json::Object runCounted(KernelRun run) {
  run.options.wantsStatistics = true;
  KernelResult result = runKernel(run);
  EXPECT_EQ(result.error, "");
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(result.statistics);
  EXPECT_TRUE(bool(json)) << result.statistics;
  if (!json) {
    llvm::consumeError(json.takeError());
    return {};
  }
  return *json->getAsObject()->getArray("kernels")->front().getAsObject();
}

TEST(StatisticsTest, Kernels) {
  KernelRun run;
  run.buffers = {zeros<uint32_t>(1024)};
  run.threads = 64;
  run.blocks = 2;
  run.dynamicShared = 256;
  run.body = R"(
    .shared .align 16 .b8 S[4096];
    mov.u32 %r0, %tid.x;
    mov.u64 %d0, S;
    mul.wide.u32 %d1, %r0, 8;
    add.u64 %d0, %d0, %d1;
    st.shared.u32 [%d0], %r0;
    ld.shared.u32 %r1, [%d0];
    mul.wide.u32 %d1, %r0, 32;
    add.u64 %d1, %buf0, %d1;
    ld.global.u32 %r2, [%d1];
    cvt.rn.f32.u32 %f0, %r2;
  )";
  llvm::json::Object kernel = runCounted(run);
  EXPECT_EQ(kernel.getString("name"), "k");
  EXPECT_EQ(kernel.getInteger("shared_bytes"), 4096 + 256);
  const llvm::json::Object &instructions = *kernel.getObject("instructions");
  // Four warps; ld.param of the buffer is a memory instruction too.
  EXPECT_EQ(instructions.getInteger("arithmetic"), 4 * 6);
  EXPECT_EQ(instructions.getInteger("memory"), 4 * 4);
  EXPECT_EQ(instructions.getInteger("conversion"), 4);
  EXPECT_EQ(instructions.getInteger("matrix"), 0);
  const llvm::json::Object &shared = *kernel.getObject("shared_memory");
  EXPECT_EQ(shared.getInteger("requests"), 8);
  EXPECT_EQ(shared.getInteger("bytes"), 8 * 128);
  EXPECT_EQ(shared.getInteger("wavefronts"), 16);
  EXPECT_EQ(shared.getNumber("wavefronts_over_least"), 2.0);
  const llvm::json::Object &global = *kernel.getObject("global_memory");
  EXPECT_EQ(global.getInteger("requests"), 4);
  EXPECT_EQ(global.getNumber("sectors_per_request"), 32.0);
  EXPECT_EQ(global.getNumber("sector_use"), 0.125);
  EXPECT_EQ(kernel.getArray("lines")->size(), 3u);
}

TEST(StatisticsTest, MatrixInstructions) {
  KernelRun run;
  run.body = R"(
    mov.b32 %r0, 0;
    mov.f32 %f0, 0f00000000;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4},
      {%r0, %r0, %r0, %r0}, {%r0, %r0}, {%f0, %f0, %f0, %f0};
  )";
  run.blocks = 3;
  llvm::json::Object kernel = runCounted(run);
  EXPECT_EQ(kernel.getInteger("multiply_adds"), 3 * 16 * 8 * 16);
  EXPECT_EQ(kernel.getObject("matrix")->getInteger("mma.m16n8k16.f16.f16.f32"),
            3);
}
