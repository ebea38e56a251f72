//===- MemoryOperands.cpp - Loads and stores of a warp --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses the state spaces, hints and addresses that memory instructions share,
// and moves bytes with their states.
//
//===----------------------------------------------------------------------===//

#include "Memory/MemoryOperands.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

AddressSpace sim::takeSpace(Modifiers &modifiers) {
  static constexpr struct {
    llvm::StringRef name;
    AddressSpace space;
  } spaces[] = {
      {"global", AddressSpace::Global},
      {"shared", AddressSpace::Shared},
      {"shared::cta", AddressSpace::Shared},
      {"shared::cluster", AddressSpace::SharedCluster},
      {"local", AddressSpace::Local},
      {"const", AddressSpace::Const},
      {"param", AddressSpace::Param},
      {"param::entry", AddressSpace::Param},
      {"param::func", AddressSpace::Param},
  };
  const auto *row = modifiers.takeRow(spaces);
  return row ? row->space : AddressSpace::Generic;
}

MemoryOrder sim::takeHints(Modifiers &modifiers, bool &hasCachePolicy) {
  static constexpr struct {
    llvm::StringRef name;
    MemoryOrder order;
  } orders[] = {
      {"volatile", MemoryOrder::Relaxed},
      {"relaxed", MemoryOrder::Relaxed},
      {"acquire", MemoryOrder::Acquire},
      {"release", MemoryOrder::Release},
      {"acq_rel", MemoryOrder::AcquireRelease},
      {"sc", MemoryOrder::AcquireRelease},
  };
  const auto *row = modifiers.takeRow(orders);
  modifiers.takeOneOf({"mmio"}); // Beside .relaxed.
  modifiers.takeOneOf({"weak"});
  modifiers.takeOneOf({"cta", "cluster", "gpu", "sys"});
  modifiers.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  modifiers.takeOneOf({"nc"});
  modifiers.takeOneOf({"L1::evict_normal", "L1::evict_unchanged",
                       "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  modifiers.takeOneOf(
      {"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  modifiers.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  hasCachePolicy = modifiers.take("L2::cache_hint");
  return row ? row->order : MemoryOrder::Weak;
}

bool sim::getAddresses(Warp &warp, AddressSpace space, Slot base,
                       int64_t offset, WarpAccess &access) {
  access.space = space;
  access.lanes = warp.active;
  if (!warp.requireDefined(base, warp.active, "an address"))
    return false;
  const Lanes &lanes = warp.reg(base);
  for (unsigned lane = 0; lane != kLanes; ++lane)
    access.addresses[lane] = addOffset(space, lanes.value[lane], offset);
  return true;
}

void sim::observe(Warp &warp, WarpAccess &access,
                  llvm::ArrayRef<LaneMask> lanesOfSpaces) {
  for (auto [space, lanes] : llvm::enumerate(lanesOfSpaces)) {
    if (!lanes)
      continue;
    access.space = static_cast<AddressSpace>(space);
    access.lanes = lanes;
    warp.block.observe(warp, access);
  }
}

void sim::readBytes(const Span &span, unsigned size, uint64_t &value,
                    uint8_t &undefined) {
  value = 0;
  std::memcpy(&value, span.bytes, size);
  undefined = 0;
  if (span.states)
    for (unsigned i = 0; i != size; ++i)
      undefined |= (span.states[i] & ByteUndefined) << i;
}

void sim::writeBytes(Span &span, unsigned size, uint64_t value,
                     uint8_t undefined) {
  std::memcpy(span.bytes, &value, size);
  if (!undefined && !span.states)
    return;
  uint8_t *states = span.ensureStates();
  for (unsigned i = 0; i != size; ++i)
    states[i] =
        (states[i] & ByteReducing) | (undefined >> i & 1 ? ByteUndefined : 0);
}
