//===- Statistics.cpp - Statistics of a kernel ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How accesses map to sectors and banks, and the JSON that is made of all
// counts.
//
//===----------------------------------------------------------------------===//

#include "Machine/Statistics.h"

#include "Machine/Warp.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

void AccessCounts::add(const AccessCounts &other) {
  requests += other.requests;
  bytes += other.bytes;
  distinctBytes += other.distinctBytes;
  sectors += other.sectors;
  wavefronts += other.wavefronts;
  leastWavefronts += other.leastWavefronts;
}

/// How many units of `unit` bytes the lanes touch, each counted once.
static uint64_t countUnits(const WarpAccess &access, uint64_t unit) {
  llvm::SmallVector<std::pair<uint64_t, uint64_t>, kLanes> ranges;
  forEachLane(access.lanes, [&](unsigned lane) {
    uint64_t begin = access.addresses[lane];
    ranges.push_back({begin / unit, (begin + access.size + unit - 1) / unit});
  });
  llvm::sort(ranges);
  uint64_t count = 0, covered = 0;
  for (auto [begin, end] : ranges) {
    begin = std::max(begin, covered);
    if (begin < end) {
      count += end - begin;
      covered = end;
    }
  }
  return count;
}

uint64_t sim::countDistinctBytes(const WarpAccess &access) {
  return countUnits(access, 1);
}

unsigned sim::countSectors(const WarpAccess &access) {
  return countUnits(access, kSectorBytes);
}

unsigned sim::countWavefronts(const WarpAccess &access) {
  unsigned lanesOfGroup = kWavefrontBytes / std::max<unsigned>(access.size, 4);
  llvm::SmallDenseSet<uint64_t, 128> seen;
  unsigned wavefronts = 0;
  for (unsigned first = 0; first < kLanes; first += lanesOfGroup) {
    std::array<unsigned, kBanks> wanted = {};
    unsigned most = 0;
    for (unsigned lane = first; lane != first + lanesOfGroup; ++lane) {
      if (!(access.lanes >> lane & 1))
        continue;
      uint64_t begin = access.addresses[lane] / kBankBytes;
      uint64_t end = (access.addresses[lane] + access.size - 1) / kBankBytes;
      for (uint64_t word = begin; word <= end; ++word)
        if (seen.insert(word).second)
          most = std::max(most, ++wanted[word % kBanks]);
    }
    wavefronts += most;
  }
  return wavefronts;
}

std::vector<uint64_t> &Statistics::getStepCounts(const Code &code) {
  std::vector<uint64_t> &counts = steps[&code];
  counts.resize(code.steps.size());
  return counts;
}

void Statistics::observe(uint32_t line, const WarpAccess &access) {
  if (!access.lanes)
    return;
  AccessCounts counts;
  counts.requests = 1;
  counts.bytes = uint64_t(access.size) * llvm::popcount(access.lanes);
  counts.distinctBytes = countDistinctBytes(access);
  // Accesses of parameters are not counted.
  if (access.space == AddressSpace::Param)
    return;
  if (access.space == AddressSpace::Shared) {
    counts.wavefronts = countWavefronts(access);
    counts.leastWavefronts =
        llvm::divideCeil(counts.distinctBytes, kWavefrontBytes);
  } else {
    counts.sectors = countSectors(access);
  }
  accesses[{line, access.space, access.kind}].add(counts);
}

void Statistics::countMatrix(const std::string &name, uint64_t multiplyAdds) {
  MatrixCounts &counts = matrices[name];
  ++counts.count;
  counts.multiplyAdds += multiplyAdds;
}

void Statistics::add(const Statistics &other) {
  for (const auto &[code, counts] : other.steps)
    for (auto [sum, count] : llvm::zip(getStepCounts(*code), counts))
      sum += count;
  for (const auto &[key, counts] : other.accesses)
    accesses[key].add(counts);
  for (const auto &[name, counts] : other.matrices) {
    matrices[name].count += counts.count;
    matrices[name].multiplyAdds += counts.multiplyAdds;
  }
  for (const auto &[path, bytes] : other.bytesOfPaths)
    bytesOfPaths[path] += bytes;
  noteTensorColumns(other.tensorColumns);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::StringRef getLabel(StepClass kind) {
  static constexpr llvm::StringRef names[kNumStepClasses] = {
      "arithmetic", "conversion",      "memory",
      "control",    "synchronization", "matrix"};
  return names[static_cast<unsigned>(kind)];
}

static llvm::StringRef getLabel(AddressSpace space) {
  static constexpr llvm::StringRef names[] = {
      "generic", "const",  "global",        "local",
      "param",   "shared", "shared_cluster"};
  return names[static_cast<unsigned>(space)];
}

static llvm::StringRef getLabel(AccessKind kind) {
  static constexpr llvm::StringRef names[] = {"load", "store", "atomic"};
  return names[static_cast<unsigned>(kind)];
}

static double divide(uint64_t a, uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

static void writeCounts(llvm::json::OStream &json, AddressSpace space,
                        const AccessCounts &counts) {
  json.attribute("requests", static_cast<int64_t>(counts.requests));
  json.attribute("bytes", static_cast<int64_t>(counts.bytes));
  if (space == AddressSpace::Shared) {
    json.attribute("wavefronts", static_cast<int64_t>(counts.wavefronts));
    json.attribute("wavefronts_over_least",
                   divide(counts.wavefronts, counts.leastWavefronts));
    return;
  }
  if (space == AddressSpace::Local || space == AddressSpace::SharedCluster)
    return;
  json.attribute("sectors", static_cast<int64_t>(counts.sectors));
  json.attribute("sectors_per_request",
                 divide(counts.sectors, counts.requests));
  json.attribute("sector_use",
                 divide(counts.distinctBytes, counts.sectors * kSectorBytes));
}

void Statistics::write(llvm::json::OStream &json) const {
  std::array<uint64_t, kNumStepClasses> classes = {};
  std::map<llvm::StringRef, uint64_t> matrixCounts;
  uint64_t multiplyAdds = 0;
  for (const auto &[name, counts] : matrices) {
    matrixCounts[name] += counts.count;
    multiplyAdds += counts.multiplyAdds;
  }
  for (const auto &[code, counts] : steps)
    for (auto [step, count] : llvm::zip(code->steps, counts)) {
      classes[static_cast<unsigned>(step.kind)] += count;
      if (step.kind != StepClass::Matrix || count == 0 || step.name.empty())
        continue;
      matrixCounts[step.name] += count;
      multiplyAdds += step.multiplyAdds * count;
    }
  json.attributeObject("instructions", [&] {
    for (unsigned i = 0; i != kNumStepClasses; ++i)
      json.attribute(getLabel(static_cast<StepClass>(i)),
                     static_cast<int64_t>(classes[i]));
  });
  json.attributeObject("matrix", [&] {
    for (const auto &[name, count] : matrixCounts)
      json.attribute(name, static_cast<int64_t>(count));
  });
  json.attribute("multiply_adds", static_cast<int64_t>(multiplyAdds));
  if (tensorColumns)
    json.attribute("tensor_memory_columns", tensorColumns);
  if (!bytesOfPaths.empty())
    json.attributeObject("bytes", [&] {
      for (const auto &[path, bytes] : bytesOfPaths)
        json.attribute(path, static_cast<int64_t>(bytes));
    });

  std::map<AddressSpace, AccessCounts> totals;
  for (const auto &[key, counts] : accesses)
    totals[key.space].add(counts);
  for (const auto &[space, counts] : totals)
    json.attributeObject((getLabel(space) + "_memory").str(),
                         [&, space = space, &counts = counts] {
                           writeCounts(json, space, counts);
                         });
  json.attributeArray("lines", [&] {
    for (const auto &[key, counts] : accesses)
      json.object([&, &key = key, &counts = counts] {
        json.attribute("line", key.line);
        json.attribute("space", getLabel(key.space));
        json.attribute("kind", getLabel(key.kind));
        writeCounts(json, key.space, counts);
      });
  });
}
