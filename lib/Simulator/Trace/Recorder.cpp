//===- Recorder.cpp - Records what a group of blocks does -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keeps steps as runs of consecutive ones, so that an iteration of a loop costs
// a few bytes, and merges repeated waits.
//
//===----------------------------------------------------------------------===//

#include "Trace/Recorder.h"

#include "Machine/BlockGroup.h"
#include "Trace/KernelTrace.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The most that is kept of all groups of a launch: some 600 MB.
static constexpr uint64_t kMaxKeptOfAll = uint64_t(1) << 25;
/// The granularity of first accesses to global memory.
static constexpr uint64_t kLineBytes = 128;
static constexpr uint64_t kSectorsOfLine = kLineBytes / kSectorBytes;

llvm::StringRef sim::getName(TraceUnit unit) {
  static constexpr llvm::StringLiteral names[kNumTraceUnits] = {
      "bulk loads",   "bulk stores",   "cp.async", "tensor core",
      "tensor loads", "tensor stores", "wgmma"};
  return names[static_cast<unsigned>(unit)];
}

Recorder::Recorder(BlockGroup &group)
    : group(group), maxKept(kMaxKeptOfAll / countRecordings(group.launch)) {
  size_t numWarps = group.maxBlocks * group.launch.getNumWarps();
  recording.warps.resize(numWarps);
  failedTests.resize(numWarps);
  queues.resize(numWarps);
}

Recording Recorder::take() {
  for (const Block &block : group.blocks)
    recording.blocks.push_back(print(block.index));
  if (isFull())
    recording = {};
  recording.isCut = isFull();
  return std::move(recording);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Recorder::truncate(unsigned warp, uint32_t numSteps) {
  WarpRecording &of = recording.warps[warp];
  while (of.numSteps > numSteps) {
    uint32_t dropped = std::min(of.runs.back().count, of.numSteps - numSteps);
    of.numSteps -= dropped;
    of.runs.back().count -= dropped;
    if (of.runs.back().count != 0)
      continue;
    of.runs.pop_back();
    --numKept;
  }
}

bool Recorder::beginStep(Warp &warp, const Step &step) {
  WarpRecording &of = recording.warps[warp.number];
  FailedTest &wait = failedTests[warp.number];
  if (wait.step == &step && wait.numEvents == of.events.size())
    truncate(warp.number, wait.numSteps);
  if (isFull() || of.numSteps == UINT32_MAX) {
    numKept = maxKept;
    return true;
  }
  const Code *code = warp.frames.back().code;
  uint32_t pc = &step - code->steps.data();
  ++of.numSteps;
  if (!of.runs.empty()) {
    StepRun &run = of.runs.back();
    if (run.code == code && run.first + run.count == pc) {
      ++run.count;
      return true;
    }
  }
  of.runs.push_back({code, pc, 1});
  ++numKept;
  return true;
}

void Recorder::undoStep(const Warp &warp) {
  WarpRecording &of = recording.warps[warp.number];
  if (of.numSteps)
    truncate(warp.number, of.numSteps - 1);
}

void Recorder::noteFailedTest(const Warp &warp) {
  WarpRecording &of = recording.warps[warp.number];
  if (of.numSteps)
    failedTests[warp.number] = {warp.current, of.numSteps - 1,
                                of.events.size()};
}

/// Lanes of a step do the same at the same time.
bool Recorder::isAdded(const Warp &warp, TraceEvent::Kind kind,
                       uint32_t number) const {
  const WarpRecording &of = recording.warps[warp.number];
  return !of.events.empty() && of.events.back().kind == kind &&
         of.events.back().number == number &&
         of.events.back().step + 1 == of.numSteps;
}

void Recorder::addEvent(const Warp &warp, TraceEvent::Kind kind,
                        uint32_t number, uint16_t newSectors) {
  WarpRecording &of = recording.warps[warp.number];
  if (isFull() || !of.numSteps)
    return;
  of.events.push_back({of.numSteps - 1, kind, newSectors, number});
  ++numKept;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint64_t Recorder::touchLines(const Span &span, uint64_t size) {
  if (!span.storage || size == 0 || isFull())
    return 0;
  uint64_t begin = span.bytes - span.storage->data();
  uint64_t numNew = 0;
  for (uint64_t line = begin / kLineBytes;
       line <= (begin + size - 1) / kLineBytes; ++line)
    numNew += touched.insert({span.storage, line}).second;
  return numNew;
}

uint64_t Recorder::touch(const Span &span, uint64_t size) {
  // The cache lines at both ends may be requested in part.
  return std::min(touchLines(span, size) * kLineBytes, size);
}

void Recorder::observe(const Warp &warp, const WarpAccess &access) {
  using Kind = TraceEvent::Kind;
  if (access.isBulk)
    return;
  TraceOperation copy = {};
  copy.unit = TraceUnit::ThreadCopies;
  copy.block = warp.block.number;
  if (access.space == AddressSpace::Shared ||
      access.space == AddressSpace::SharedCluster) {
    copy.sharedBytes = countWavefronts(access) * kWavefrontBytes;
    if (access.isAsync)
      beginOrAdd(warp, copy);
    else
      addEvent(warp, Kind::SharedAccess, countWavefronts(access));
    return;
  }
  if (access.space != AddressSpace::Global)
    return;
  uint64_t newLines = 0;
  forEachLane(access.lanes, [&](unsigned lane) {
    uint64_t address = access.addresses[lane];
    GlobalMemory::Allocation *found = group.launch.memory->lookup(address);
    if (!found)
      return;
    Span span;
    span.storage = &found->storage;
    span.bytes = found->storage.data() + (address - found->address);
    newLines += touchLines(span, access.size);
  });
  uint64_t sectors = countSectors(access);
  uint64_t newSectors = std::min(newLines * kSectorsOfLine, sectors);
  copy.l2Bytes = sectors * kSectorBytes;
  copy.newBytes = newSectors * kSectorBytes;
  if (access.isAsync)
    beginOrAdd(warp, copy);
  else
    addEvent(warp,
             access.kind == AccessKind::Store ? Kind::GlobalStore
                                              : Kind::GlobalLoad,
             sectors, newSectors);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

Recorder::Phases &Recorder::add(Barrier barrier, TraceBarrier description) {
  // A name takes as much memory as so many events.
  constexpr unsigned weight = 8;
  numKept += weight;
  Phases &of = phases[barrier];
  of = {static_cast<uint32_t>(recording.barriers.size()), {}, {}};
  recording.barriers.push_back(std::move(description));
  return of;
}

void Recorder::beginMBarrier(Barrier barrier, std::string name) {
  if (!isFull())
    add(barrier, {std::move(name), /*isMBarrier=*/true});
}

uint32_t Recorder::getCurrent(Barrier barrier) {
  auto found = phases.find(barrier);
  std::string name = barrier.second == kOfCluster
                         ? "barrier of the cluster"
                         : "barrier " + std::to_string(barrier.second);
  Phases &of = found != phases.end()
                   ? found->second
                   : add(barrier, {std::move(name), /*isMBarrier=*/false});
  if (!of.current) {
    ++numKept;
    of.current = recording.phases.size();
    recording.phases.push_back({of.barrier});
  }
  return *of.current;
}

void Recorder::arrive(const Warp &warp, Barrier barrier) {
  if (isFull())
    return;
  uint32_t phase = getCurrent(barrier);
  if (isAdded(warp, TraceEvent::Kind::Arrive, phase))
    return;
  ++recording.phases[phase].numArrivals;
  addEvent(warp, TraceEvent::Kind::Arrive, phase);
}

void Recorder::arrive(OperationId operation, Barrier barrier) {
  if (operation == kNoOperation || isFull())
    return;
  ++numKept;
  uint32_t phase = getCurrent(barrier);
  ++recording.phases[phase].numArrivals;
  recording.arrivals.push_back({operation, phase});
}

void Recorder::complete(Barrier barrier) {
  auto found = phases.find(barrier);
  if (found != phases.end())
    found->second.last = std::exchange(found->second.current, std::nullopt);
}

void Recorder::awaitLast(const Warp &warp, Barrier barrier, bool isPeek) {
  using Kind = TraceEvent::Kind;
  auto found = phases.find(barrier);
  Kind kind = isPeek ? Kind::PeekPhase : Kind::AwaitPhase;
  if (found != phases.end() && found->second.last &&
      !isAdded(warp, kind, *found->second.last))
    addEvent(warp, kind, *found->second.last);
}

void Recorder::awaitCurrent(const Warp &warp, Barrier barrier) {
  if (!isFull())
    addEvent(warp, TraceEvent::Kind::AwaitPhase, getCurrent(barrier));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Recorder::Queue &Recorder::getQueue(const Warp &warp, TraceUnit unit) {
  return queues[warp.number][static_cast<unsigned>(unit)];
}

OperationId Recorder::begin(const Warp &warp, TraceOperation operation) {
  if (isFull())
    return kNoOperation;
  ++numKept;
  operation.line = warp.current->line;
  OperationId number = recording.operations.size();
  getQueue(warp, operation.unit).last = number;
  recording.operations.push_back(operation);
  addEvent(warp, TraceEvent::Kind::Begin, number);
  return number;
}

OperationId Recorder::beginOrAdd(const Warp &warp,
                                 const TraceOperation &operation) {
  OperationId last = getLast(warp, operation.unit);
  if (last != kNoOperation && isAdded(warp, TraceEvent::Kind::Begin, last)) {
    TraceOperation &same = recording.operations[last];
    same.l2Bytes += operation.l2Bytes;
    same.sharedBytes += operation.sharedBytes;
    same.newBytes += operation.newBytes;
    return last;
  }
  return begin(warp, operation);
}

OperationId Recorder::getLast(const Warp &warp, TraceUnit unit) {
  return getQueue(warp, unit).last;
}

void Recorder::commit(const Warp &warp, TraceUnit unit) {
  if (isFull())
    return;
  ++numKept;
  Queue &queue = getQueue(warp, unit);
  queue.groups.push_back(queue.last);
}

void Recorder::awaitGroups(const Warp &warp, TraceUnit unit, uint64_t keep) {
  Queue &queue = getQueue(warp, unit);
  if (queue.groups.size() <= keep)
    return;
  OperationId last = queue.groups[queue.groups.size() - 1 - keep];
  if (last != kNoOperation)
    addEvent(warp, TraceEvent::Kind::AwaitOperation, last);
}

void Recorder::awaitAll(const Warp &warp, TraceUnit unit) {
  OperationId last = getLast(warp, unit);
  if (last != kNoOperation)
    addEvent(warp, TraceEvent::Kind::AwaitOperation, last);
}
