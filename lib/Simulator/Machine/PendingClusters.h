//===- PendingClusters.h - Clusters that have not begun ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The clusters of a grid that have not begun, and may begin or be taken by
// another cluster (clusterlaunchcontrol.try_cancel). A grid may have more
// clusters than a table could hold, so memory is used only for those that are
// gone.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_PENDINGCLUSTERS_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_PENDINGCLUSTERS_H

#include "llvm/ADT/DenseMap.h"

namespace mlir::blockscale::sim {

class PendingClusters {
public:
  /// The clusters 0 to `count` - 1.
  explicit PendingClusters(uint64_t count) : count(count) {}

  uint64_t size() const { return count; }
  /// The cluster at a position below `size()`; removals change the order.
  uint64_t at(uint64_t position) const { return lookup(clusters, position); }
  /// Whether a cluster exists and has not been removed.
  bool contains(uint64_t cluster) const {
    return lookup(positions, cluster) < count;
  }
  /// Removes a cluster; false if it was removed before.
  bool remove(uint64_t cluster) {
    if (!contains(cluster))
      return false;
    // The last cluster moves to its position.
    uint64_t position = lookup(positions, cluster), last = at(--count);
    clusters[position] = last;
    positions[last] = position;
    clusters.erase(count);
    positions[cluster] = kGone;
    return true;
  }

private:
  static constexpr uint64_t kGone = uint64_t(1) << 63;
  using Map = llvm::DenseMap<uint64_t, uint64_t>;

  /// Keys that are not in a map are mapped to themselves.
  static uint64_t lookup(const Map &map, uint64_t number) {
    auto found = map.find(number);
    return found == map.end() ? number : found->second;
  }

  uint64_t count;
  /// Clusters by position, and positions by cluster.
  Map clusters, positions;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_PENDINGCLUSTERS_H
