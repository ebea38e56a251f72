//===- TensorMemory.h - Tensor memory in software -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor memory of a block, 256 KiB, does not fit in shared memory, so it
// is a slot of a variable in global memory. Blocks allocate slots as they
// allocate columns on a chip: an allocation waits until a slot has no owner,
// whatever the grid is, and deallocation frees it. So no two blocks share a
// slot.
//
// Addresses are as on a chip, with the lane above the column, and in addition
// the index of the slot above the lane. This works because programs only add to
// addresses that they were given. In a slot, cells of neighbouring lanes are
// contiguous, not those of neighbouring columns, because the lanes of a warp
// mostly access neighbouring lanes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_TENSORMEMORY_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_TENSORMEMORY_H

#include "Emulation/Tcgen05/Word.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::blockscale {

/// The tensor memory of the blocks of a module's kernels.
class SoftTensorMemory {
public:
  static constexpr int64_t kLanes = 128, kColumns = 512;
  /// The first bits of the fields of an address. Kernels shift addresses by 30
  /// bits to get a 0, which limits the number of slots.
  static constexpr unsigned kLaneShift = 16, kSlotShift = 23;
  static constexpr int64_t kSlots = 128;

  explicit SoftTensorMemory(gpu::GPUModuleOp module) : module(module) {}

  /// The pointer to the cell of 32 bits at an address, `lanes` and `columns`
  /// further.
  Value getCell(const Word &address, const Word &lanes, const Word &columns);
  /// The cell that is constant numbers of lanes and columns after another one.
  static Value getNeighbor(ImplicitLocOpBuilder &b, Value cell, int64_t lanes,
                           int64_t columns);

  /// Functions that one thread calls: to allocate a slot, which returns its
  /// address, and to free the slot of an address.
  func::FuncOp getAllocate();
  func::FuncOp getFree();

private:
  LLVM::GlobalOp getVariable(StringRef name, int64_t words);
  /// The pointer to the 32-bit flag of a slot, set if the slot has an owner.
  Value getOwner(ImplicitLocOpBuilder &b, Value slot);

  gpu::GPUModuleOp module;
};

/// The function `name` of `module`; `body` fills it in if it is new. It is
/// never inlined.
func::FuncOp
getSoftFunction(gpu::GPUModuleOp module, StringRef name, TypeRange arguments,
                TypeRange results,
                function_ref<void(ImplicitLocOpBuilder &, func::FuncOp)> body);

/// Adds a variable to `module` in global memory; `initializer` may be null.
LLVM::GlobalOp addSoftVariable(gpu::GPUModuleOp module, StringRef name,
                               Type type, bool isConstant,
                               Attribute initializer);
Value getSoftPointer(ImplicitLocOpBuilder &b, LLVM::GlobalOp variable);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_TENSORMEMORY_H
