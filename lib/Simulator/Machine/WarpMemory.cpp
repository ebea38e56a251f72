//===- WarpMemory.cpp - The bytes that a warp accesses --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Resolves addresses to bytes, and reports everything that can be wrong with an
// address.
//
//===----------------------------------------------------------------------===//

#include "Machine/Block.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static AddressSpace getSpace(uint64_t address) {
  switch (getRegion(address)) {
  case kSharedRegion:
    return AddressSpace::SharedCluster;
  case kLocalRegion:
    return AddressSpace::Local;
  case kParamRegion:
    return AddressSpace::Param;
  default:
    return AddressSpace::Global;
  }
}

/// `pending` are the states of bytes that have to wait.
bool Warp::resolveShared(AddressSpace &space, uint64_t address, uint64_t size,
                         uint8_t pending, Span &span, Reject reject) {
  Block *owner = block.findOwner(address);
  Storage &shared = (owner ? owner : &block)->shared;
  uint64_t offset = getSharedOffset(address), limit = shared.size();
  if (!owner || offset >= limit || size > limit - offset)
    return reject("in shared memory is out of bounds, which has " +
                  llvm::Twine(limit) + " bytes" +
                  block.launch.suggestShared(offset + size));
  if (owner != &block && space == AddressSpace::Shared)
    return reject("expected shared memory of this block (.shared::cta), got "
                  "that of block " +
                  print(owner->index));
  if (owner->isDone())
    return reject("in shared memory is in that of block " +
                  print(owner->index) + ", which has ended");
  space = owner == &block ? AddressSpace::Shared : AddressSpace::SharedCluster;
  span = {shared.data() + offset, shared.states() + offset, &shared};
  uint8_t refused = ByteUnmapped | ByteMBarrier | pending;
  for (uint64_t i = 0; i != size; ++i) {
    uint8_t state = span.states[i] & refused;
    if (!state)
      continue;
    if (state & ByteUnmapped)
      return reject("in shared memory is outside of its variables");
    if (state & ByteMBarrier)
      return reject("in shared memory touches the mbarrier object at " +
                    printHex((address + i) / kMBarrierBytes * kMBarrierBytes));
    return reject("in shared memory touches a byte that an asynchronous "
                  "copy has still to write" +
                  block.launch.nameSharedByte(offset + i) +
                  ": expected a wait for it before");
  }
  return true;
}

bool Warp::resolveLocal(unsigned lane, uint64_t address, uint64_t size,
                        Span &span, Reject reject) {
  uint64_t limit = local[lane].size();
  if (address >= limit || size > limit - address)
    return reject("in local memory is out of bounds, which has " +
                  llvm::Twine(limit) + " bytes");
  span = {local[lane].data() + address, localStates[lane].data() + address,
          nullptr};
  for (uint64_t i = 0; i != size; ++i)
    if (span.states[i] & ByteUnmapped)
      return reject("in local memory is outside of its variables");
  return true;
}

bool Warp::resolveParameter(uint64_t address, uint64_t size, bool isStore,
                            Span &span, Reject reject) {
  Storage &parameters = *block.launch.parameters;
  uint64_t limit = parameters.size();
  if (isStore)
    return reject("would change a parameter of the kernel");
  if (address >= limit || size > limit - address)
    return reject("is outside of the parameters, which have " +
                  llvm::Twine(limit) + " bytes");
  span = {parameters.data() + address, nullptr, &parameters};
  return true;
}

/// Describes an address that is in no allocation of global memory.
static llvm::StringRef describeForeign(uint64_t address) {
  switch (getRegion(address)) {
  case kSharedRegion:
    return "expected global memory, got a generic address of shared memory";
  case kLocalRegion:
    return "expected global memory, got a generic address of local memory";
  case kFunctionRegion:
    return "expected memory, got the address of a function";
  default:
    return "is in no allocation";
  }
}

/// Global and constant memory.
bool Warp::resolveGlobal(AddressSpace space, uint64_t address, uint64_t size,
                         bool isStore, Span &span, Reject reject) {
  GlobalMemory::Allocation *allocation = block.launch.memory->lookup(address);
  if (!allocation)
    return reject(describeForeign(address));
  uint64_t limit = allocation->storage.size();
  // Addresses before the first byte wrap around to large offsets.
  uint64_t offset = address - allocation->address;
  if (offset >= limit || size > limit - offset)
    return reject("is out of bounds of " + allocation->name + ", which has " +
                  llvm::Twine(limit) + " bytes at " +
                  printHex(allocation->address));
  if (isStore && allocation->isConstant)
    return reject("would change " + allocation->name +
                  ", which is in constant memory");
  if (space == AddressSpace::Const && !allocation->isConstant)
    return reject("expected constant memory, got " + allocation->name);
  uint8_t *states = allocation->storage.states();
  span = {allocation->storage.data() + offset,
          states ? states + offset : nullptr, &allocation->storage};
  return true;
}

bool Warp::resolve(unsigned lane, AddressSpace &space, uint64_t &address,
                   uint64_t size, uint64_t alignment, bool isStore, Span &span,
                   bool isAtomic) {
  auto reject = [&](const llvm::Twine &text) {
    return error(lane, llvm::Twine(isStore ? "a store" : "a load") + " of " +
                           llvm::Twine(size) + " bytes at " +
                           printHex(address) + " " + text);
  };
  if (address % alignment != 0)
    return reject("expected an address that is a multiple of " +
                  llvm::Twine(alignment));
  // Parameters of the kernel, or of a function in local memory.
  if (space == AddressSpace::Param && getRegion(address) != kParamRegion &&
      getRegion(address) != kLocalRegion)
    return reject("expected a parameter");
  if (space == AddressSpace::Generic || space == AddressSpace::Param) {
    space = getSpace(address);
    if (space != AddressSpace::Global)
      address = getRegionOffset(address);
  }
  uint8_t pending = 0;
  if (isStore)
    pending = isAtomic ? BytePending : BytePending | ByteReducing;
  switch (space) {
  case AddressSpace::Shared:
  case AddressSpace::SharedCluster:
    return resolveShared(space, address, size, pending, span, reject);
  case AddressSpace::Local:
    return resolveLocal(lane, address, size, span, reject);
  case AddressSpace::Param:
    return resolveParameter(address, size, isStore, span, reject);
  case AddressSpace::Generic:
  case AddressSpace::Const:
  case AddressSpace::Global:
    break;
  }
  return resolveGlobal(space, address, size, isStore, span, reject);
}

bool Warp::checkReadable(unsigned lane, const Span &span, uint64_t size) {
  if (!span.states)
    return true;
  for (uint64_t i = 0; i != size; ++i)
    if (span.states[i] & (BytePending | ByteReducing))
      return error(lane,
                   "a load of a byte that an asynchronous copy has still to "
                   "write: expected a wait for it before");
  return checkWritten(lane, span, size);
}

bool Warp::checkWritten(unsigned lane, const Span &span, uint64_t size) {
  if (!span.states || !span.storage)
    return true;
  for (uint64_t i = 0; i != size; ++i) {
    if (!(span.states[i] & ByteUnwritten))
      continue;
    const GlobalMemory::Allocation *allocation =
        block.launch.memory->find(span.storage);
    std::string text =
        "byte " + std::to_string(span.bytes + i - span.storage->data()) +
        " of " + (allocation ? allocation->name : "a buffer") +
        " (out:) is read before anything has written it: its value is 0";
    if (block.launch.options->checkStrict)
      return error(lane, text);
    warn(lane, text);
    return true;
  }
  return true;
}
