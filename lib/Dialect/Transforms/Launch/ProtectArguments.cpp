//===- ProtectArguments.cpp - Arguments stay as they are ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without this, bufferization could reuse an argument's memory for a result,
// and the caller's tensor would change.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_PROTECTARGUMENTSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;

namespace {

struct ProtectArgumentsPass final
    : mlir::blockscale::impl::ProtectArgumentsPassBase<ProtectArgumentsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.isPublic() || function.isExternal())
      return;
    StringRef name = bufferization::BufferizationDialect::kWritableAttrName;
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (isa<TensorType>(type) && !function.getArgAttr(i, name))
        function.setArgAttr(i, name, BoolAttr::get(&getContext(), false));
  }
};

} // namespace
