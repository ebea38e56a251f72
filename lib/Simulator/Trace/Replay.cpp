//===- Replay.cpp - When things would happen on a chip --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Events in the order of time: the warp that is furthest behind goes on until
// another one is, so that units are asked in the right order. The completion of
// an operation is known when it begins, as units do one thing after another.
//
//===----------------------------------------------------------------------===//

#include "Trace/Replay.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <deque>
#include <queue>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

llvm::StringRef sim::getName(WaitCause cause) {
  static constexpr llvm::StringLiteral names[kNumWaitCauses] = {
      "warps", "copies", "tensor core", "issue"};
  return names[static_cast<unsigned>(cause)];
}

static WaitCause getCause(TraceUnit unit) {
  // By unit.
  static constexpr WaitCause causes[kNumTraceUnits] = {
      WaitCause::Copies,     WaitCause::Copies,     WaitCause::Copies,
      WaitCause::TensorCore, WaitCause::TensorCore, WaitCause::TensorCore,
      WaitCause::TensorCore};
  return causes[static_cast<unsigned>(unit)];
}

/// From the last arrival of a warp at a barrier of the block until those who
/// wait go on.
static constexpr double kBlockBarrierLatency = 10;

namespace {
struct GroupState;

/// A warp on its way through its recording.
struct WarpState {
  GroupState *group;
  const WarpRecording *recording;
  uint32_t number, place, quarter;
  /// Where it is: a run, a step in it, which step of all, and the next event.
  size_t run = 0, event = 0;
  uint32_t inRun = 0, step = 0;
  /// Not before then does it go on.
  double time;
  /// When the last of its steps is issued.
  double lastIssue = 0;
  /// The current step has been issued and waits.
  bool isIssued = false;
  double issued = 0, result = 0;
  /// When registers have their values, then predicates: by function.
  llvm::SmallDenseMap<const Code *, std::vector<double>, 2> ready;
  const Code *code = nullptr;
  std::vector<double> *values = nullptr;
  /// Since it last waited.
  double segmentBegin;
  uint32_t segmentLine = 0, segmentSteps = 0, lastLine = 0;
  /// The phase that it has looked for and not waited for.
  std::optional<uint32_t> peeked;
  double waitEnd = 0;
  WaitCause cause = WaitCause::Issue;
};

struct PhaseState {
  uint32_t missing;
  double time = 0;
  WaitCause cause = WaitCause::Warps;
  llvm::SmallVector<WarpState *, 4> waiting;
};

struct GroupState {
  const Recording *recording;
  uint32_t number, set;
  std::vector<PhaseState> phases;
  /// When operations are complete.
  std::vector<double> done;
  unsigned numWarps = 0;
  double end = 0;
};

/// The phases that operations arrive at: those of operation i are from
/// `first[i]` to `first[i + 1]`.
struct OperationArrivals {
  explicit OperationArrivals(const Recording &recording);
  std::vector<uint32_t> first, phases;
};

class Player {
public:
  Player(const Timing &timing, const ReplayShape &shape,
         const std::vector<Recording> &recordings,
         std::vector<TraceSlice> *slices);

  std::optional<ReplayResult> run();

private:
  void beginGroup(uint32_t set, double time);
  void push(WarpState &warp);
  /// Whether somebody else is further behind than `time`.
  bool isBehind(double time) const {
    return !heap.empty() && heap.top().time < time;
  }
  void advance(WarpState &warp);
  double getReady(WarpState &warp, const Step &step);
  bool issue(WarpState &warp, const Step &step);
  bool handleEvents(WarpState &warp, const Step &step);
  void access(WarpState &warp, const TraceEvent &event);
  bool awaitPhase(WarpState &warp, uint32_t number);
  bool awaitPeeked(WarpState &warp);
  void beginOperation(WarpState &warp, uint32_t number);
  void contribute(GroupState &group, uint32_t phase, double time,
                  WaitCause cause);
  void endWait(WarpState &warp, double end, WaitCause cause, uint32_t number,
               bool isForOperation);
  void addSlice(TraceSlice::Kind kind, const WarpState &warp, double begin,
                double end, uint32_t number, bool isForOperation);
  void endRun(WarpState &warp, double end);
  void endWarp(WarpState &warp);

  struct Entry {
    double time;
    /// Who came first, so that the order is always the same.
    uint64_t order;
    WarpState *warp;
    bool operator<(const Entry &other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  const Timing &timing;
  const ReplayShape &shape;
  const std::vector<Recording> &recordings;
  std::vector<OperationArrivals> arrivals;
  std::vector<TraceSlice> *slices;
  Chip chip;
  std::priority_queue<Entry> heap;
  uint64_t numPushed = 0;
  /// Warps that have begun, by multiprocessor.
  std::vector<uint64_t> numWarpsOf;
  std::deque<GroupState> groups;
  std::deque<WarpState> warps;
  uint64_t nextGroup = 0, numEnded = 0;
  ReplayResult result;
  /// Of all warps.
  double lifetime = 0;
};
} // namespace

OperationArrivals::OperationArrivals(const Recording &recording)
    : first(recording.operations.size() + 1),
      phases(recording.arrivals.size()) {
  for (auto [operation, phase] : recording.arrivals)
    ++first[operation + 1];
  for (size_t i = 1; i < first.size(); ++i)
    first[i] += first[i - 1];
  std::vector<uint32_t> next(first.begin(), first.end());
  for (auto [operation, phase] : recording.arrivals)
    phases[next[operation]++] = phase;
}

static unsigned countMultiprocessors(const Timing &timing,
                                     const ReplayShape &shape) {
  return std::max<unsigned>(timing.multiprocessors, shape.clusterSize);
}

Player::Player(const Timing &timing, const ReplayShape &shape,
               const std::vector<Recording> &recordings,
               std::vector<TraceSlice> *slices)
    : timing(timing), shape(shape), recordings(recordings), slices(slices),
      chip(timing, countMultiprocessors(timing, shape)),
      numWarpsOf(chip.multiprocessors.size()) {
  for (const Recording &recording : recordings)
    arrivals.emplace_back(recording);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void Player::push(WarpState &warp) {
  heap.push({warp.time, numPushed++, &warp});
}

/// Begins the next group on the multiprocessors with a number, or none.
void Player::beginGroup(uint32_t set, double time) {
  while (nextGroup != shape.numGroups) {
    GroupState &group = groups.emplace_back();
    group.number = nextGroup++;
    group.recording = &recordings[group.number / shape.stride];
    group.set = set;
    group.end = time;
    for (const TracePhase &phase : group.recording->phases)
      group.phases.emplace_back().missing = phase.numArrivals;
    group.done.resize(group.recording->operations.size());
    for (auto [i, recording] : llvm::enumerate(group.recording->warps)) {
      if (recording.numSteps == 0)
        continue;
      unsigned rank = i / shape.warpsOfBlock % shape.clusterSize;
      WarpState &warp = warps.emplace_back();
      warp.group = &group;
      warp.recording = &recording;
      warp.number = i;
      warp.place = set * shape.clusterSize + rank;
      // Warps take turns, whatever block they are of.
      warp.quarter = numWarpsOf[warp.place]++ % kNumQuarters;
      warp.time = warp.segmentBegin = time;
      ++group.numWarps;
      push(warp);
    }
    if (group.numWarps)
      return;
    ++numEnded;
  }
}

void Player::endWarp(WarpState &warp) {
  warp.time = std::max(warp.time, warp.lastIssue);
  endRun(warp, warp.time);
  warp.ready.clear();
  GroupState &group = *warp.group;
  group.end = std::max(group.end, warp.time);
  result.clocks = std::max(result.clocks, warp.time);
  if (--group.numWarps)
    return;
  ++numEnded;
  group.phases = {};
  group.done = {};
  beginGroup(group.set, group.end);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// When the sources of a step are there.
double Player::getReady(WarpState &warp, const Step &step) {
  std::vector<double> &values = *warp.values;
  double ready = warp.time;
  Slot numRegisters = warp.code->numRegisters;
  for (auto [i, slot] : llvm::enumerate(step.operands)) {
    unsigned result = i - step.firstResult;
    if (slot == kNoSlot || result < step.numResults)
      continue;
    bool isPredicate = i < 32 && (step.predicates >> i & 1);
    ready = std::max(ready, values[isPredicate ? numRegisters + slot : slot]);
  }
  if (step.guard != kNoSlot)
    ready = std::max(ready, values[numRegisters + step.guard]);
  return ready;
}

/// When the result of a step is there that nothing else says.
static double getLatency(const Timing &timing, const Step &step) {
  switch (step.pipe) {
  case Pipe::None:
    return 0;
  case Pipe::Matrix:
    return timing.getClocks(step) + timing.matrixLatency;
  case Pipe::Memory:
    return timing.sharedLatency;
  default:
    // What takes longer is a pipe that has less of everything.
    constexpr double ofFullPipes = 2;
    double clocks = timing.getClocks(step);
    return timing.arithmeticLatency + (clocks > ofFullPipes ? clocks : 0);
  }
}

/// False where somebody else has to go on first.
bool Player::issue(WarpState &warp, const Step &step) {
  const std::vector<TraceEvent> &events = warp.recording->events;
  double ready = getReady(warp, step);
  // The compiler puts arithmetic in the order in which operands are there, up
  // to the next branch or wait; accesses are in order among themselves.
  bool hasEvent =
      warp.event != events.size() && events[warp.event].step == warp.step;
  bool isFence =
      step.pipe == Pipe::Issue || (hasEvent && !events[warp.event].isAccess());
  bool isInOrder = isFence || hasEvent;
  if (isFence)
    ready = std::max(ready, warp.lastIssue);
  double wanted = isInOrder ? ready : warp.time;
  if (isBehind(wanted)) {
    warp.time = wanted;
    return false;
  }
  double begin = chip.issue(warp.place, warp.quarter, step, wanted);
  warp.time = begin + (step.pipe == Pipe::None ? 0 : 1);
  warp.issued = std::max(begin, ready);
  warp.lastIssue = std::max(warp.lastIssue, warp.issued);
  warp.result = warp.issued + getLatency(timing, step);
  warp.isIssued = true;
  if (warp.segmentSteps++ == 0)
    warp.segmentLine = step.line;
  warp.lastLine = step.line;
  return true;
}

void Player::advance(WarpState &warp) {
  const WarpRecording &recording = *warp.recording;
  while (warp.run != recording.runs.size()) {
    const StepRun &run = recording.runs[warp.run];
    if (warp.code != run.code) {
      warp.code = run.code;
      warp.values = &warp.ready[run.code];
      warp.values->resize(run.code->numRegisters + run.code->numPredicates);
    }
    const Step &step = run.code->steps[run.first + warp.inRun];
    if (!warp.isIssued && !issue(warp, step))
      return push(warp);
    if (!handleEvents(warp, step))
      return;
    warp.isIssued = false;
    for (unsigned i = 0; i != step.numResults; ++i) {
      unsigned operand = step.firstResult + i;
      bool isPredicate = operand < 32 && (step.predicates >> operand & 1);
      Slot slot = step.operands[operand];
      (*warp.values)[isPredicate ? warp.code->numRegisters + slot : slot] =
          warp.result;
    }
    ++warp.step;
    if (++warp.inRun == run.count) {
      warp.inRun = 0;
      ++warp.run;
    }
    if (isBehind(warp.time))
      return push(warp);
  }
  endWarp(warp);
}

void Player::contribute(GroupState &group, uint32_t number, double time,
                        WaitCause cause) {
  PhaseState &phase = group.phases[number];
  if (time >= phase.time) {
    phase.time = time;
    phase.cause = cause;
  }
  if (--phase.missing)
    return;
  for (WarpState *warp : phase.waiting) {
    warp->time = std::max(warp->time, phase.time);
    push(*warp);
  }
  phase.waiting.clear();
}

void Player::beginOperation(WarpState &warp, uint32_t number) {
  GroupState &group = *warp.group;
  const Recording &recording = *group.recording;
  const TraceOperation &operation = recording.operations[number];
  double begin = warp.issued, end = begin;
  bool isTensor = operation.unit == TraceUnit::TensorCore &&
                  (operation.flops || operation.sharedBytes);
  for (unsigned i = 0; i != operation.numBlocks; ++i) {
    uint32_t place = group.set * shape.clusterSize +
                     (operation.block + i) % shape.clusterSize;
    double free = chip.getTensorFree(place);
    if (isTensor && begin > free)
      result.tensorIdle[static_cast<unsigned>(
          warp.waitEnd > free ? warp.cause : WaitCause::Issue)] += begin - free;
    end = std::max(end, chip.run(place, warp.quarter, operation, begin));
  }
  group.done[number] = end;
  if (operation.unit == TraceUnit::TensorLoads)
    warp.result = std::max(warp.result, end);
  addSlice(TraceSlice::Kind::Operation, warp, begin, end, number, true);
  const OperationArrivals &of = arrivals[&recording - recordings.data()];
  for (uint32_t i = of.first[number]; i != of.first[number + 1]; ++i)
    contribute(group, of.phases[i], end, getCause(operation.unit));
}

/// An access that a warp waits for when it needs the value; a unit takes no
/// more of them than it can do in some time.
void Player::access(WarpState &warp, const TraceEvent &event) {
  Chip::Access access =
      event.kind == TraceEvent::Kind::SharedAccess
          ? chip.accessShared(warp.place, event.number, warp.issued)
          : chip.accessGlobal(warp.place, event.number, event.newSectors,
                              warp.issued);
  warp.time = std::max(warp.time, access.accepted);
  if (event.kind != TraceEvent::Kind::GlobalStore)
    warp.result = std::max(warp.result, access.result);
}

/// False where the phase is not complete yet.
bool Player::awaitPhase(WarpState &warp, uint32_t number) {
  PhaseState &phase = warp.group->phases[number];
  if (phase.missing) {
    phase.waiting.push_back(&warp);
    return false;
  }
  endWait(warp, phase.time, phase.cause, number, false);
  return true;
}

/// What a warp has looked for it waits for before it waits for something else,
/// or tells others that it goes on.
bool Player::awaitPeeked(WarpState &warp) {
  if (warp.peeked && !awaitPhase(warp, *warp.peeked))
    return false;
  warp.peeked.reset();
  return true;
}

/// What comes with a step, from the event on that it has come to; false where
/// it waits.
bool Player::handleEvents(WarpState &warp, const Step &step) {
  using Kind = TraceEvent::Kind;
  const std::vector<TraceEvent> &events = warp.recording->events;
  GroupState &group = *warp.group;
  for (; warp.event != events.size() && events[warp.event].step == warp.step;
       ++warp.event) {
    const TraceEvent &event = events[warp.event];
    switch (event.kind) {
    case Kind::SharedAccess:
    case Kind::GlobalLoad:
    case Kind::GlobalStore:
      access(warp, event);
      break;
    case Kind::Begin:
      beginOperation(warp, event.number);
      break;
    case Kind::PeekPhase:
      if (!awaitPeeked(warp))
        return false;
      warp.peeked = event.number;
      break;
    case Kind::Arrive: {
      if (!awaitPeeked(warp))
        return false;
      const TracePhase &phase = group.recording->phases[event.number];
      bool isMBarrier = group.recording->barriers[phase.barrier].isMBarrier;
      contribute(group, event.number,
                 warp.issued + (isMBarrier ? timing.barrierLatency
                                           : kBlockBarrierLatency),
                 WaitCause::Warps);
      break;
    }
    case Kind::AwaitPhase:
      if (!awaitPeeked(warp) || !awaitPhase(warp, event.number))
        return false;
      break;
    case Kind::AwaitOperation:
      endWait(warp, group.done[event.number],
              getCause(group.recording->operations[event.number].unit),
              event.number, true);
      break;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// What is told
//===----------------------------------------------------------------------===//

void Player::endWait(WarpState &warp, double end, WaitCause cause,
                     uint32_t number, bool isForOperation) {
  if (end <= warp.issued + 1)
    return;
  result.waits[static_cast<unsigned>(cause)] += end - warp.issued;
  endRun(warp, warp.issued);
  addSlice(TraceSlice::Kind::Wait, warp, warp.issued, end, number,
           isForOperation);
  warp.time = std::max(warp.time, end);
  warp.result = std::max(warp.result, end);
  warp.waitEnd = end;
  warp.cause = cause;
  warp.segmentBegin = end;
}

void Player::endRun(WarpState &warp, double end) {
  lifetime += end - warp.segmentBegin;
  if (warp.segmentSteps && end > warp.segmentBegin)
    addSlice(TraceSlice::Kind::Run, warp, warp.segmentBegin, end, 0, false);
  warp.segmentSteps = 0;
}

void Player::addSlice(TraceSlice::Kind kind, const WarpState &warp,
                      double begin, double end, uint32_t number,
                      bool isForOperation) {
  if (slices)
    slices->push_back({kind, warp.place, warp.group->number, warp.number, begin,
                       end, number, warp.segmentLine, warp.lastLine,
                       warp.segmentSteps, isForOperation});
}

std::optional<ReplayResult> Player::run() {
  uint32_t numSets = chip.multiprocessors.size() / shape.clusterSize;
  // One for each multiprocessor first, then those beside.
  for (unsigned i = 0; i != shape.groupsBesideEachOther; ++i)
    for (uint32_t set = 0; set != numSets; ++set)
      beginGroup(set, 0);
  while (!heap.empty()) {
    WarpState &warp = *heap.top().warp;
    heap.pop();
    advance(warp);
  }
  if (numEnded != shape.numGroups)
    return std::nullopt;
  double waited = 0;
  for (double clocks : result.waits)
    waited += clocks;
  for (double &clocks : result.waits)
    clocks = lifetime + waited ? clocks / (lifetime + waited) : 0;
  for (const Multiprocessor &of : chip.multiprocessors)
    result.multiprocessors += of.isUsed;
  for (double &clocks : result.tensorIdle)
    clocks /= std::max(result.clocks * result.multiprocessors, 1.0);
  for (unsigned i = 0; i != kNumBusyUnits; ++i)
    result.busy[i] = chip.getBusyShare(BusyUnit(i), result.clocks);
  return result;
}

std::optional<ReplayResult>
sim::replay(const Timing &timing, const ReplayShape &shape,
            const std::vector<Recording> &recordings,
            std::vector<TraceSlice> *slices) {
  return Player(timing, shape, recordings, slices).run();
}
