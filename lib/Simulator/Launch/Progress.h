//===- Progress.h - Progress of a run ---------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shows the progress of a kernel that takes more than two seconds: one line on
// standard error, if that is a terminal. The line is cleared at the end.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_LAUNCH_PROGRESS_H
#define BLOCKSCALE_LIB_SIMULATOR_LAUNCH_PROGRESS_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace mlir::blockscale::sim {

class Progress {
public:
  /// The progress of a kernel with `count` clusters, or groups of them.
  Progress(std::string name, uint64_t count);
  ~Progress();

  void noteEnd() { ++numEnded; }

private:
  void show();

  const std::string name;
  const uint64_t count;
  std::atomic<uint64_t> numEnded{0};
  bool isOver = false;
  std::mutex mutex;
  std::condition_variable over;
  std::thread thread;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_LAUNCH_PROGRESS_H
