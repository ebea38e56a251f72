//===- DescribedMemory.cpp - The alignment of matrices --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor cores derive the pattern of a swizzle from addresses, so memory with
// described matrices must be aligned to the pattern. Users do not state that
// alignment; it follows from the descriptors.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/Tcgen05ToNVVM.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::blockscale;

static IntegerAttr getLarger(Attribute old, int64_t alignment,
                             MLIRContext *context) {
  if (auto number = dyn_cast_or_null<IntegerAttr>(old))
    alignment = std::max(alignment, number.getInt());
  return IntegerAttr::get(IntegerType::get(context, 64), alignment);
}

/// Aligns the memory that `memory` is a view of.
static void align(Value memory, int64_t alignment) {
  MLIRContext *context = memory.getContext();
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  if (auto dynamic = memory.getDefiningOp<gpu::DynamicSharedMemoryOp>()) {
    dynamic->setAttr(
        kDynamicAlignmentName,
        getLarger(dynamic->getAttr(kDynamicAlignmentName), alignment, context));
    return;
  }
  auto argument = dyn_cast<BlockArgument>(memory);
  auto function =
      argument ? dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp())
               : gpu::GPUFuncOp();
  if (!function)
    return;
  StringRef name = LLVM::LLVMDialect::getAlignAttrName();
  for (auto [i, attribution] :
       llvm::enumerate(function.getWorkgroupAttributions()))
    if (attribution == memory)
      function.setWorkgroupAttributionAttr(
          i, name,
          getLarger(function.getWorkgroupAttributionAttr(i, name), alignment,
                    context));
}

bool blockscale::alignDescribedMemory(Operation *root) {
  bool isFound = false;
  root->walk([&](Operation *op) {
    if (auto matrix = dyn_cast<MatrixDescriptorOp>(op))
      align(matrix.getMemory(),
            getPatternBytes(matrix.getMatrixShape().rowBytes));
    else if (auto copy = dyn_cast<CopyScalesOp>(op))
      align(copy.getMemory(), kBankRowBytes);
    else if (auto atom = dyn_cast<CopyMetadataOp>(op))
      align(atom.getMemory(), kBankRowBytes);
    else
      return;
    isFound = true;
  });
  return isFound;
}
