//===- Launches.h - Launches of kernels in the simulator --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch is a run of blockscale-sim with all buffers that there are, each at
// the address that the program has for it. Parameters are structs, with tensor
// maps and addresses of the host's memory found in them; what a buffer holds is
// not searched for these.
//
// Environment:
//   BLOCKSCALE_CAPTURE_SIMULATOR=PATH  blockscale-sim
//   BLOCKSCALE_CAPTURE_FLAGS=..        flags for it, with spaces between
//   BLOCKSCALE_CAPTURE_FOLDER=FOLDER   gets the PTX, and launches.jsonl with a
//                                      line for each launch: the kernel, the
//                                      grid, and the exit code, seconds and, if
//                                      the flags have --stats, statistics; or
//                                      the error of a launch that was not run
//   BLOCKSCALE_CAPTURE_KEEP=1          it keeps the files of each launch, and a
//                                      script that repeats it
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FAKECUDART_LAUNCHES_H
#define BLOCKSCALE_TEST_FAKECUDART_LAUNCHES_H

#include "Modules.h"

#include <array>
#include <driver_types.h>

namespace capture {

struct Launch {
  /// Null if the program's function stands for none.
  const Kernel *kernel;
  std::array<uint32_t, 3> grid, block, cluster = {1, 1, 1};
  /// Dynamic shared memory in bytes.
  uint64_t shared = 0;
  /// A pointer to each parameter.
  void **params = nullptr;
};

/// For messages and the command line: "8,1,1".
std::string printExtents(const std::array<uint32_t, 3> &extents);

/// Runs a kernel to its end. What goes wrong is said on standard error.
cudaError_t run(const Launch &launch);

} // namespace capture

#endif // BLOCKSCALE_TEST_FAKECUDART_LAUNCHES_H
