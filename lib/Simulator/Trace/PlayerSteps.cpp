//===- PlayerSteps.cpp - Steps of warps in a replay -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Issues the steps of a warp, and handles their events: accesses, operations
// that begin, arrivals and waits. The completion of an operation is known when
// it begins, as units process one thing after another.
//
//===----------------------------------------------------------------------===//

#include "Trace/Player.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static WaitCause getCause(TraceUnit unit) {
  // By unit.
  static constexpr WaitCause causes[kNumTraceUnits] = {
      WaitCause::Copies,     WaitCause::Copies,     WaitCause::Copies,
      WaitCause::TensorCore, WaitCause::TensorCore, WaitCause::TensorCore,
      WaitCause::TensorCore};
  return causes[static_cast<unsigned>(unit)];
}

/// When the sources of a step are ready.
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

/// The latency of a result that no event determines.
static double getLatency(const Timing &timing, const Step &step) {
  switch (step.pipe) {
  case Pipe::None:
    return 0;
  case Pipe::Matrix:
    return timing.getClocks(step) + timing.matrixLatency;
  case Pipe::Memory:
    return timing.sharedLatency;
  default:
    // Pipes with a lower throughput also have a longer latency.
    constexpr double ofFullPipes = 2;
    double clocks = timing.getClocks(step);
    return timing.arithmeticLatency + (clocks > ofFullPipes ? clocks : 0);
  }
}

/// A unit gets work at `begin`, and has been idle since it was free.
void Player::noteIdle(BusyUnit unit, const WarpState &warp, double free,
                      double begin) {
  if (begin <= free)
    return;
  WaitCause cause = warp.waitEnd > free ? warp.cause : WaitCause::Issue;
  // Each SM has four matrix pipes.
  double share = unit == BusyUnit::MatrixPipes ? 1.0 / kNumQuarters : 1;
  result.idle[static_cast<unsigned>(unit)][static_cast<unsigned>(cause)] +=
      share * (begin - free);
}

/// False if another warp has to go on first.
bool Player::issue(WarpState &warp, const Step &step) {
  const std::vector<TraceEvent> &events = warp.recording->events;
  double ready = getReady(warp, step);
  // Compilers reorder arithmetic by the readiness of operands, up to the next
  // branch or wait; accesses keep their order.
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
  if (step.pipe == Pipe::Matrix)
    noteIdle(BusyUnit::MatrixPipes, warp,
             chip.getMatrixFree(warp.sm, warp.quarter), wanted);
  double begin = chip.issue(warp.sm, warp.quarter, step, wanted);
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
    uint32_t sm = group.set * shape.clusterSize +
                  (operation.block + i) % shape.clusterSize;
    if (isTensor)
      noteIdle(BusyUnit::TensorCore, warp, chip.getTensorFree(sm), begin);
    else if (operation.unit == TraceUnit::Warpgroups)
      noteIdle(BusyUnit::MatrixPipes, warp,
               chip.getMatrixFree(sm, warp.quarter), begin);
    end = std::max(end, chip.run(sm, warp.quarter, operation, begin));
  }
  group.done[number] = end;
  group.end = std::max(group.end, end);
  result.clocks = std::max(result.clocks, end);
  if (operation.unit == TraceUnit::Tcgen05Loads)
    warp.result = std::max(warp.result, end);
  addSlice(TraceSlice::Kind::Operation, warp, begin, end, number, true);
  const OperationArrivals &of = arrivals[&recording - recordings.data()];
  for (uint32_t i = of.first[number]; i != of.first[number + 1]; ++i)
    contribute(group, of.phases[i], end, getCause(operation.unit));
}

/// An access, for which the warp waits when it needs the value; the queue of a
/// unit is limited.
void Player::access(WarpState &warp, const TraceEvent &event) {
  Chip::Access access =
      event.kind == TraceEvent::Kind::SharedAccess
          ? chip.accessShared(warp.sm, event.number, warp.issued)
          : chip.accessGlobal(warp.sm, event.number, event.newSectors,
                              warp.issued);
  warp.time = std::max(warp.time, access.accepted);
  if (event.kind != TraceEvent::Kind::GlobalStore)
    warp.result = std::max(warp.result, access.result);
}

/// False if the phase is not complete yet.
bool Player::awaitPhase(WarpState &warp, uint32_t number) {
  PhaseState &phase = warp.group->phases[number];
  if (phase.missing) {
    phase.waiting.push_back(&warp);
    return false;
  }
  endWait(warp, phase.time, phase.cause, number, false);
  return true;
}

/// A warp that has peeked at a phase waits for it before its next wait or
/// arrival.
bool Player::awaitPeeked(WarpState &warp) {
  if (warp.peeked && !awaitPhase(warp, *warp.peeked))
    return false;
  warp.peeked.reset();
  return true;
}

/// Handles the events of a step from the current one on; false if the warp
/// waits.
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
                                           : timing.blockBarrierLatency),
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
