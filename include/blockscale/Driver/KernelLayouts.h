//===- KernelLayouts.h - Where kernels have their operands ----- -*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts of compiled matmul kernels, by name: the elements of each operand
// in lanes, shared memory and tensor memory, for people and for other programs.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_KERNELLAYOUTS_H
#define BLOCKSCALE_DRIVER_KERNELLAYOUTS_H

#include "blockscale/Support/LayoutGrid.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blockscale {

/// Columns of tensor memory, in all lanes. If `step` is not 0, there are more
/// such regions at a distance of `step` columns, for other stages or tiles.
struct TensorRegion {
  std::string name;
  int64_t first, columns, step;
};

struct KernelLayout {
  /// One of getLayoutNames().
  std::string name;
  std::vector<LayoutGrid> grids;
  std::vector<TensorRegion> regions;
};

struct KernelLayouts {
  /// The kernel, and the opcode of its matrix instruction.
  std::string kernel, instruction;
  /// M, N and K of one instruction.
  int64_t m, n, k;
  std::vector<KernelLayout> layouts;

  /// The layout of that name, or null.
  const KernelLayout *lookup(StringRef name) const;
};

/// "a", "metadata", "scale_a", "b", "scale_b", "accumulator", "shared", "tmem".
ArrayRef<StringRef> getLayoutNames();

/// The layouts of the first product of each kernel of `module`, which is at the
/// level `kernel`, in the order of the kernels. Kernels without products have
/// none.
std::vector<KernelLayouts> getKernelLayouts(ModuleOp module);

/// Prints the layouts; with a `name`, only those of that name.
void printLayouts(raw_ostream &os, ArrayRef<KernelLayouts> kernels,
                  StringRef name);

/// The same for programs, as JSON: docs/Programs.md has the fields.
void printLayoutsAsJson(raw_ostream &os, ArrayRef<KernelLayouts> kernels,
                        StringRef name);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_KERNELLAYOUTS_H
