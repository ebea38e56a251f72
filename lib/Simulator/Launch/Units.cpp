//===- Units.cpp - The table of units -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of units, and which kernels need them. It names all instruction
// families with units, so it is in a layer above them: blocks know units by
// their interface only.
//
//===----------------------------------------------------------------------===//

#include "Launch/Units.h"

#include "Copies/BulkCopyUnit.h"
#include "Copies/CpAsyncUnit.h"
#include "Machine/BlockGroup.h"
#include "Machine/RegisterLimits.h"
#include "Machine/StepOrder.h"
#include "Synchronization/BlockBarriers.h"
#include "Synchronization/ClusterBarriers.h"
#include "Synchronization/GridDependency.h"
#include "Synchronization/LaunchControl.h"
#include "Tcgen05/Tcgen05Engine.h"
#include "Wgmma/WarpgroupUnit.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
struct UnitRow {
  UnitKind kind;
  /// Bits of Facility; a kernel that uses all of them has the unit.
  uint8_t facilities;
  std::unique_ptr<AsyncUnit> (*make)(BlockGroup &group);
};
} // namespace

template <typename Unit>
static constexpr UnitRow makeRow(uint8_t facilities) {
  return {Unit::kKind, facilities,
          [](BlockGroup &group) -> std::unique_ptr<AsyncUnit> {
            return std::make_unique<Unit>(group);
          }};
}

static constexpr UnitRow kUnits[] = {
    makeRow<BlockBarriers>(0),
    makeRow<ClusterBarriers>(0),
    makeRow<BulkCopyUnit>(0),
    makeRow<RegisterLimitUnit>(0),
    makeRow<Tcgen05Engine>(UsesTensorMemory),
    makeRow<CpAsyncUnit>(0),
    makeRow<WarpgroupUnit>(UsesWarpgroups),
    makeRow<GridDependency>(0),
    makeRow<LaunchControlUnit>(UsesLaunchControl),
    makeRow<StepOrder>(0),
};
static_assert(std::size(kUnits) == kNumUnitKinds);

UnitList sim::makeUnits(BlockGroup &group) {
  uint8_t used = group.launch.kernel->facilities;
  UnitList units(kNumUnitKinds);
  for (const UnitRow &row : kUnits)
    if ((row.facilities & ~used) == 0)
      units[static_cast<unsigned>(row.kind)] = row.make(group);
  return units;
}
