//===- MatrixLayout.h - Fragment layouts ------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fragment layouts: which element each lane holds in each register, as sums of
// terms.
//
// Lane l is thread t = l % 4 of group g = l / 4. Register r of an operand is
// split as r = high * radix + low. Slot j is the j-th element of a register,
// from its least significant bit.
//
// Sources: PTX ISA, sections 9.7.14.5.1 to 9.7.14.5.13 (fragments of mma),
// 9.7.14.6.1 "Sparse matrix storage", 9.7.14.6.2 (fragments of mma.sp),
// 9.7.14.3 (scales). The placement of metadata is in figures only; they were
// compared with the layouts that CUTLASS publishes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MMA_MATRIXLAYOUT_H
#define BLOCKSCALE_LIB_SIMULATOR_MMA_MATRIXLAYOUT_H

namespace mlir::blockscale::sim {

/// One index of an element, as a sum of terms of its position in the fragment.
struct IndexTerms {
  unsigned group, thread, registerLow, registerHigh, slot;

  unsigned evaluate(unsigned g, unsigned t, unsigned low, unsigned high,
                    unsigned j) const {
    return group * g + thread * t + registerLow * low + registerHigh * high +
           slot * j;
  }
};

enum class MatrixOperand : unsigned char { A, B, Accumulator };

/// A fragment of A, B, or C and D. `row` is the row of A, C and D, the column
/// of B; `step` is the position along K in A and B, and the column of C and D.
/// In a sparse A, steps count the kept elements.
struct FragmentLayout {
  MatrixOperand operand;
  /// M of the instruction: 8 or 16.
  unsigned m;
  unsigned slotBits;
  unsigned radix;
  IndexTerms row, step;

  unsigned getRegisterBits() const { return slotBits == 64 ? 64 : 32; }
  unsigned getSlots() const { return getRegisterBits() / slotBits; }
};

const FragmentLayout &getFragmentLayout(MatrixOperand operand, unsigned m,
                                        unsigned slotBits);

/// The metadata of a sparse A: eight 4-bit fields in the register of each lane
/// that contributes. Field f of thread t describes
///   row = g + rowPerThreadLow * (t % 2) + 8 * (f / fieldsPerRow)
///   chunk = chunkPerThreadLow * (t % 2) + chunkPerThreadHigh * (t / 2)
///           + f % fieldsPerRow
/// The threads that contribute are those with t / (4 / numSelectors) ==
/// selector.
struct MetadataLayout {
  unsigned slotBits, k;
  unsigned numSelectors;
  unsigned rowPerThreadLow;
  unsigned chunkPerThreadLow, chunkPerThreadHigh;
  unsigned fieldsPerRow;
  /// A chunk has this many logical elements, and half of them are kept. An
  /// index in a field has units of `chunk / 4` elements. If that is a half
  /// (tf32), the two indices of a field name the halves of the one kept
  /// element.
  unsigned chunk;
};

/// `slotBits` are those of A; K is the logical K.
const MetadataLayout &getMetadataLayout(unsigned slotBits, unsigned k);

/// The lane whose register holds the scales of a row of A or column of B:
///   lane = 4 * (row % 8) + perThreadId * thread-id + row / 8
struct ScaleLanes {
  unsigned perThreadId;
  unsigned numThreadIds;

  unsigned getLane(unsigned row, unsigned threadId) const {
    return 4 * (row % 8) + perThreadId * threadId + row / 8;
  }
};

inline constexpr ScaleLanes kScaleLanesA = {2, 2};
inline constexpr ScaleLanes kScaleLanesB = {1, 4};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MMA_MATRIXLAYOUT_H
