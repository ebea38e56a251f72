//===- GridRun.h - Running the blocks of a kernel ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the groups of blocks of one kernel, several at a time. What comes out
// does not depend on how many.
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

/// Runs the groups of blocks of one kernel. What a block has to say is kept for
/// the group with the lowest number, so that it does not depend on who came
/// first.
class GridRun {
public:
  GridRun(const LaunchedKernel &launch, uint64_t maxSteps);

  /// What all blocks did; null where nobody asked.
  std::unique_ptr<Statistics> statistics;

  /// What all blocks did when; empty where nobody asked.
  std::string takeOrder();

  /// What blocks did, in the order of those that were recorded; empty where
  /// nobody asked.
  std::vector<Recording> takeRecordings();

  /// What all blocks printed, in their order; one byte more than
  /// kMaxOutputBytes where that is not all.
  std::string takeOutput();

  /// How many steps the blocks took.
  uint64_t getNumSteps() const { return numSteps; }

  /// Runs all groups, `jobs` at a time; warnings are added in the order of
  /// lines.
  Error run(unsigned jobs, std::vector<std::string> &warnings);

private:
  /// Warnings of one kind.
  struct Found {
    /// The first group with one, and where it says what.
    uint64_t group;
    std::string place, text;
    WarningTexts texts;
  };

  /// Adds those of a group, in whatever order groups come.
  void addWarnings(uint64_t number, const BlockGroup &group);

  /// A group that has begun.
  struct Resident {
    uint64_t number;
    std::unique_ptr<BlockGroup> group;
    /// When it last got stuck, `BlockGroup::countEvents` said so.
    uint64_t events = 0;
  };

  /// How many groups begin before the first one runs.
  uint64_t countFirst() const;
  /// Passes over groups all of whose clusters were taken.
  void skipTaken();
  /// Begins the next group, which is the next one to run.
  void beginResident(std::deque<Resident> &residents);

  /// Those who run beside others do not know how many steps are left for them.
  void runGroups(bool isAlone);
  void runGroup(uint64_t number, uint64_t stepsLeft);
  /// Blocks that wait for each other run in turns on one thread, as many as a
  /// chip has room for.
  void runResidents();
  bool runResident(Resident &resident, bool isLast);
  void keepOutput(uint64_t number, std::string text);
  /// Looks for races with groups before, in the order of their numbers.
  void compareGroup(uint64_t number, GlobalAccesses accesses);
  void failWith(uint64_t number, Error error);
  /// Adds what a group has to say when it has ended.
  void finish(uint64_t number, BlockGroup &group, bool isGood);

  /// The group that takes the step too many is the one that would do so if the
  /// groups ran one after another. It runs once more, to find the place.
  void findExcess();

  const LaunchedKernel &launch;
  const uint64_t maxSteps;
  /// Null where nobody looks.
  std::unique_ptr<Progress> progress;
  /// The next group, and the first one that must not run.
  std::atomic<uint64_t> next{0}, firstFailure;
  /// Where blocks may take clusters that have not begun; else null.
  std::unique_ptr<PendingClusters> pending;
  /// Groups that have begun, where they run in turns.
  uint64_t begun = 0;
  std::optional<Error> failure;
  /// Groups that have ended, and were not compared with those before.
  std::map<uint64_t, GlobalAccesses> ended;
  uint64_t numCompared = 0;
  std::atomic<uint64_t> numSteps{0};
  /// By number of the group.
  std::vector<uint64_t> numStepsOf;
  /// By number of the group, where somebody asked for it.
  std::map<uint64_t, std::string> orders;
  std::map<uint64_t, Recording> recordings;
  /// By number of the group, where it printed something that is kept.
  std::map<uint64_t, std::string> outputs;
  size_t numOutputBytes = 0;
  std::map<WarningKind, Found> found;
  std::mutex mutex;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_LAUNCH_GRIDRUN_H
