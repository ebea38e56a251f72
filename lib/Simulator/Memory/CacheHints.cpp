//===- CacheHints.cpp - Prefetches and cache policies ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions that control caches. They have no visible effect, apart from
// `discard`, which leaves bytes undefined.
//
// Source: PTX ISA, sections 9.7.9.15 "prefetch, prefetchu" to 9.7.9.18
// "createpolicy".
//
//===----------------------------------------------------------------------===//

#include "Copies/TensorMapOperands.h"
#include "Translation/OpcodeTable.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The size of a cache line, on which discard and applypriority work.
static constexpr unsigned kLineBytes = 128;

namespace {
struct HintForm {
  AddressSpace space;
  int64_t offset;
};
} // namespace

/// A prefetch of an address that is not mapped does nothing.
static void executePrefetch(Warp &warp, const Step &step) {
  warp.requireDefined(step.operands[0], warp.active, "an address");
}

/// Calls `body(span)` with the cache line of each lane, which must be mapped.
template <typename Body>
static void forEachLine(Warp &warp, const Step &step, bool isStore, Body body) {
  const auto &form = step.getForm<HintForm>();
  WarpAccess access;
  if (!getAddresses(warp, form.space, step.operands[0], form.offset, access))
    return;
  forEachLane(warp.active, [&](unsigned lane) {
    AddressSpace space = form.space;
    Span span;
    if (!warp.resolve(lane, space, access.addresses[lane], kLineBytes,
                      kLineBytes, isStore, span))
      return;
    if (space != AddressSpace::Global)
      return warp.fail(lane, "expected an address in global memory");
    body(span);
  });
}

static void executeDiscard(Warp &warp, const Step &step) {
  forEachLine(warp, step, /*isStore=*/true, [](Span span) {
    std::memset(span.ensureStates(), ByteUndefined, kLineBytes);
  });
}

static void executePriority(Warp &warp, const Step &step) {
  forEachLine(warp, step, /*isStore=*/false, [](Span span) {});
}

/// Policies are opaque.
static void executePolicy(Warp &warp, const Step &step) {
  Lanes &policy = warp.reg(step.operands[0]);
  forEachLane(warp.active, [&](unsigned lane) { policy.set(lane, 0, 0); });
}

static void executeMapPrefetch(Warp &warp, const Step &step) {
  const auto &form = step.getForm<HintForm>();
  forEachLane(warp.active, [&](unsigned lane) {
    findTensorMap(warp, lane,
                  {form.space, form.offset, step.operands[0],
                   /*isOfRows=*/false});
  });
}

static void emitHint(Translator &t, AddressSpace space, Step::Execute execute) {
  HintForm form = {space, 0};
  Slot base = t.address(t.current->operands[0], form.space, form.offset);
  t.emit(execute, StepClass::Memory, base, t.keep(form));
}

static void translatePrefetch(Translator &t, Modifiers &modifiers) {
  AddressSpace space = takeSpace(modifiers);
  if (modifiers.take("tensormap")) {
    if (t.finish(modifiers) && t.expectOperands(1))
      emitHint(t, space, executeMapPrefetch);
    return;
  }
  bool isUniform = t.current->opcode == "prefetchu";
  static constexpr llvm::StringRef levels[] = {"L1", "L2", "L2::evict_last",
                                               "L2::evict_normal"};
  if (!modifiers.takeOneOf(
          llvm::ArrayRef(levels).take_front(isUniform ? 1 : 4)))
    return t.fail("expected a level of the cache behind " +
                  llvm::Twine(t.current->opcode));
  if (t.finish(modifiers) && t.expectOperands(1))
    emitHint(t, space, executePrefetch);
}

/// discard and applypriority: an address and 128.
static void translateLine(Translator &t, Modifiers &modifiers,
                          llvm::StringRef level, Step::Execute execute) {
  AddressSpace space = takeSpace(modifiers);
  if (!modifiers.take(level))
    return t.fail("expected ." + level + " behind " + t.current->opcode);
  if (!t.finish(modifiers) || !t.expectOperands(2))
    return;
  const PtxOperand &operand = t.current->operands[1];
  int64_t size = t.constant(operand, "the size of a line");
  if (size != kLineBytes)
    return t.fail(operand.location,
                  "expected a size of 128 bytes, got " + llvm::Twine(size));
  emitHint(t, space, execute);
}

static void translatePolicy(Translator &t, Modifiers &modifiers) {
  std::optional<unsigned> kind =
      modifiers.takeOneOf({"fractional", "range", "cvt"});
  if (!kind || !modifiers.take("b64"))
    return t.fail("expected .fractional, .range or .cvt, and .b64 behind "
                  "createpolicy");
  modifiers.takeOneOf({"global"});
  for (unsigned i = 0; i != 2; ++i)
    modifiers.takeOneOf({"L2", "L2::evict_last", "L2::evict_normal",
                         "L2::evict_first", "L2::evict_unchanged"});
  static constexpr unsigned least[] = {1, 4, 2}, most[] = {2, 4, 2};
  if (t.finish(modifiers) && t.expectOperands(least[*kind], most[*kind]))
    t.emit(executePolicy, StepClass::Memory,
           t.destination(t.current->operands[0], Type::B64));
}

void sim::addCacheInstructions(OpcodeTable &table) {
  table["prefetch"] = translatePrefetch;
  table["prefetchu"] = translatePrefetch;
  table["discard"] = [](Translator &t, Modifiers &modifiers) {
    translateLine(t, modifiers, "L2", executeDiscard);
  };
  table["applypriority"] = [](Translator &t, Modifiers &modifiers) {
    translateLine(t, modifiers, "L2::evict_normal", executePriority);
  };
  table["createpolicy"] = translatePolicy;
}
