//===- SpecialRegisters.cpp - Special registers ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of special registers; a new register is a new row.
//
//===----------------------------------------------------------------------===//

#include "Machine/SpecialRegisters.h"

#include "Machine/BlockGroup.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

using Reader = SpecialReader;

static const Block &getBlock(const Reader &of) { return of.warp.block; }

static const LaunchedKernel &getLaunch(const Reader &of) {
  return of.warp.block.launch;
}

/// Variables and dynamic shared memory, in the units that targets from sm_80 on
/// allocate.
static uint64_t getSharedSize(const Reader &of) {
  constexpr uint64_t unit = 128;
  const LaunchedKernel &launch = getLaunch(of);
  return llvm::alignTo(
      launch.kernel->sharedVariableBytes() + launch.dynamicShared, unit);
}

static uint64_t getThread(const Reader &of) {
  uint64_t thread = of.warp.index * kLanes + of.lane;
  const Extents &block = getLaunch(of).block;
  for (unsigned i = 0; i != of.component; ++i)
    thread /= block[i];
  return of.component == 2 ? thread : thread % block[of.component];
}

/// An address in the reserved shared memory.
template <uint64_t offset>
static uint64_t getReserved(const Reader &of) {
  return getBlock(of).getSharedBase() + offset;
}

/// The lanes below one.
static LaneMask getLower(unsigned lane) { return (LaneMask(1) << lane) - 1; }
/// The lanes up to and including one.
static LaneMask getUpTo(unsigned lane) { return (LaneMask(2) << lane) - 1; }

/// Each step is one tick.
static uint64_t getTicks(const Reader &of) {
  return getBlock(of).group.numSteps;
}
static uint64_t getLowTicks(const Reader &of) { return uint32_t(getTicks(of)); }
static uint64_t getHighTicks(const Reader &of) { return getTicks(of) >> 32; }

static constexpr bool kIsVector = true, kIsScalar = false, kIsChanging = true;

// clang-format off
static constexpr SpecialRegister kRegisters[] = {
  {"%tid",             Type::U32, kIsVector, getThread},
  {"%ntid",            Type::U32, kIsVector, [](const Reader &of) -> uint64_t { return getLaunch(of).block[of.component]; }},
  {"%ctaid",           Type::U32, kIsVector, [](const Reader &of) -> uint64_t { return getBlock(of).index[of.component]; }},
  {"%nctaid",          Type::U32, kIsVector, [](const Reader &of) -> uint64_t { return getLaunch(of).grid[of.component]; }},
  {"%clusterid",       Type::U32, kIsVector, [](const Reader &of) -> uint64_t { return getBlock(of).index[of.component] / getLaunch(of).cluster[of.component]; }},
  {"%nclusterid",      Type::U32, kIsVector, [](const Reader &of) -> uint64_t { return getLaunch(of).grid[of.component] / getLaunch(of).cluster[of.component]; }},
  {"%cluster_ctaid",   Type::U32, kIsVector, [](const Reader &of) -> uint64_t { return getBlock(of).index[of.component] % getLaunch(of).cluster[of.component]; }},
  {"%cluster_nctaid",  Type::U32, kIsVector, [](const Reader &of) -> uint64_t { return getLaunch(of).cluster[of.component]; }},

  {"%laneid",              Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return of.lane; }},
  {"%warpid",              Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return of.warp.index; }},
  {"%nwarpid",             Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return getBlock(of).warps.size(); }},
  // Each block of a cluster is on its own SM.
  {"%smid",                Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return getBlock(of).rank; }},
  {"%nsmid",               Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return getBlock(of).group.clusterSize; }},
  {"%gridid",              Type::U64,  kIsScalar, [](const Reader &) -> uint64_t { return 1; }},
  {"%is_explicit_cluster", Type::Pred, kIsScalar, [](const Reader &of) -> uint64_t { return getLaunch(of).hasExplicitCluster(); }},
  {"%cluster_ctarank",     Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return getBlock(of).rank; }},
  {"%cluster_nctarank",    Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return getBlock(of).group.clusterSize; }},
  {"%lanemask_eq",         Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return LaneMask(1) << of.lane; }},
  {"%lanemask_le",         Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return getUpTo(of.lane); }},
  {"%lanemask_lt",         Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return getLower(of.lane); }},
  {"%lanemask_ge",         Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return ~getLower(of.lane); }},
  {"%lanemask_gt",         Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return ~getUpTo(of.lane); }},
  {"%clock",               Type::U32,  kIsScalar, getLowTicks,  kIsChanging},
  {"%clock_hi",            Type::U32,  kIsScalar, getHighTicks, kIsChanging},
  {"%clock64",             Type::U64,  kIsScalar, getTicks,     kIsChanging},
  {"%globaltimer",         Type::U64,  kIsScalar, getTicks,     kIsChanging},
  {"%globaltimer_lo",      Type::U32,  kIsScalar, getLowTicks,  kIsChanging},
  {"%globaltimer_hi",      Type::U32,  kIsScalar, getHighTicks, kIsChanging},
  {"%dynamic_smem_size",   Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return getLaunch(of).dynamicShared; }},
  {"%total_smem_size",     Type::U32,  kIsScalar, getSharedSize},
  {"%aggr_smem_size",      Type::U32,  kIsScalar, [](const Reader &of) -> uint64_t { return getSharedSize(of) + kSharedStart; }},

  {"%reserved_smem_offset_begin", Type::B32, kIsScalar, getReserved<0>},
  {"%reserved_smem_offset_end",   Type::B32, kIsScalar, getReserved<kSharedStart>},
  {"%reserved_smem_offset_cap",   Type::B32, kIsScalar, [](const Reader &) -> uint64_t { return kSharedStart; }},
  {"%reserved_smem_offset_0",     Type::B32, kIsScalar, getReserved<0>},
  {"%reserved_smem_offset_1",     Type::B32, kIsScalar, getReserved<kGroupScratch>},
  // Kernels are not part of a graph here.
  {"%current_graph_exec",         Type::U64, kIsScalar, [](const Reader &) -> uint64_t { return 0; }},
  // The last row of a name counts.
  {"%envreg#",                    Type::B32, kIsScalar, [](const Reader &) -> uint64_t { return 0; }, !kIsChanging, 32},
  {"%envreg1",                    Type::B32, kIsScalar, [](const Reader &of) -> uint64_t { return getLaunch(of).gridWorkspace >> 32; }},
  {"%envreg2",                    Type::B32, kIsScalar, [](const Reader &of) -> uint64_t { return uint32_t(getLaunch(of).gridWorkspace); }},
  // The ISA leaves open what they count: undefined values.
  {"%pm#",                        Type::U32, kIsScalar, nullptr, kIsChanging,  8},
  {"%pm#_64",                     Type::U64, kIsScalar, nullptr, kIsChanging,  8},
};
// clang-format on

const SpecialRegister *sim::lookupSpecialRegister(llvm::StringRef name) {
  static const llvm::StringMap<const SpecialRegister *> map = [] {
    llvm::StringMap<const SpecialRegister *> map;
    for (const SpecialRegister &row : kRegisters) {
      auto [front, back] = row.name.split('#');
      if (row.count == 1)
        map[row.name] = &row;
      for (unsigned i = 0; i != row.count && row.count != 1; ++i)
        map[(front + llvm::utostr(i) + back).str()] = &row;
    }
    return map;
  }();
  return map.lookup(name);
}

/// The components that have a value; w has none.
static constexpr llvm::StringRef kComponents = "xyz";

std::optional<SpecialValue> sim::lookupSpecialValue(llvm::StringRef name) {
  auto [base, component] = name.split('.');
  const SpecialRegister *row = lookupSpecialRegister(base);
  if (!row || row->isVector != (component.size() == 1))
    return std::nullopt;
  size_t number = row->isVector ? kComponents.find(component) : 0;
  if (number == llvm::StringRef::npos)
    return std::nullopt;
  return SpecialValue{row, static_cast<unsigned>(number)};
}

uint64_t SpecialValue::encode() const {
  return (row - kRegisters) * kComponents.size() + component;
}

SpecialValue SpecialValue::decode(uint64_t number) {
  return {&kRegisters[number / kComponents.size()],
          static_cast<unsigned>(number % kComponents.size())};
}

void sim::readSpecial(const SpecialValue &value, const Warp &warp,
                      Lanes &lanes) {
  if (!value.row->read) {
    lanes.value.fill(0);
    lanes.undefinedBytes.fill(0xFF);
    lanes.undefinedLanes = kAllLanes;
    return;
  }
  for (unsigned lane = 0; lane != kLanes; ++lane)
    lanes.value[lane] = value.row->read({warp, lane, value.component});
  lanes.undefinedLanes = 0;
}
