//===- KernelParameters.cpp - What kernels are passed ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelParameters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {

class ParameterRewriter {
public:
  ParameterRewriter(gpu::LaunchFuncOp launch, gpu::GPUFuncOp kernel,
                    GlobalMap &globals)
      : launch(launch), kernel(kernel), globals(globals),
        builder(OpBuilder::atBlockBegin(&kernel.getBody().front())) {}

  LogicalResult rewrite(ValueRange buffers) {
    unsigned numOld = kernel.getNumArguments();
    for (Value buffer : buffers)
      if (failed(addParameter(buffer)))
        return failure();
    SmallVector<Value> operands(launch.getKernelOperands());
    for (auto [i, operand] : llvm::enumerate(operands)) {
      if (failed(moveInside(operand)))
        return failure();
      kernel.getArgument(i).replaceAllUsesWith(mapping.lookup(operand));
    }
    llvm::BitVector old(kernel.getNumArguments());
    old.set(0, numOld);
    if (failed(kernel.eraseArguments(old)))
      return failure();
    launch.getKernelOperandsMutable().assign(parameters);
    return success();
  }

private:
  LogicalResult addParameter(Value buffer) {
    unsigned index = kernel.getNumArguments();
    // Buffers are aligned, and no result is an argument.
    constexpr int64_t kAlignment = 16;
    SmallVector<NamedAttribute> attrs;
    if (isa<MemRefType>(buffer.getType())) {
      attrs.emplace_back(LLVM::LLVMDialect::getAlignAttrName(),
                         builder.getI64IntegerAttr(kAlignment));
      attrs.emplace_back(LLVM::LLVMDialect::getNoAliasAttrName(),
                         builder.getUnitAttr());
    }
    if (failed(kernel.insertArgument(index, buffer.getType(),
                                     builder.getDictionaryAttr(attrs),
                                     kernel.getLoc())))
      return failure();
    mapping.map(buffer, kernel.getArgument(index));
    parameters.push_back(buffer);
    return success();
  }

  /// Maps `value`, of the host, to what it is in the kernel. (A stack and not
  /// a recursion: chains of views may be long.)
  LogicalResult moveInside(Value value) {
    SmallVector<Value> pending = {value};
    while (!pending.empty()) {
      Value next = pending.back();
      if (mapping.contains(next)) {
        pending.pop_back();
        continue;
      }
      Operation *producer = next.getDefiningOp();
      if (!producer || isa<memref::AllocOp>(producer)) {
        if (failed(addParameter(next)))
          return failure();
        continue;
      }
      if (!isa<ViewLikeOpInterface, arith::ConstantOp, memref::GetGlobalOp>(
              producer))
        return producer->emitError("not supported in this version: '")
               << producer->getName() << "' between kernels on a GPU target";
      size_t numPending = pending.size();
      for (Value operand : producer->getOperands())
        if (!mapping.contains(operand))
          pending.push_back(operand);
      if (pending.size() == numPending && failed(cloneInside(producer)))
        return failure();
    }
    return success();
  }

  LogicalResult cloneInside(Operation *op) {
    Operation *clone = builder.clone(*op, mapping);
    auto getGlobal = dyn_cast<memref::GetGlobalOp>(clone);
    return getGlobal ? moveGlobal(getGlobal) : success();
  }

  /// Constants become data of the device.
  LogicalResult moveGlobal(memref::GetGlobalOp getGlobal) {
    auto kernels = kernel->getParentOfType<gpu::GPUModuleOp>();
    auto module = kernels->getParentOfType<ModuleOp>();
    auto global = module.lookupSymbol<memref::GlobalOp>(getGlobal.getName());
    if (!global)
      return getGlobal.emitError("expected the global '")
             << getGlobal.getName() << "' in the module";
    if (global.isExternal() || global.isUninitialized())
      return global.emitError("expected an initial value of a global that a "
                              "function uses on a GPU target");
    // The module of kernels may have a symbol of this name, which is another's.
    memref::GlobalOp &copy = globals[global];
    if (!copy) {
      copy = cast<memref::GlobalOp>(global->clone());
      copy.setPrivate();
      // Copies of 16 bytes want it.
      constexpr uint64_t kAlignment = 16;
      if (copy.getAlignment().value_or(0) < kAlignment)
        copy.setAlignment(kAlignment);
      SymbolTable(kernels).insert(copy, kernels.getBody()->begin());
    }
    getGlobal.setName(copy.getSymName());
    return success();
  }

  gpu::LaunchFuncOp launch;
  gpu::GPUFuncOp kernel;
  GlobalMap &globals;
  OpBuilder builder;
  SmallVector<Value> parameters;
  IRMapping mapping;
};

} // namespace

LogicalResult blockscale::rewriteKernelParameters(gpu::LaunchFuncOp launch,
                                                  gpu::GPUFuncOp kernel,
                                                  GlobalMap &globals,
                                                  ValueRange buffers) {
  return ParameterRewriter(launch, kernel, globals).rewrite(buffers);
}
