//===- SparseFragments.h - Registers of mma.sp ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What mma.sp has beside the registers of a dense mma.sync: its A, the kept
// elements, is that of a dense instruction of half its K.
//
// Sources: PTX ISA, "Matrix fragments for sparse mma.m16n8k64 with .u8/.s8/
// .e4m3/.e5m2" and "... mma.m16n8k128 with .u4/.s4", and the figures of their
// metadata.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_SPARSEFRAGMENTS_H
#define BLOCKSCALE_SUPPORT_SPARSEFRAGMENTS_H

#include "blockscale/Support/FragmentLayout.h"

namespace mlir::blockscale {

/// B, in slots of 8 or 4 bits: the registers of the two halves of K of a dense
/// instruction, one behind the other.
const FragmentLayout &getSparseBLayout(unsigned slotBits);

/// Whose fields a lane's word of metadata has, with the selector 0: those of a
/// row of the 16 and of a half of K.
struct MetadataFragment {
  /// Lane -> (row, half), and (row, half) -> lane.
  std::array<LayoutTerm, 3> toRow, toLane;
};
const MetadataFragment &getMetadataFragment();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_SPARSEFRAGMENTS_H
