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
// .e4m3/.e5m2", "... mma.m16n8k128 with .u4/.s4" and "... mma.m16n8k32 with
// .f16 and .bf16 types", and the figures of their metadata.
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

/// For bf16, a word has the fields of four chunks of row lane / 4 in its low
/// half, and those of row lane / 4 + 8 in its high half: chunks 0 to 3 in an
/// even lane, 4 to 7 in an odd one. The lanes with lane / 2 mod 2 equal to the
/// selector are read.
inline constexpr unsigned kValueChunksPerLane = 4;
inline constexpr unsigned kMetadataSelectors = 2;

/// The lowest PTX versions with mma.sp of bf16, and with
/// mma.sp::ordered_metadata. (Without the qualifier, positions may descend, and
/// chips to come may be slow.)
inline constexpr unsigned kSparseValuesPtx = 71, kOrderedMetadataPtx = 85;

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_SPARSEFRAGMENTS_H
