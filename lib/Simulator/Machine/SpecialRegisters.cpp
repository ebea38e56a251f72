//===- SpecialRegisters.cpp - Values of special registers -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine/SpecialRegisters.h"

#include "Machine/BlockGroup.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

// clang-format off
static constexpr SpecialInfo kSpecials[] = {
  {Special::TidX, "%tid.x", Type::U32},
  {Special::TidY, "%tid.y", Type::U32},
  {Special::TidZ, "%tid.z", Type::U32},
  {Special::NtidX, "%ntid.x", Type::U32},
  {Special::NtidY, "%ntid.y", Type::U32},
  {Special::NtidZ, "%ntid.z", Type::U32},
  {Special::CtaidX, "%ctaid.x", Type::U32},
  {Special::CtaidY, "%ctaid.y", Type::U32},
  {Special::CtaidZ, "%ctaid.z", Type::U32},
  {Special::NctaidX, "%nctaid.x", Type::U32},
  {Special::NctaidY, "%nctaid.y", Type::U32},
  {Special::NctaidZ, "%nctaid.z", Type::U32},
  {Special::LaneId, "%laneid", Type::U32},
  {Special::WarpId, "%warpid", Type::U32},
  {Special::NWarpId, "%nwarpid", Type::U32},
  {Special::SmId, "%smid", Type::U32},
  {Special::NSmId, "%nsmid", Type::U32},
  {Special::GridId, "%gridid", Type::U64},
  {Special::LaneMaskEq, "%lanemask_eq", Type::U32},
  {Special::LaneMaskLt, "%lanemask_lt", Type::U32},
  {Special::LaneMaskLe, "%lanemask_le", Type::U32},
  {Special::LaneMaskGt, "%lanemask_gt", Type::U32},
  {Special::LaneMaskGe, "%lanemask_ge", Type::U32},
  {Special::DynamicSharedSize, "%dynamic_smem_size", Type::U32},
  {Special::TotalSharedSize, "%total_smem_size", Type::U32},
  {Special::AggrSharedSize, "%aggr_smem_size", Type::U32},
  {Special::ClusterIdX, "%clusterid.x", Type::U32},
  {Special::ClusterIdY, "%clusterid.y", Type::U32},
  {Special::ClusterIdZ, "%clusterid.z", Type::U32},
  {Special::NClusterIdX, "%nclusterid.x", Type::U32},
  {Special::NClusterIdY, "%nclusterid.y", Type::U32},
  {Special::NClusterIdZ, "%nclusterid.z", Type::U32},
  {Special::ClusterCtaIdX, "%cluster_ctaid.x", Type::U32},
  {Special::ClusterCtaIdY, "%cluster_ctaid.y", Type::U32},
  {Special::ClusterCtaIdZ, "%cluster_ctaid.z", Type::U32},
  {Special::ClusterNCtaIdX, "%cluster_nctaid.x", Type::U32},
  {Special::ClusterNCtaIdY, "%cluster_nctaid.y", Type::U32},
  {Special::ClusterNCtaIdZ, "%cluster_nctaid.z", Type::U32},
  {Special::ClusterCtaRank, "%cluster_ctarank", Type::U32},
  {Special::ClusterNCtaRank, "%cluster_nctarank", Type::U32},
  {Special::Clock, "%clock", Type::U32},
  {Special::ClockHi, "%clock_hi", Type::U32},
  {Special::Clock64, "%clock64", Type::U64},
  {Special::GlobalTimer, "%globaltimer", Type::U64},
  {Special::GlobalTimerLo, "%globaltimer_lo", Type::U32},
  {Special::GlobalTimerHi, "%globaltimer_hi", Type::U32},
};
// clang-format on

const SpecialInfo *sim::lookupSpecial(llvm::StringRef name) {
  static const llvm::StringMap<const SpecialInfo *> map = [] {
    llvm::StringMap<const SpecialInfo *> map;
    for (const SpecialInfo &info : kSpecials)
      map[info.name] = &info;
    return map;
  }();
  return map.lookup(name);
}

/// Variables and dynamic shared memory, in the units that targets from sm_80 on
/// allocate.
static uint64_t getSharedSize(const LaunchedKernel &launch) {
  constexpr uint64_t unit = 128;
  return llvm::alignTo(
      launch.kernel->sharedVariableBytes() + launch.dynamicShared, unit);
}

/// What a lane sees.
static uint64_t readLane(Special special, const Warp &warp, unsigned lane) {
  const Block &block = warp.block;
  const LaunchedKernel &launch = block.launch;
  // The entries of x, y and z follow one another.
  auto extent = [&](const std::array<uint32_t, 3> &extents, Special first) {
    return extents[static_cast<unsigned>(special) -
                   static_cast<unsigned>(first)];
  };
  auto cluster = [&](unsigned (*combine)(uint32_t, uint32_t), Special first) {
    return combine(extent(block.index, first), extent(launch.cluster, first));
  };
  unsigned thread = warp.index * kLanes + lane;
  switch (special) {
  case Special::TidX:
    return thread % launch.block[0];
  case Special::TidY:
    return thread / launch.block[0] % launch.block[1];
  case Special::TidZ:
    return thread / launch.block[0] / launch.block[1];
  case Special::NtidX:
  case Special::NtidY:
  case Special::NtidZ:
    return extent(launch.block, Special::NtidX);
  case Special::CtaidX:
  case Special::CtaidY:
  case Special::CtaidZ:
    return extent(block.index, Special::CtaidX);
  case Special::NctaidX:
  case Special::NctaidY:
  case Special::NctaidZ:
    return extent(launch.grid, Special::NctaidX);
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp.index;
  case Special::NWarpId:
    return block.warps.size();
  // Each block of a cluster is on a multiprocessor of its own.
  case Special::SmId:
    return block.rank;
  case Special::NSmId:
    return block.group.clusterSize;
  case Special::GridId:
    return 1;
  case Special::LaneMaskEq:
    return LaneMask(1) << lane;
  case Special::LaneMaskLt:
    return (LaneMask(1) << lane) - 1;
  case Special::LaneMaskLe:
    return (LaneMask(2) << lane) - 1;
  case Special::LaneMaskGt:
    return ~((LaneMask(2) << lane) - 1);
  case Special::LaneMaskGe:
    return ~((LaneMask(1) << lane) - 1);
  case Special::DynamicSharedSize:
    return launch.dynamicShared;
  case Special::TotalSharedSize:
    return getSharedSize(launch);
  case Special::AggrSharedSize:
    return getSharedSize(launch) + kSharedStart;
  case Special::ClusterIdX:
  case Special::ClusterIdY:
  case Special::ClusterIdZ:
    return cluster([](uint32_t i, uint32_t n) { return i / n; },
                   Special::ClusterIdX);
  case Special::NClusterIdX:
  case Special::NClusterIdY:
  case Special::NClusterIdZ:
    return extent(launch.grid, Special::NClusterIdX) /
           extent(launch.cluster, Special::NClusterIdX);
  case Special::ClusterCtaIdX:
  case Special::ClusterCtaIdY:
  case Special::ClusterCtaIdZ:
    return cluster([](uint32_t i, uint32_t n) { return i % n; },
                   Special::ClusterCtaIdX);
  case Special::ClusterNCtaIdX:
  case Special::ClusterNCtaIdY:
  case Special::ClusterNCtaIdZ:
    return extent(launch.cluster, Special::ClusterNCtaIdX);
  case Special::ClusterCtaRank:
    return block.rank;
  case Special::ClusterNCtaRank:
    return block.group.clusterSize;
  // One step is one tick; nothing else passes time.
  case Special::Clock:
  case Special::GlobalTimerLo:
    return block.group.numSteps & 0xFFFFFFFF;
  case Special::ClockHi:
  case Special::GlobalTimerHi:
    return block.group.numSteps >> 32;
  case Special::Clock64:
  case Special::GlobalTimer:
    return block.group.numSteps;
  }
  return 0;
}

void sim::readSpecial(Special special, const Warp &warp, Lanes &lanes) {
  for (unsigned lane = 0; lane != kLanes; ++lane)
    lanes.value[lane] = readLane(special, warp, lane);
  lanes.undefinedLanes = 0;
}
