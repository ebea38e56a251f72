//===- GridRun.h - Running the blocks of a kernel ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the groups of blocks of one kernel, several at a time. Results do not
// depend on how many.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_LAUNCH_GRIDRUN_H
#define BLOCKSCALE_LIB_SIMULATOR_LAUNCH_GRIDRUN_H

#include "Launch/Progress.h"
#include "Machine/BlockGroup.h"
#include "Machine/PendingClusters.h"
#include "Trace/Recording.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

namespace mlir::blockscale::sim {

/// Runs the groups of blocks of one kernel. Of equal messages, the one of the
/// group with the lowest number is kept, so that it does not depend on which
/// group ran first.
class GridRun {
public:
  GridRun(const LaunchedKernel &launch, uint64_t maxSteps);

  /// The statistics of all blocks; null if they were not requested.
  std::unique_ptr<Statistics> statistics;

  /// The order of the steps of all blocks; empty if it was not requested.
  std::string takeOrder();

  /// The recordings of the groups that were recorded, in order; empty if they
  /// were not requested.
  std::vector<Recording> takeRecordings();

  /// The output of all blocks, in the order of blocks; one byte more than
  /// kMaxOutputBytes if output was dropped.
  std::string takeOutput();

  /// How many steps the blocks took.
  uint64_t getNumSteps() const { return numSteps; }

  /// Runs all groups, `jobs` at a time; warnings are added in the order of
  /// lines.
  Error run(unsigned jobs, std::vector<std::string> &warnings);

private:
  /// Warnings of one kind.
  struct Found {
    /// The first group with such a warning, and its text.
    uint64_t group;
    std::string location, text;
    WarningTexts texts;
  };

  /// Adds the warnings of a group; groups may come in any order.
  void addWarnings(uint64_t number, const BlockGroup &group);

  /// A group that has begun.
  struct Resident {
    uint64_t number;
    std::unique_ptr<BlockGroup> group;
    /// `BlockGroup::countEvents` when it last got stuck.
    uint64_t events = 0;
  };

  /// How many groups begin before the first one runs.
  uint64_t countFirst() const;
  /// Skips groups whose clusters were all taken.
  void skipCanceled();
  /// Begins the next group, which runs next.
  void beginResident(std::deque<Resident> &residents);

  /// Takes and runs groups. Unless `isAlone`, other threads do the same, and
  /// the number of steps that are left is not known.
  void runGroups(bool isAlone);
  void runGroup(uint64_t number, uint64_t stepsLeft);
  /// Runs groups that may wait for each other in turns on one thread, as many
  /// as a chip can hold.
  void runResidents();
  bool runResident(Resident &resident, bool isLast);
  void keepOutput(uint64_t number, std::string text);
  /// Looks for races with earlier groups, in the order of their numbers.
  void compareGroup(uint64_t number, GlobalAccesses accesses);
  void failWith(uint64_t number, Error error);
  /// Adds the results of a group that has ended.
  void finish(uint64_t number, BlockGroup &group, bool isGood);

  /// Finds the group that would exceed the limit of steps if the groups ran one
  /// after another, and runs it again to find the instruction.
  void findExcess();

  const LaunchedKernel &launch;
  const uint64_t maxSteps;
  /// Null without a progress line.
  std::unique_ptr<Progress> progress;
  /// The next group, and the first one that must not run.
  std::atomic<uint64_t> next{0}, firstFailure;
  /// Null unless the kernel may take clusters that have not begun.
  std::unique_ptr<PendingClusters> pending;
  /// How many groups have begun, if they run in turns.
  uint64_t begun = 0;
  std::optional<Error> failure;
  /// The accesses of groups that have ended but were not yet compared with
  /// earlier ones.
  std::map<uint64_t, GlobalAccesses> ended;
  uint64_t numCompared = 0;
  std::atomic<uint64_t> numSteps{0};
  /// By number of the group.
  std::vector<uint64_t> numStepsOf;
  /// By number of the group, if the order was requested.
  std::map<uint64_t, std::string> orders;
  std::map<uint64_t, Recording> recordings;
  /// By number of the group, for groups with output that is kept.
  std::map<uint64_t, std::string> outputs;
  size_t numOutputBytes = 0;
  std::map<WarningKind, Found> found;
  std::mutex mutex;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_LAUNCH_GRIDRUN_H
