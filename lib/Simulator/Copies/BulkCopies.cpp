//===- BulkCopies.cpp - Copies of the async proxy -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy keeps the bytes that it has read, so that it can write them later.
// Waits with .read and reductions need that.
//
//===----------------------------------------------------------------------===//

#include "Copies/BulkCopies.h"

#include "Machine/Warp.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The states of a span, which may have been allocated since the span was made.
static uint8_t *getStates(const Span &span) {
  if (span.states)
    return span.states;
  uint8_t *states = span.storage->states();
  return states ? states + (span.bytes - span.storage->data()) : nullptr;
}

void BulkCopy::read() {
  if (isRead)
    return;
  isRead = true;
  if (tensor && tensor->isLoad) {
    source.states = getStates(source);
    return tensor->read(source, bytes, states);
  }
  bytes.assign(source.bytes, source.bytes + size);
  if (const uint8_t *current = getStates(source))
    states.assign(current, current + size);
}

void BulkCopy::setBytes(llvm::ArrayRef<uint8_t> values,
                        llvm::ArrayRef<uint8_t> valueStates) {
  isRead = isGeneric = true;
  bytes.assign(values.begin(), values.end());
  states.assign(valueStates.begin(), valueStates.end());
}

void BulkCopy::begin() {
  // The global memory may have been freed and allocated again.
  if (!mbarrier)
    return;
  uint8_t *written = destination.ensureStates();
  if (tensor)
    return tensor->markPending(written);
  for (uint64_t i = 0; i != size; ++i)
    written[i] |= operation ? ByteReducing : BytePending;
}

bool BulkCopy::overlaps(const BulkCopy &other) const {
  return destination.bytes < other.destination.bytes + other.size &&
         other.destination.bytes < destination.bytes + size;
}

void BulkCopy::reduce() {
  for (uint64_t i = 0; i != size && destination.states; ++i)
    destination.states[i] &= ~ByteReducing;
  unsigned step = operation->getBytes();
  for (uint64_t i = 0; i != size; i += step) {
    uint64_t operand = 0;
    uint8_t undefined = 0;
    std::memcpy(&operand, bytes.data() + i, step);
    for (unsigned j = 0; j != step && !states.empty(); ++j)
      undefined |= (states[i + j] & ByteUndefined) << j;
    Span element = destination.at(i);
    operation->apply(element, operand, undefined);
  }
}

void BulkCopy::complete() {
  read();
  destination.states = getStates(destination);
  if (tensor)
    return tensor->write(bytes, states, destination);
  if (operation)
    return reduce();
  bool isAnyUndefined = llvm::any_of(
      states, [](uint8_t state) { return (state & ByteUndefined) != 0; });
  uint8_t *written =
      isAnyUndefined ? destination.ensureStates() : destination.states;
  for (uint64_t i = 0; i != size; ++i) {
    if (!(byteMask >> i % 16 & 1))
      continue;
    destination.bytes[i] = bytes[i];
    if (written)
      written[i] = states.empty() ? 0 : states[i] & ByteUndefined;
  }
}

/// The most copies that may hold bytes that they have read. If there are more,
/// all of them complete. The ISA allows that at any time, also without a wait.
static constexpr unsigned kMaxReadCopies = 256;

void BulkCopies::begin(BulkCopy copy) {
  if (numRead >= kMaxReadCopies) {
    llvm::erase_if(copies, [](BulkCopy &other) {
      if (!other.isRead || other.mbarrier)
        return false;
      other.complete();
      return true;
    });
    numRead = 0;
  }
  copy.begin();
  copy.group = getCommitted(*copy.warp, copy.lane);
  copies.push_back(std::move(copy));
}

uint64_t &BulkCopies::getCommitted(const Warp &warp, unsigned lane) {
  size_t thread = warp.number * kLanes + lane;
  if (thread >= numCommitted.size())
    numCommitted.resize(thread + 1);
  return numCommitted[thread];
}

void BulkCopies::waitGroups(const Warp &warp, unsigned lane, uint64_t keep,
                            bool onlyReads,
                            llvm::function_ref<void(const BulkCopy &)> onRead) {
  uint64_t committed = getCommitted(warp, lane);
  llvm::erase_if(copies, [&](BulkCopy &copy) {
    if (copy.mbarrier || copy.warp != &warp || copy.lane != lane ||
        copy.group + keep >= committed)
      return false;
    if (!copy.isRead)
      onRead(copy);
    numRead += onlyReads && !copy.isRead;
    if (onlyReads)
      copy.read();
    else
      copy.complete();
    return !onlyReads;
  });
}

std::optional<BulkCopy> BulkCopies::completeNext(SharedLocation mbarrier) {
  auto found = llvm::find_if(
      copies, [&](const BulkCopy &copy) { return copy.mbarrier == mbarrier; });
  if (found == copies.end())
    return std::nullopt;
  BulkCopy copy = std::move(*found);
  copies.erase(found);
  copy.complete();
  // Other reductions of the same bytes are still under way.
  if (copy.operation)
    for (BulkCopy &other : copies)
      if (other.operation && other.overlaps(copy))
        other.begin();
  return copy;
}

void BulkCopies::completeAll() {
  for (BulkCopy &copy : copies)
    copy.complete();
  copies.clear();
}
