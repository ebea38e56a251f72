//===- MarkTensorMaps.cpp - Tensor maps of kernels ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's conversion of kernels drops attributes of parameters, so an
// attribute of the kernel carries them to this pass.
//
//===----------------------------------------------------------------------===//

#include "Launch/KernelParameters.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_MARKTENSORMAPSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {

struct MarkTensorMapsPass final
    : mlir::blockscale::impl::MarkTensorMapsPassBase<MarkTensorMapsPass> {
  void runOnOperation() override {
    constexpr int64_t kBytes = 128, kAlignment = 64;
    LLVM::LLVMFuncOp function = getOperation();
    auto maps = dyn_cast_or_null<DenseI64ArrayAttr>(
        function->removeAttr(kTensorMapParamsAttrName));
    if (!maps)
      return;
    Builder builder(&getContext());
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), kBytes);
    for (int64_t number : maps.asArrayRef()) {
      if (number < 0 || number >= function.getNumArguments()) {
        function.emitError("expected the number of a parameter, below ")
            << function.getNumArguments() << ", in '"
            << kTensorMapParamsAttrName << "', got " << number;
        return signalPassFailure();
      }
      auto set = [&](StringRef name, Attribute attr) {
        function.setArgAttr(static_cast<unsigned>(number), name, attr);
      };
      set(LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
      set(LLVM::LLVMDialect::getAlignAttrName(),
          builder.getI64IntegerAttr(kAlignment));
      set(NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
    }
  }
};

} // namespace
