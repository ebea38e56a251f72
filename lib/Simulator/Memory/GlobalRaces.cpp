//===- GlobalRaces.cpp - Data races in global memory ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shadow memory of global memory: the last stores to each cell and the loads
// since, and the rules for races between them.
//
//===----------------------------------------------------------------------===//

#include "Memory/GlobalRaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr unsigned kLaneBits = 5;
/// Events have 32-bit numbers with the lane; later events are not checked.
static constexpr uint64_t kMaxEvents = (uint64_t(1) << (32 - kLaneBits)) - 1;

static unsigned getLane(AccessRef ref) { return ref & ((1 << kLaneBits) - 1); }

//===----------------------------------------------------------------------===//
// Pages
//===----------------------------------------------------------------------===//

/// Splits each cell into `parts` equal ones.
template <typename T, typename Split>
static void multiply(std::vector<T> &cells, unsigned parts, Split split) {
  std::vector<T> smaller;
  smaller.reserve(cells.size() * parts);
  for (const T &cell : cells)
    for (unsigned part = 0; part != parts; ++part)
      smaller.push_back(split(cell, part));
  cells = std::move(smaller);
}

void ShadowPage::refine(unsigned newLog) {
  if (newLog >= log)
    return;
  unsigned parts = 1u << (log - newLog);
  for (auto *refs : {&stores, &strongStores, &loads, &otherLoads})
    multiply(*refs, parts, [](AccessRef ref, unsigned) { return ref; });
  unsigned bits = 8u << newLog;
  multiply(values, parts, [&](uint64_t value, unsigned part) {
    return value >> part * bits & llvm::maskTrailingOnes<uint64_t>(bits);
  });
  log = newLog;
}

static AccessRef get(const std::vector<AccessRef> &refs, unsigned index) {
  return refs.empty() ? 0 : refs[index];
}

static void set(ShadowPage &page, std::vector<AccessRef> &refs, unsigned index,
                AccessRef ref) {
  if (refs.empty() && ref == 0)
    return;
  if (refs.empty())
    refs.resize(page.countCells());
  refs[index] = ref;
}

ShadowPage &GlobalAccesses::getPage(uint64_t number) {
  if (number == lastNumber)
    return *lastPage;
  std::unique_ptr<ShadowPage> &page = pages[number];
  if (!page)
    page = std::make_unique<ShadowPage>();
  lastNumber = number;
  lastPage = page.get();
  return *page;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

const GlobalEvent &GlobalAccesses::getEvent(AccessRef ref) const {
  return events[(ref >> kLaneBits) - 1];
}

/// Whether two events of an instruction and a warp are the same.
static bool isSame(const GlobalEvent &a, const GlobalEvent &b) {
  return a.clock == b.clock && a.epoch == b.epoch && a.kind == b.kind &&
         a.time == b.time && a.isStrong == b.isStrong;
}

AccessRef GlobalAccesses::begin(const GlobalEvent &event) {
  AccessRef &last =
      lastEvents[{event.group, uint64_t(event.warp) << 32 | event.line}];
  if (last && isSame(getEvent(last), event))
    return last;
  if (events.size() == kMaxEvents)
    return 0;
  events.push_back(event);
  return last = static_cast<AccessRef>(events.size()) << kLaneBits;
}

/// Whether two accesses of a byte are a race if nothing orders them.
static bool mayRace(const GlobalEvent &a, const GlobalEvent &b) {
  bool isStoreA = a.kind != AccessKind::Load;
  bool isStoreB = b.kind != AccessKind::Load;
  if (!a.isStrong && !b.isStrong)
    return isStoreA || isStoreB;
  return isStoreA && isStoreB && !(a.isStrong && b.isStrong);
}

std::optional<GlobalRace> GlobalAccesses::visit(ShadowPage &page,
                                                unsigned index,
                                                const Cell &cell, AccessRef ref,
                                                IsOrdered isOrdered) {
  const GlobalEvent &event = getEvent(ref);
  unsigned lane = getLane(ref);
  auto isBefore = [&](AccessRef other) {
    return isOrdered(getEvent(other), getLane(other), event, lane);
  };
  std::optional<GlobalRace> race;
  auto check = [&](AccessRef other) {
    if (other && !race && mayRace(event, getEvent(other)) && !isBefore(other))
      race = {cell.address, event, getEvent(other), lane, getLane(other)};
  };
  bool isLoad = event.kind == AccessKind::Load;
  AccessRef store = get(page.stores, index);
  bool isSameValue = !isLoad && store && cell.hasValue &&
                     !page.values.empty() && page.values[index] == cell.value;
  if (!isSameValue)
    check(store);
  check(get(page.strongStores, index));
  AccessRef load = get(page.loads, index);
  AccessRef otherLoad = get(page.otherLoads, index);
  if (isLoad) {
    // A load that is ordered before this one is no longer needed.
    if (!load || isBefore(load))
      set(page, page.loads, index, ref);
    else if (!otherLoad || isBefore(otherLoad))
      set(page, page.otherLoads, index, ref);
    return race;
  }
  check(load);
  check(otherLoad);
  if (event.isStrong) {
    set(page, page.strongStores, index, ref);
    return race;
  }
  set(page, page.stores, index, ref);
  set(page, page.loads, index, 0);
  set(page, page.otherLoads, index, 0);
  // A store of an unknown value counts as storing a unique value.
  uint64_t unknown = ~cell.address;
  if (cell.hasValue && page.values.empty())
    page.values.resize(page.countCells(), unknown);
  if (!page.values.empty())
    page.values[index] = cell.hasValue ? cell.value : unknown;
  return race;
}

std::optional<GlobalRace> GlobalAccesses::access(AccessRef event, unsigned lane,
                                                 uint64_t address,
                                                 uint64_t size,
                                                 const uint8_t *bytes,
                                                 IsOrdered isOrdered) {
  if (size == 0 || event == 0)
    return std::nullopt;
  AccessRef ref = event | lane;
  std::optional<GlobalRace> race;
  unsigned log = std::min(3, llvm::countr_zero(address | size));
  for (uint64_t at = address, end = address + size; at != end;) {
    ShadowPage &page = getPage(at / ShadowPage::kBytes);
    page.refine(log);
    uint64_t pageEnd =
        std::min(end, (at / ShadowPage::kBytes + 1) * ShadowPage::kBytes);
    unsigned cellBytes = 1u << page.log;
    for (; at != pageEnd; at += cellBytes) {
      Cell cell = {at, bytes != nullptr, 0};
      if (bytes)
        std::memcpy(&cell.value, bytes + (at - address), cellBytes);
      unsigned index = at % ShadowPage::kBytes >> page.log;
      std::optional<GlobalRace> found =
          visit(page, index, cell, ref, isOrdered);
      if (found && !race)
        race = found;
    }
  }
  return race;
}

std::optional<GlobalRace> GlobalAccesses::merge(const GlobalAccesses &group) {
  std::optional<GlobalRace> race;
  std::vector<AccessRef> refs(group.events.size());
  auto translate = [&](AccessRef ref) -> AccessRef {
    AccessRef &number = refs[(ref >> kLaneBits) - 1];
    if (!number)
      number = begin(group.getEvent(ref));
    return number ? number | getLane(ref) : 0;
  };
  auto isOrdered = [](const GlobalEvent &event, unsigned,
                      const GlobalEvent &toEvent,
                      unsigned) { return event.group == toEvent.group; };
  std::vector<uint64_t> numbers;
  for (const auto &[number, page] : group.pages)
    numbers.push_back(number);
  llvm::sort(numbers);
  for (uint64_t number : numbers) {
    ShadowPage &page = getPage(number);
    // Uses the smaller cells of both.
    ShadowPage other = *group.pages.find(number)->second;
    page.refine(other.log);
    other.refine(page.log);
    for (unsigned index = 0; index != page.countCells(); ++index) {
      uint64_t address = number * ShadowPage::kBytes + (index << page.log);
      // The first load comes before the store, as others are compared with
      // both.
      for (AccessRef ref :
           {get(other.loads, index), get(other.otherLoads, index),
            get(other.stores, index), get(other.strongStores, index)}) {
        if (!ref || !(ref = translate(ref)))
          continue;
        Cell cell = {address, !other.values.empty(),
                     other.values.empty() ? 0 : other.values[index]};
        std::optional<GlobalRace> found =
            visit(page, index, cell, ref, isOrdered);
        if (found && !race)
          race = found;
      }
    }
  }
  return race;
}

//===----------------------------------------------------------------------===//
// All groups
//===----------------------------------------------------------------------===//

std::optional<GlobalRace> GridAccesses::access(AccessRef event, unsigned lane,
                                               uint64_t address, uint64_t size,
                                               const uint8_t *bytes) {
  return accesses.access(event, lane, address, size, bytes,
                         [&](const GlobalEvent &event, unsigned,
                             const GlobalEvent &toEvent, unsigned) {
                           return event.group == toEvent.group ||
                                  event.time < known.lookup(toEvent.group);
                         });
}

void GridAccesses::synchronize(uint64_t group, uint64_t location,
                               AccessKind kind) {
  if (kind != AccessKind::Store) {
    uint64_t &time = known[group];
    time = std::max(time, written.lookup(location));
  }
  if (kind != AccessKind::Load)
    written[location] = ++now;
}
