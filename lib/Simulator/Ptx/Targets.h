//===- Targets.h - Features of targets --------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The features of targets. Only this table and that of adders compare the
// number or the suffix of a target.
//
// Source: PTX ISA, section 11.1.2 "PTX Module Directives: .target".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_PTX_TARGETS_H
#define BLOCKSCALE_LIB_SIMULATOR_PTX_TARGETS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace mlir::blockscale::sim {

enum class Feature : uint8_t {
  /// Launches with clusters of more than one block.
  Clusters,
  /// setmaxnreg.
  RegisterLimits,
  /// clusterlaunchcontrol, and its .multicast::cluster::all.
  LaunchControl,
  LaunchControlToAll,
  /// tensormap.replace and its .swizzle_atomicity.
  TensorMapReplace,
  TensorMapAtomicity,
  /// .tile::gather4 to the own block; to others and as a prefetch, and
  /// .tile::scatter4.
  GatherFour,
  RowsBeyondBlock,
  /// redux.sync of .f32.
  FloatReductions,
  /// The shapes of ldmatrix and stmatrix that came with sm_100a.
  ByteMatrices,

  // mma: forms by the first targets that have them.
  MmaOfSm75,
  MmaOfSm80,
  MmaOfSm89,
  MmaOfSm90,
  /// sm_120a, sm_121a, and the family targets sm_120f, sm_121f.
  MmaOfSm120,
  /// The same, and sm_100a, sm_100f, sm_103a, sm_110a.
  MmaOfSm100AndSm120,
  /// sm_120a and sm_121a alone.
  MmaOfSm120a,

  Wgmma,

  Tcgen05,
  /// tcgen05.mma: .kind::i8, K = 96, .scale_vec, the operand scale-input-d.
  Tcgen05Integers,
  Tcgen05K96,
  Tcgen05ScaleVec,
  Tcgen05InputScale,
  /// tcgen05.mma.sp of .kind::mxf4 and .kind::mxf4nvf4.
  Tcgen05SparseNibbles,
  /// tcgen05.ld.red.
  Tcgen05Reductions,
  Tcgen05Shift,
};

/// Whether PTX has a target of this name, such as sm_90, sm_90a or sm_120f.
bool isTarget(llvm::StringRef name);

/// 90 for "sm_90a"; 0 if the name is not a target.
unsigned getTargetNumber(llvm::StringRef name);

bool hasFeature(llvm::StringRef target, Feature feature);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_PTX_TARGETS_H
