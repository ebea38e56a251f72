//===- Progress.cpp - Progress of a run -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A separate thread writes the line, because a block that runs long does not
// report while it runs.
//
//===----------------------------------------------------------------------===//

#include "Launch/Progress.h"

#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

using Clock = std::chrono::steady_clock;

static constexpr std::chrono::seconds kQuiet{2};
static constexpr std::chrono::milliseconds kPeriod{500};
/// Returns to the first column and clears the line.
static constexpr const char *kClear = "\r\x1b[K";

Progress::Progress(std::string name, uint64_t count)
    : name(std::move(name)), count(count), thread([this] { show(); }) {}

Progress::~Progress() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isOver = true;
  }
  over.notify_one();
  thread.join();
}

void Progress::show() {
  Clock::time_point start = Clock::now(), next = start + kQuiet;
  bool isShown = false;
  std::unique_lock<std::mutex> lock(mutex);
  while (!over.wait_until(lock, next, [this] { return isOver; })) {
    auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start);
    llvm::errs() << kClear << name << ": " << numEnded.load() << " of " << count
                 << " clusters after " << seconds.count() << " s";
    isShown = true;
    next += kPeriod;
  }
  if (isShown)
    llvm::errs() << kClear;
}
