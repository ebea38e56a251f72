//===- TensorMapTesting.h - Kernels with tensor maps ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_SIMULATOR_COPIES_TENSORMAPTESTING_H
#define BLOCKSCALE_TEST_UNIT_SIMULATOR_COPIES_TENSORMAPTESTING_H

#include "KernelTesting.h"

namespace mlir::blockscale::sim::kerneltest {

/// A kernel of one warp with a tensor map T of buffer 0, which has 64 rows of
/// 64 words; word i is i. Buffers 1 and 2 have 1024 words that are 0. In front
/// of the body, S (8192 bytes, a multiple of 1024) and M are declared as in
/// ThreadTesting.h, %r0 is the number of the thread, %p0 that of thread 0,
/// %buf<i> the address of buffer i, and M waits for one arrival. `map` is the
/// text behind `tmap:@0:`.
struct TensorMapRun {
  std::string map, body;
  std::string target = "sm_100a";
  Options options;
};

/// The words (uint32_t) of all buffers, or the message of an error.
struct TensorMapResult {
  std::string error;
  std::vector<std::vector<uint32_t>> words;
};
TensorMapResult runTensorMap(const TensorMapRun &run);

/// Executes a load and waits until M has received `bytes`.
std::string loadAndWait(const std::string &load, unsigned bytes);
/// Stores the first `count` words behind S + 1024 as those of buffer 1.
std::string storeWords(unsigned count);

} // namespace mlir::blockscale::sim::kerneltest

#endif // BLOCKSCALE_TEST_UNIT_SIMULATOR_COPIES_TENSORMAPTESTING_H
