//===- ThreadTesting.h - Kernels whose threads work together ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of one block with shared memory, for tests of what threads do
// together.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_SIMULATOR_THREADTESTING_H
#define BLOCKSCALE_TEST_UNIT_SIMULATOR_THREADTESTING_H

#include "KernelTesting.h"

namespace mlir::blockscale::sim::kerneltest {

/// A kernel with two buffers of 1024 words: the input, where word i is i, and
/// the output, which is 0 at first. In front of the body, on its first line:
///   %r0           the number of the thread
///   %r1           the same times 4
///   %r2, %r3      the addresses of S, and of word %r0 of S (4096 bytes in
///                 shared memory at 0x400, aligned to 128)
///   %d2, %d3      the addresses of word %r0 of the input and of the output
/// M has 8 times 8 bytes of shared memory at 0x1410.
KernelRun makeRun(const std::string &body, unsigned threads = 32,
                  uint64_t seed = 0);

/// The same with blocks of a cluster, which have 32 threads. The address in
/// %d3 is that of the word of the thread among all threads; further on there
/// are
///   %r50, %r51    the rank of the block, and that of the next one
///   %r52, %r53 the addresses of word %r0 of S and of M in the next block The
///   shared memory of a block stays valid until all blocks have reached the end
///   of the body.
KernelRun makeClusterRun(const std::string &body, unsigned blocks = 2,
                         uint64_t seed = 0);

/// All threads of a cluster meet.
inline constexpr const char *kMeet =
    "barrier.cluster.arrive; barrier.cluster.wait;";

/// The words of the output, after a run that goes well.
std::vector<uint32_t> getOutput(const KernelRun &run);
/// The message of a run that fails, "no error" if it does not.
std::string getError(const KernelRun &run);

/// A run with race detection.
KernelRun checkingRaces(KernelRun run);

/// A run with --check=strict.
KernelRun checkingStrictly(KernelRun run);

/// With how many of the first seeds a run succeeds with this output.
unsigned countGoodSeeds(KernelRun run, const std::vector<uint32_t> &expected,
                        unsigned numSeeds = 10);

} // namespace mlir::blockscale::sim::kerneltest

/// The run fails in this line with this text in the message.
#define EXPECT_FAILS(run, line, text)                                          \
  do {                                                                         \
    std::string message = ::mlir::blockscale::sim::kerneltest::getError(run);  \
    EXPECT_EQ(message.rfind("line " #line ", ", 0), 0u) << message;            \
    EXPECT_NE(message.find(text), std::string::npos) << message;               \
  } while (false)

#endif // BLOCKSCALE_TEST_UNIT_SIMULATOR_THREADTESTING_H
