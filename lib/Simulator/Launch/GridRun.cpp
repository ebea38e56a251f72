//===- GridRun.cpp - Running the blocks of a kernel -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host threads take groups from a counter. Failures and warnings are the same
// as if the groups had run one after another.
//
//===----------------------------------------------------------------------===//

#include "Launch/GridRun.h"

#include "Launch/Units.h"
#include "Machine/StepOrder.h"
#include "Trace/KernelTrace.h"
#include "Trace/Recorder.h"

#include "llvm/Support/ThreadPool.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// After so many rounds over all groups without progress, the run is a
/// deadlock.
static constexpr uint64_t kMaxIdleRounds = 16;

GridRun::GridRun(const LaunchedKernel &launch, uint64_t maxSteps)
    : launch(launch), maxSteps(maxSteps),
      firstFailure(BlockGroup::count(launch)) {
  if (launch.options->wantsStatistics)
    statistics = std::make_unique<Statistics>();
  if (launch.uses(UsesLaunchControl))
    pending =
        std::make_unique<PendingClusters>(getVolume(launch.getNumClusters()));
}

static std::string describeThread(const Warp &warp, unsigned lane) {
  return "block " + print(warp.block.index) + ", warp " +
         std::to_string(warp.index) + ", lane " + std::to_string(lane);
}

/// The end of a warning: how many others differ from it only in numbers.
static std::string describeRest(size_t count) {
  if (count == 0)
    return "";
  return " (and " + std::to_string(count) +
         (count + 1 == kMostTexts ? " or more)" : " more)");
}

Error GridRun::run(unsigned jobs, std::vector<std::string> &warnings) {
  if (launch.options->showsProgress)
    progress = std::make_unique<Progress>(
        shortenForMessage(launch.kernel->function->name.str()),
        BlockGroup::count(launch));
  if (launch.uses(UsesGlobalSynchronization)) {
    runResidents();
  } else if (jobs <= 1) {
    runGroups(/*isAlone=*/true);
  } else {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(jobs));
    for (unsigned i = 0; i != jobs; ++i)
      pool.async([this] { runGroups(/*isAlone=*/false); });
    pool.wait();
    findExcess();
  }
  progress.reset();
  for (const auto &[kind, of] : found)
    warnings.push_back("line " + std::to_string(kind.first) + ", " +
                       of.location + ": " + of.text +
                       describeRest(of.texts.size() - 1));
  return failure ? *failure : Error::success();
}

void GridRun::addWarnings(uint64_t number, const BlockGroup &group) {
  for (const auto &[kind, warning] : group.warnings) {
    Found &of =
        found.try_emplace(kind, Found{UINT64_MAX, "", "", {}}).first->second;
    if (number < of.group) {
      of.group = number;
      of.location = describeThread(*warning.warp, warning.message.lane);
      of.text = warning.message.text;
    }
    for (uint64_t text : warning.texts)
      if (of.texts.size() != kMostTexts)
        of.texts.insert(text);
  }
}

void GridRun::runGroups(bool isAlone) {
  while (numSteps <= maxSteps) {
    uint64_t number = next.fetch_add(1);
    if (number >= firstFailure)
      return;
    runGroup(number, isAlone ? maxSteps - numSteps : maxSteps);
  }
}

void GridRun::runGroup(uint64_t number, uint64_t stepsLeft) {
  BlockGroup group(launch, number, makeUnits);
  BlockGroup::End end = group.run(stepsLeft, /*othersMayHelp=*/false);
  finish(number, group, end == BlockGroup::End::Done);
}

void GridRun::finish(uint64_t number, BlockGroup &group, bool isGood) {
  if (progress)
    progress->noteEnd();
  std::lock_guard<std::mutex> lock(mutex);
  numSteps += group.numSteps;
  if (numStepsOf.size() <= number)
    numStepsOf.resize(number + 1);
  numStepsOf[number] = group.numSteps;
  if (statistics)
    statistics->add(*group.statistics);
  if (launch.options->wantsOrder)
    orders[number] = group.get<StepOrder>().take();
  if (group.recorder)
    recordings[number] = group.recorder->take();
  keepOutput(number, std::move(group.output));
  addWarnings(number, group);
  if (!isGood) {
    const LocatedMessage &message = group.failed->failure;
    failWith(number, Error("line " + std::to_string(message.line) + ", " +
                           describeThread(*group.failed, message.lane) + ": " +
                           message.text));
  } else if (launch.gridAccesses && !launch.uses(UsesGlobalSynchronization)) {
    compareGroup(number, std::move(group.globalAccesses));
  }
}

void GridRun::failWith(uint64_t number, Error error) {
  if (number >= firstFailure)
    return;
  firstFailure = number;
  failure = std::move(error);
}

void GridRun::compareGroup(uint64_t number, GlobalAccesses accesses) {
  ended[number] = std::move(accesses);
  for (auto next = ended.find(numCompared); next != ended.end();
       next = ended.find(++numCompared)) {
    std::optional<GlobalRace> race = launch.gridAccesses->merge(next->second);
    ended.erase(next);
    if (!race)
      continue;
    failWith(numCompared,
             Error("line " + std::to_string(race->event.line) + ", block " +
                   print(race->event.block) + ", warp " +
                   std::to_string(race->event.warpOfBlock) + ", lane " +
                   std::to_string(race->lane) + ": " +
                   describeRace(*race, *launch.memory)));
  }
}

/// Runs a group until it ends or is stuck; false when it has ended. `isLast`:
/// no other group can help it.
bool GridRun::runResident(Resident &resident, bool isLast) {
  BlockGroup &group = *resident.group;
  uint64_t before = group.numSteps;
  BlockGroup::End end = group.run(before + maxSteps - numSteps, !isLast);
  // The limit counts the steps of all groups that have begun.
  numSteps += group.numSteps - before;
  if (end == BlockGroup::End::Stuck)
    return true;
  numSteps -= group.numSteps;
  finish(resident.number, group, end == BlockGroup::End::Done);
  return false;
}

/// An idle chip begins as many groups as it can hold at once, so that
/// try_cancel cannot take them; seed 0 does the same. A chip may also run other
/// kernels, so other seeds draw how many groups begin, down to one that may
/// take all others.
uint64_t GridRun::countFirst() const {
  constexpr uint64_t kMostFirst = 8;
  if (!pending)
    return 0;
  if (launch.options->seed == 0)
    return launch.getGroupsOn(launch.options->countSms());
  return Random(launch.seed).below(kMostFirst);
}

void GridRun::skipCanceled() {
  auto isCanceled = [&] {
    unsigned most = launch.getClustersOfGroup();
    for (uint64_t cluster = begun * most; cluster != (begun + 1) * most;
         ++cluster)
      if (pending->contains(cluster))
        return false;
    return true;
  };
  while (pending && begun != BlockGroup::count(launch) && isCanceled())
    ++begun;
}

void GridRun::beginResident(std::deque<Resident> &residents) {
  residents.push_front({begun, std::make_unique<BlockGroup>(
                                   launch, begun, makeUnits, pending.get())});
  ++begun;
}

void GridRun::runResidents() {
  std::deque<Resident> residents;
  uint64_t count = BlockGroup::count(launch);
  bool isTakingTurns = pending && launch.options->seed == 0;
  uint64_t mostResident = launch.getResidentGroups();
  // Groups that begin at once, and have not run yet.
  uint64_t mostAtOnce = std::min({countFirst(), count, mostResident});
  uint64_t numFirst = mostAtOnce;
  for (uint64_t i = 0; i != numFirst; ++i)
    beginResident(residents);
  // Groups that got stuck in succession without progress.
  uint64_t numIdle = 0;
  while (!failure) {
    skipCanceled();
    if (begun == count && residents.empty())
      return;
    // Others may wait for a new group, so it begins. Groups that use try_cancel
    // take the clusters that have not begun, so there a new group begins only
    // if all wait.
    bool mayBegin = !isTakingTurns || residents.size() < mostAtOnce ||
                    numIdle > residents.size();
    bool isNew = numFirst == 0 && begun != count && mayBegin &&
                 residents.size() < mostResident;
    if (isNew)
      beginResident(residents);
    numFirst -= numFirst != 0;
    bool isLast = residents.size() == 1 && begun == count;
    bool isDeadlock = numIdle > kMaxIdleRounds * residents.size();
    Resident &resident = residents.front();
    if (!runResident(resident, isLast || isDeadlock)) {
      residents.pop_front();
      numIdle = 0;
      continue;
    }
    uint64_t events = resident.group->countEvents();
    numIdle = isNew || events != resident.events ? 0 : numIdle + 1;
    resident.events = events;
    residents.push_back(std::move(residents.front()));
    residents.pop_front();
  }
}

std::string GridRun::takeOrder() {
  std::string text;
  for (const auto &[number, order] : orders)
    text += order;
  return text;
}

std::vector<Recording> GridRun::takeRecordings() {
  std::vector<Recording> taken;
  taken.reserve(recordings.size());
  for (auto &[number, recording] : recordings)
    taken.push_back(std::move(recording));
  return taken;
}

/// The output of later groups need not be kept once the groups before them have
/// printed the most bytes.
void GridRun::keepOutput(uint64_t number, std::string text) {
  if (text.empty())
    return;
  numOutputBytes += text.size();
  outputs[number] = std::move(text);
  while (numOutputBytes - outputs.rbegin()->second.size() > kMaxOutputBytes) {
    numOutputBytes -= outputs.rbegin()->second.size();
    outputs.erase(std::prev(outputs.end()));
  }
}

std::string GridRun::takeOutput() {
  std::string text;
  for (const auto &[number, output] : outputs)
    text += output;
  text.resize(std::min(text.size(), kMaxOutputBytes + 1));
  return text;
}

void GridRun::findExcess() {
  uint64_t left = maxSteps;
  for (uint64_t number = 0; number != numStepsOf.size(); ++number) {
    if (number > firstFailure)
      return;
    if (numStepsOf[number] <= left) {
      left -= numStepsOf[number];
      continue;
    }
    failure = Error("the run takes more steps than --max-steps allows");
    firstFailure = number + 1;
    return runGroup(number, left);
  }
}
