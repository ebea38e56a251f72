//===- TensorMemory.h - Tensor memory in software -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor memory of a block, 256 KiB, does not fit beside its stages: it is
// a part of a variable in global memory. Blocks take parts as they take columns
// on a chip: an allocation waits until a part has no owner, whatever the grid
// is, and gives it back at the end. Thus no two blocks ever share one.
//
// An address is what it is on a chip, lanes above columns, but for the number
// of the part, which is above the lanes of one part: programs only ever add to
// addresses that they were given. Neighbours in a part are lanes, not columns:
// mostly, the lanes of a warp access lanes side by side.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_TENSORMEMORY_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_TENSORMEMORY_H

#include "Emulation/Tcgen05/Word.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::blockscale {

/// Tensor memory of the blocks of a module's kernels.
class SoftTensorMemory {
public:
  static constexpr int64_t kLanes = 128, kColumns = 512;
  /// Where fields of an address begin. Kernels shift addresses by 30 bits to
  /// get a 0: so many parts there may be.
  static constexpr unsigned kLaneShift = 16, kPartShift = 23;
  static constexpr int64_t kParts = 128;

  explicit SoftTensorMemory(gpu::GPUModuleOp module) : module(module) {}

  /// The pointer to the cell of 32 bits at an address, `lanes` and `columns`
  /// further.
  Value getCell(const Word &address, const Word &lanes, const Word &columns);
  /// A cell that is constant numbers of lanes and columns behind another one.
  static Value getNeighbor(ImplicitLocOpBuilder &b, Value cell, int64_t lanes,
                           int64_t columns);

  /// What one thread calls: takes a part and gives its address, or gives the
  /// part of an address back.
  func::FuncOp getAllocate();
  func::FuncOp getFree();

private:
  LLVM::GlobalOp getVariable(StringRef name, int64_t words);
  /// The pointer to the word that says whether a part has an owner.
  Value getOwner(ImplicitLocOpBuilder &b, Value part);

  gpu::GPUModuleOp module;
};

/// The function `name` of `module`; `body` fills in one that is new. It is
/// never inlined.
func::FuncOp
getSoftFunction(gpu::GPUModuleOp module, StringRef name, TypeRange arguments,
                TypeRange results,
                function_ref<void(ImplicitLocOpBuilder &, func::FuncOp)> body);

/// A variable of `module` in global memory; null if there is none.
LLVM::GlobalOp addSoftVariable(gpu::GPUModuleOp module, StringRef name,
                               Type type, bool isConstant,
                               Attribute initializer);
Value getSoftPointer(ImplicitLocOpBuilder &b, LLVM::GlobalOp variable);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_TENSORMEMORY_H
