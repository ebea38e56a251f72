//===- LaunchInfoExport.cpp - How kernels are launched --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchInfoExport.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The alignment of buffers in the workspace, that of cuMemAlloc.
static constexpr uint64_t kAlignment = 256;

/// Three constants that fit the launch info.
static LogicalResult exportSizes(gpu::LaunchFuncOp launch,
                                 gpu::KernelDim3 sizes,
                                 function_ref<void(unsigned, uint32_t)> set) {
  for (auto [i, value] :
       llvm::enumerate(std::array<Value, 3>{sizes.x, sizes.y, sizes.z})) {
    std::optional<int64_t> size = getConstantIntValue(value);
    if (!size || *size < 1 || *size > maxLaunchNumber)
      return launch.emitError("not supported in this version: a launch of ")
             << (size ? std::to_string(*size) : "a dynamic number")
             << " of blocks or threads";
    set(i, static_cast<uint32_t>(*size));
  }
  return success();
}

FailureOr<LaunchInfo> blockscale::exportLaunchInfo(func::FuncOp function,
                                                   unsigned numArguments,
                                                   std::string_view target) {
  LaunchInfo info;
  info.target = std::string(target);
  DenseMap<Value, uint64_t> offsets;
  auto getParam = [&](Value operand) -> LaunchParam {
    if (auto argument = dyn_cast<BlockArgument>(operand)) {
      unsigned i = argument.getArgNumber();
      return i < numArguments ? LaunchParam::argument(i)
                              : LaunchParam::result(i - numArguments);
    }
    // An allocation: collect-kernels leaves no other operands.
    auto [offset, isNew] = offsets.try_emplace(operand, info.workspace);
    if (isNew) {
      auto type = cast<MemRefType>(operand.getType());
      Type element = type.getElementType();
      unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
      uint64_t bytes = type.getNumElements() * llvm::divideCeil(bits, 8);
      info.workspace += llvm::alignTo(bytes, kAlignment);
    }
    return LaunchParam::workspace(offset->second);
  };

  WalkResult result = function.walk([&](gpu::LaunchFuncOp op) -> WalkResult {
    KernelLaunch &kernel = info.kernels.emplace_back();
    kernel.name = op.getKernelName().str();
    if (failed(
            exportSizes(op, op.getGridSizeOperandValues(),
                        [&](unsigned i, uint32_t n) { kernel.grid[i] = n; })) ||
        failed(
            exportSizes(op, op.getBlockSizeOperandValues(),
                        [&](unsigned i, uint32_t n) { kernel.block[i] = n; })))
      return WalkResult::interrupt();
    if (Value shared = op.getDynamicSharedMemorySize()) {
      std::optional<int64_t> bytes = getConstantIntValue(shared);
      if (!bytes || *bytes < 0 || *bytes > maxLaunchNumber)
        return op.emitError("not supported in this version: dynamic shared "
                            "memory of a size that is not constant");
      kernel.shared = static_cast<uint32_t>(*bytes);
    }
    for (Value operand : op.getKernelOperands())
      kernel.params.push_back(getParam(operand));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return info;
}
