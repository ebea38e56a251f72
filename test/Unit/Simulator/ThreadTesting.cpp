//===- ThreadTesting.cpp - Kernels whose threads work together ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

static constexpr size_t kWords = 1024;

KernelRun kerneltest::makeRun(const std::string &body, unsigned threads,
                              uint64_t seed) {
  KernelRun run;
  run.body =
      ".shared .align 128 .b8 S[4096]; .shared .align 8 .b64 M[8]; "
      "mov.u32 %r0, %tid.x; mul.lo.u32 %r1, %r0, 4; mul.wide.u32 %d1, %r0, 4; "
      "add.u64 %d2, %buf0, %d1; add.u64 %d3, %buf1, %d1; "
      "mov.u32 %r2, S; add.u32 %r3, %r2, %r1; " +
      body;
  std::vector<uint32_t> input(kWords);
  for (size_t i = 0; i != kWords; ++i)
    input[i] = i;
  run.buffers = {toBytes(input), zeros<uint32_t>(kWords)};
  run.threads = threads;
  run.options.seed = seed;
  run.options.maxSteps = 1000000;
  // Most tests check values and waits; `checkingRaces` is for tests of races.
  run.options.checkRace = false;
  return run;
}

KernelRun kerneltest::makeClusterRun(const std::string &body, unsigned blocks,
                                     uint64_t seed) {
  KernelRun run =
      makeRun("mov.u32 %r50, %cluster_ctarank; mov.u32 %r49, %cluster_nctarank;"
              "add.u32 %r51, %r50, 1; rem.u32 %r51, %r51, %r49;"
              "mad.wide.u32 %d3, %r50, 128, %d3;"
              "mapa.shared::cluster.u32 %r52, %r3, %r51;"
              "mapa.shared::cluster.u32 %r53, M, %r51;" +
                  body + "\n" + kMeet,
              /*threads=*/32, seed);
  run.blocks = run.cluster = blocks;
  return run;
}

std::vector<uint32_t> kerneltest::getOutput(const KernelRun &run) {
  KernelResult result = runKernel(run);
  EXPECT_EQ(result.error, "");
  if (!result.error.empty())
    return std::vector<uint32_t>(kWords);
  return result.get<uint32_t>(1);
}

std::string kerneltest::getError(const KernelRun &run) {
  std::string error = runKernel(run).error;
  return error.empty() ? "no error" : error;
}

KernelRun kerneltest::checkingRaces(KernelRun run) {
  run.options.checkRace = true;
  return run;
}

KernelRun kerneltest::checkingStrictly(KernelRun run) {
  run.options.checkStrict = true;
  return run;
}

unsigned kerneltest::countGoodSeeds(KernelRun run,
                                    const std::vector<uint32_t> &expected,
                                    unsigned numSeeds) {
  unsigned count = 0;
  for (run.options.seed = 0; run.options.seed != numSeeds; ++run.options.seed) {
    KernelResult result = runKernel(run);
    count += result.error.empty() && result.get<uint32_t>(1) == expected;
  }
  return count;
}
