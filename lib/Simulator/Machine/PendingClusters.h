//===- PendingClusters.h - Clusters that have not begun ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The clusters of a grid that may still begin, or be taken by another one in
// place of that (clusterlaunchcontrol.try_cancel). Grids may have more clusters
// than there is memory for a table: only those that are gone cost any.
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
  /// The cluster at a place below `size()`; removals change what is where.
  uint64_t at(uint64_t place) const { return lookup(clusters, place); }
  /// Whether a cluster is there and not gone.
  bool contains(uint64_t cluster) const {
    return lookup(places, cluster) < count;
  }
  /// Takes a cluster out; false if it is gone already.
  bool remove(uint64_t cluster) {
    if (!contains(cluster))
      return false;
    // The last one takes its place.
    uint64_t place = lookup(places, cluster), last = at(--count);
    clusters[place] = last;
    places[last] = place;
    clusters.erase(count);
    places[cluster] = kGone;
    return true;
  }

private:
  static constexpr uint64_t kGone = uint64_t(1) << 63;
  using Map = llvm::DenseMap<uint64_t, uint64_t>;

  /// What is not in a map stands for itself.
  static uint64_t lookup(const Map &map, uint64_t number) {
    auto found = map.find(number);
    return found == map.end() ? number : found->second;
  }

  uint64_t count;
  /// By place, and by cluster.
  Map clusters, places;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_PENDINGCLUSTERS_H
