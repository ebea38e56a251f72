//===- BulkCopies.cpp - Copies of the async proxy -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BulkCopies.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The states of a span, which may have come into being since it was made.
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
  bytes.assign(source.bytes, source.bytes + size);
  if (const uint8_t *current = getStates(source))
    states.assign(current, current + size);
}

void BulkCopy::complete() {
  read();
  destination.states = getStates(destination);
  auto isUndefined = [&](uint64_t i) {
    return !states.empty() && (states[i] & ByteUndefined);
  };
  if (operation) {
    unsigned step = operation->getBytes();
    for (uint64_t i = 0; i != size; i += step) {
      uint64_t operand = 0;
      uint8_t undefined = 0;
      std::memcpy(&operand, bytes.data() + i, step);
      for (unsigned j = 0; j != step; ++j)
        undefined |= isUndefined(i + j) << j;
      Span element = destination.at(i);
      operation->apply(element, operand, undefined);
    }
    return;
  }
  std::memcpy(destination.bytes, bytes.data(), size);
  bool isAnyUndefined = llvm::any_of(
      states, [](uint8_t state) { return (state & ByteUndefined) != 0; });
  if (!destination.states && !isAnyUndefined)
    return;
  uint8_t *written = destination.ensureStates();
  for (uint64_t i = 0; i != size; ++i)
    written[i] = isUndefined(i) ? ByteUndefined : 0;
}

void BulkCopies::begin(BulkCopy copy) {
  copy.group = getCommitted(copy.warp, copy.lane);
  copies.push_back(std::move(copy));
}

uint64_t &BulkCopies::getCommitted(unsigned warp, unsigned lane) {
  size_t thread = warp * kLanes + lane;
  if (thread >= numCommitted.size())
    numCommitted.resize(thread + 1);
  return numCommitted[thread];
}

void BulkCopies::waitGroups(unsigned warp, unsigned lane, uint64_t keep,
                            bool onlyReads) {
  uint64_t committed = getCommitted(warp, lane);
  llvm::erase_if(copies, [&](BulkCopy &copy) {
    if (copy.mbarrier || copy.warp != warp || copy.lane != lane ||
        copy.group + keep >= committed)
      return false;
    if (onlyReads)
      copy.read();
    else
      copy.complete();
    return !onlyReads;
  });
}

std::optional<BulkCopy> BulkCopies::completeNext(uint32_t mbarrier) {
  auto found = llvm::find_if(
      copies, [&](const BulkCopy &copy) { return copy.mbarrier == mbarrier; });
  if (found == copies.end())
    return std::nullopt;
  BulkCopy copy = std::move(*found);
  copies.erase(found);
  copy.complete();
  return copy;
}

void BulkCopies::completeAll() {
  for (BulkCopy &copy : copies)
    copy.complete();
  copies.clear();
}
