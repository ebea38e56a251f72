//===- LaunchControl.cpp - clusterlaunchcontrol ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// clusterlaunchcontrol. try_cancel takes a cluster at once; its response
// arrives later. The 16 bytes of a response are four 32-bit words: the index of
// the first block of the cluster, and a magic value.
//
//===----------------------------------------------------------------------===//

#include "Synchronization/LaunchControl.h"

#include "Copies/BulkCopyUnit.h"
#include "Copies/CopyInstructions.h"
#include "Machine/BlockGroup.h"
#include "Machine/PendingClusters.h"
#include "Ptx/Targets.h"
#include "Synchronization/MBarrierLocations.h"
#include "Translation/OpcodeTable.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr uint64_t kResponseBytes = 16;
/// The magic value in word 3 of a response.
static constexpr uint32_t kCanceled = 0x74616B65, kRefused = 0x6E6F6E65;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the bases of the addresses of the response and of the mbarrier
/// object.
struct RequestForm {
  AddressSpace space, mbarrierSpace;
  int64_t offset, mbarrierOffset;
  bool isMulticast;
};

struct Response {
  std::array<uint32_t, 4> words = {0, 0, 0, kRefused};

  bool isCanceled() const { return words[3] == kCanceled; }
  bool isRefused() const { return words[3] == kRefused; }
  bool isZero() const { return words == decltype(words){}; }
};
} // namespace
static_assert(sizeof(Response) == kResponseBytes);

/// Cancels a cluster that has not begun, if there is one left.
static Response drawCluster(BlockGroup &group) {
  PendingClusters &pending = *group.pending;
  Response response;
  if (pending.size() == 0)
    return response;
  uint64_t number = pending.at(group.draw(pending.size()));
  pending.remove(number);
  Extents cluster = getIndexOf(number, group.launch.getNumClusters());
  for (unsigned i = 0; i != cluster.size(); ++i)
    response.words[i] = cluster[i] * group.launch.cluster[i];
  response.words[3] = kCanceled;
  return response;
}

/// Begins the asynchronous write of the response to one block.
static void beginResponse(Warp &warp, const Step &step, unsigned lane,
                          const Response &response, SharedLocation to,
                          SharedLocation mbarrier) {
  BulkCopy copy;
  AddressSpace space = AddressSpace::SharedCluster;
  uint64_t address = to.block->getSharedBase() + to.offset;
  if (!warp.resolve(lane, space, address, kResponseBytes, kResponseBytes,
                    /*isStore=*/true, copy.destination) ||
      !mbarrier.block->findMBarrier(warp, lane, mbarrier.offset))
    return;
  copy.warp = &warp;
  copy.lane = lane;
  copy.line = step.line;
  copy.size = kResponseBytes;
  copy.mbarrier = mbarrier;
  llvm::ArrayRef bytes(reinterpret_cast<const uint8_t *>(response.words.data()),
                       kResponseBytes);
  copy.setBytes(bytes, /*valueStates=*/{});
  copy.isGeneric = false;
  copy.response = response.isCanceled() ? BulkCopy::Response::Canceled
                                        : BulkCopy::Response::Refused;
  getBulkCopies(warp).begin(warp, std::move(copy));
}

/// The address of a response, in the shared memory of the own block.
static std::optional<SharedLocation> findResponse(Warp &warp, const Step &step,
                                                  unsigned lane) {
  const auto &form = step.getForm<RequestForm>();
  std::optional<uint64_t> base =
      getLaneValue(warp, step.operands[0], lane, "an address");
  if (!base)
    return std::nullopt;
  AddressSpace space = form.space;
  uint64_t address = addOffset(space, *base, form.offset), given = address;
  Span span;
  if (!warp.resolve(lane, space, address, kResponseBytes, kResponseBytes,
                    /*isStore=*/true, span))
    return std::nullopt;
  if (warp.block.isOwn(span))
    return SharedLocation{&warp.block,
                          static_cast<uint32_t>(getSharedOffset(address))};
  return warp.error(
      lane, "expected a response in the shared memory of this block, got "
            "address " +
                printHex(given));
}

static void request(Warp &warp, const Step &step, unsigned lane) {
  const auto &form = step.getForm<RequestForm>();
  BlockGroup &group = warp.block.group;
  std::optional<SharedLocation> to = findResponse(warp, step, lane);
  if (!to)
    return;
  std::optional<uint64_t> address =
      getLaneValue(warp, step.operands[1], lane, "an address");
  if (!address)
    return;
  std::optional<SharedLocation> mbarrier = findMBarrierLocation(
      warp, lane, form.mbarrierSpace,
      addOffset(form.mbarrierSpace, *address, form.mbarrierOffset));
  if (!mbarrier || !requireOwn(warp, lane, *mbarrier))
    return;
  if (group.get<LaunchControlUnit>().wasRefused(warp.block))
    return warp.fail(lane, "expected no further request of a block that has "
                           "got the response that no cluster is left");
  llvm::SmallVector<Block *, 16> blocks = {&warp.block};
  uint64_t all = (uint64_t(1) << group.clusterSize) - 1;
  if (form.isMulticast && !findBlocks(warp, lane, all, blocks))
    return;
  Response response = drawCluster(group);
  // Other blocks run next, so that each of them gets some clusters.
  if (group.launch.options->seed == 0)
    group.letOthersRun();
  for (Block *block : blocks)
    if (warp.state != WarpState::Failed)
      beginResponse(warp, step, lane, response, {block, to->offset},
                    {block, mbarrier->offset});
}

static void translateRequest(Translator &t, Modifiers &modifiers) {
  RequestForm form = {};
  bool isComplete = modifiers.take("async");
  AddressSpace space = modifiers.take("shared::cta") ? AddressSpace::Shared
                                                     : AddressSpace::Generic;
  isComplete &= modifiers.take("mbarrier::complete_tx::bytes");
  form.isMulticast = modifiers.take("multicast::cluster::all");
  isComplete &= modifiers.take("b128");
  if (!isComplete)
    return t.fail("expected clusterlaunchcontrol.try_cancel.async"
                  ".mbarrier::complete_tx::bytes.b128");
  llvm::StringRef target = t.program.module.target;
  if (form.isMulticast && !hasFeature(target, Feature::LaunchControlToAll))
    return t.fail("expected a target with .multicast::cluster::all of "
                  "clusterlaunchcontrol, such as sm_100a, got " +
                  target);
  if (!t.finish(modifiers) || !t.expectOperands(2))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  form.space = form.mbarrierSpace = space;
  Slot slots[] = {
      t.address(operands[0], form.space, form.offset),
      t.address(operands[1], form.mbarrierSpace, form.mbarrierOffset)};
  // The work of a block depends on which other blocks have begun.
  t.code.facilities |=
      UsesAsyncProxy | UsesLaunchControl | UsesGlobalSynchronization;
  t.emit(executeInLanes<request>, StepClass::Synchronization, slots,
         t.keep(form));
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

/// The response in the two registers of a lane; `isUndefined` if it has
/// undefined bytes. Fails if the value is no response.
static std::optional<Response> readResponse(Warp &warp, Slot slot,
                                            unsigned lane, bool &isUndefined) {
  const Lanes &low = warp.reg(slot), &high = warp.reg(slot + 1);
  isUndefined = low.isUndefined(lane) || high.isUndefined(lane);
  Response response;
  std::memcpy(&response.words[0], &low.value[lane], sizeof(uint64_t));
  std::memcpy(&response.words[2], &high.value[lane], sizeof(uint64_t));
  if (isUndefined || response.isCanceled() || response.isRefused())
    return response;
  // CUTLASS's tile schedulers store zeros in place of a response when their
  // work is done; cards read that as a failed request.
  if (response.isZero() &&
      warp.block.reportStrict(
          warp, lane,
          "expected a response of clusterlaunchcontrol.try_cancel, got zeros, "
          "which count as a response that no cluster is left",
          "PTX ISA, clusterlaunchcontrol.query_cancel: other bytes are "
          "undefined"))
    return response;
  if (response.isZero())
    return std::nullopt;
  return warp.error(
      lane, "expected a response of clusterlaunchcontrol.try_cancel, got "
            "other bytes");
}

/// Operands: the predicate and the response.
static void executeIsCanceled(Warp &warp, const Step &step) {
  Predicate &result = warp.pred(step.operands[0]);
  forEachLane(warp.active, [&](unsigned lane) {
    bool isUndefined;
    std::optional<Response> response =
        readResponse(warp, step.operands[1], lane, isUndefined);
    if (!response)
      return;
    LaneMask bit = LaneMask(1) << lane;
    result.value =
        response->isCanceled() ? result.value | bit : result.value & ~bit;
    result.undefined =
        isUndefined ? result.undefined | bit : result.undefined & ~bit;
  });
}

namespace {
/// Operands: the response, and the results.
struct FirstBlockForm {
  /// The first of the components x, y and z to get, and how many.
  unsigned first, count;
};
} // namespace

static void executeGetFirst(Warp &warp, const Step &step) {
  const auto &form = step.getForm<FirstBlockForm>();
  forEachLane(warp.active, [&](unsigned lane) {
    bool isUndefined;
    std::optional<Response> response =
        readResponse(warp, step.operands[0], lane, isUndefined);
    if (!response)
      return;
    if (!isUndefined && !response->isCanceled())
      return warp.fail(lane,
                       "expected the response to a request that canceled a "
                       "cluster, got one that says that no cluster is left");
    for (unsigned i = 0; i != form.count; ++i) {
      Lanes &result = warp.reg(step.operands[1 + i]);
      result.set(lane, response->words[form.first + i], isUndefined ? 0xF : 0);
    }
  });
}

static void translateIsCanceled(Translator &t, Modifiers &modifiers) {
  if (!modifiers.take("pred") || !modifiers.take("b128"))
    return t.fail("expected .pred.b128 behind .is_canceled");
  t.emit(executeIsCanceled, StepClass::Synchronization,
         takeOperands(t, modifiers, Type::Pred, {Type::B128}));
}

static void translateQuery(Translator &t, Modifiers &modifiers) {
  if (modifiers.take("is_canceled"))
    return translateIsCanceled(t, modifiers);
  std::optional<unsigned> kind =
      modifiers.takeOneOf({"get_first_ctaid::x", "get_first_ctaid::y",
                           "get_first_ctaid::z", "get_first_ctaid"});
  bool isVector = kind == 3u;
  if (!kind || (isVector && !modifiers.take("v4")) || !modifiers.take("b32") ||
      !modifiers.take("b128"))
    return t.fail("expected .is_canceled.pred.b128, .get_first_ctaid::x.b32"
                  ".b128 (or ::y, ::z) or .get_first_ctaid.v4.b32.b128 behind "
                  "clusterlaunchcontrol.query_cancel");
  if (!t.finish(modifiers) || !t.expectOperands(2))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  llvm::SmallVector<Slot> slots = {t.source(operands[1], Type::B128)};
  // The fourth element is unspecified.
  t.destinations(operands[0], Type::B32, isVector ? 4 : 1, slots);
  FirstBlockForm form = {isVector ? 0 : *kind, isVector ? 3u : 1u};
  t.emit(executeGetFirst, StepClass::Synchronization, slots, t.keep(form));
}

static void translateLaunchControl(Translator &t, Modifiers &modifiers) {
  llvm::StringRef target = t.program.module.target;
  if (!hasFeature(target, Feature::LaunchControl))
    return t.fail("expected a target with clusterlaunchcontrol, from sm_100 "
                  "on, got " +
                  target);
  if (modifiers.take("try_cancel"))
    return translateRequest(t, modifiers);
  if (modifiers.take("query_cancel"))
    return translateQuery(t, modifiers);
  t.fail("expected .try_cancel or .query_cancel behind clusterlaunchcontrol");
}

void sim::addLaunchControlInstructions(OpcodeTable &table) {
  table["clusterlaunchcontrol"] = translateLaunchControl;
}
