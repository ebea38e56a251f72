//===- LaunchInfoExport.cpp - How kernels are launched --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host code is not compiled for GPUs: what it says of launches becomes data.
//
//===----------------------------------------------------------------------===//

#include "LaunchInfoExport.h"

#include "blockscale/Dialect/Transforms/Launch/DynamicSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The alignment of buffers in the workspace, that of cuMemAlloc.
static constexpr uint64_t kAlignment = 256;

/// `expr`, of the dynamic sizes of `function`, divided by `divisor`, as a size
/// of one argument: d, d * codes or d floordiv bytes * codes. nullopt for
/// anything else. A factor of `codes` may have been cancelled against one of
/// `divisor`, which gets it back.
static std::optional<ArgumentSize>
matchSize(func::FuncOp function, AffineExpr expr, uint64_t &divisor) {
  ArgumentSize size;
  auto take = [&](AffineExprKind kind, uint32_t &number) {
    if (expr.getKind() != kind)
      return;
    auto binary = cast<AffineBinaryOpExpr>(expr);
    if (auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS())) {
      number = static_cast<uint32_t>(constant.getValue());
      expr = binary.getLHS();
    }
  };
  take(AffineExprKind::Mul, size.codes);
  take(AffineExprKind::FloorDiv, size.bytes);
  auto dim = dyn_cast<AffineDimExpr>(expr);
  if (!dim)
    return std::nullopt;
  DynamicSize of = getDynamicSizes(function)[dim.getPosition()];
  auto [codes, bytes] = getCodesAndBytes(function, of);
  if (bytes != size.bytes || codes % size.codes != 0)
    return std::nullopt;
  divisor *= codes / size.codes;
  size.codes = static_cast<uint32_t>(codes);
  size.argument = of.argument;
  size.dimension = of.dim;
  return size;
}

/// `expr` as a number, or as a size divided by one; nullopt for anything else.
static std::optional<LaunchExtent> matchExtent(func::FuncOp function,
                                               AffineExpr expr) {
  if (!expr)
    return std::nullopt;
  auto getNumber = [](AffineExpr of) -> std::optional<uint32_t> {
    auto constant = dyn_cast<AffineConstantExpr>(of);
    if (!constant || constant.getValue() < 1 ||
        constant.getValue() > maxLaunchNumber)
      return std::nullopt;
    return static_cast<uint32_t>(constant.getValue());
  };
  if (std::optional<uint32_t> number = getNumber(expr))
    return *number;
  uint64_t divisor = 1;
  if (expr.getKind() == AffineExprKind::CeilDiv) {
    auto quotient = cast<AffineBinaryOpExpr>(expr);
    divisor = getNumber(quotient.getRHS()).value_or(0);
    expr = quotient.getLHS();
  }
  std::optional<ArgumentSize> size = matchSize(function, expr, divisor);
  if (!size || divisor < 1 || divisor > maxLaunchNumber)
    return std::nullopt;
  return CeilDiv{*size, static_cast<uint32_t>(divisor)};
}

/// The size of a grid or a block in a dimension.
static FailureOr<LaunchExtent> exportExtent(gpu::LaunchFuncOp launch,
                                            Value value) {
  auto function = launch->getParentOfType<func::FuncOp>();
  if (std::optional<LaunchExtent> extent =
          matchExtent(function, getSizeExpr(function, value)))
    return *extent;
  std::optional<int64_t> known = getConstantIntValue(value);
  return launch.emitError("not supported in this version: a launch of ")
         << (known ? std::to_string(*known)
                   : "a number that is not one dynamic size, divided by a "
                     "constant,")
         << " of blocks or threads";
}

FailureOr<LaunchInfo> blockscale::exportLaunchInfo(func::FuncOp function,
                                                   unsigned numArguments,
                                                   std::string_view target) {
  LaunchInfo info;
  info.target = std::string(target);
  DenseMap<Value, uint64_t> offsets;
  auto getParam = [&](Value operand) -> LaunchParam {
    // Those of collect-kernels: an argument, its first element, a size of one,
    // or an allocation.
    if (operand.getDefiningOp<arith::IndexCastUIOp>()) {
      uint64_t divisor = 1;
      std::optional<ArgumentSize> size =
          matchSize(function, getSizeExpr(function, operand), divisor);
      if (size && divisor == 1)
        return LaunchParam::ofSize(*size);
    }
    if (auto place = operand.getDefiningOp<memref::ReinterpretCastOp>())
      operand = place.getSource();
    if (auto argument = dyn_cast<BlockArgument>(operand)) {
      unsigned i = argument.getArgNumber();
      return i < numArguments ? LaunchParam::argument(i)
                              : LaunchParam::result(i - numArguments);
    }
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
    gpu::KernelDim3 grid = op.getGridSizeOperandValues();
    gpu::KernelDim3 block = op.getBlockSizeOperandValues();
    Value blocks[] = {grid.x, grid.y, grid.z};
    Value threads[] = {block.x, block.y, block.z};
    for (unsigned i = 0; i != 3; ++i) {
      FailureOr<LaunchExtent> numBlocks = exportExtent(op, blocks[i]);
      if (failed(numBlocks))
        return WalkResult::interrupt();
      kernel.grid[i] = *numBlocks;
      FailureOr<LaunchExtent> numThreads = exportExtent(op, threads[i]);
      if (failed(numThreads))
        return WalkResult::interrupt();
      const auto *known = std::get_if<uint32_t>(&*numThreads);
      if (!known)
        return op.emitError("not supported in this version: a launch of a "
                            "dynamic number of threads");
      kernel.block[i] = *known;
    }
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

FailureOr<std::vector<std::vector<LaunchExtent>>>
blockscale::exportResultSizes(func::FuncOp function, unsigned numArguments) {
  std::vector<std::vector<LaunchExtent>> results;
  for (unsigned i = numArguments; i != function.getNumArguments(); ++i) {
    auto type = cast<MemRefType>(function.getArgumentTypes()[i]);
    auto map = function.getArgAttrOfType<AffineMapAttr>(i, kSizesAttrName);
    std::vector<LaunchExtent> &extents = results.emplace_back();
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      AffineExpr expr = map ? map.getValue().getResult(dim)
                            : getAffineConstantExpr(size, type.getContext());
      std::optional<LaunchExtent> extent = matchExtent(function, expr);
      if (!extent)
        return function.emitError("not supported in this version: result #")
               << i - numArguments << " of a size, in dimension " << dim
               << ", that is not one dynamic size, divided by a constant";
      extents.push_back(*extent);
    }
  }
  return results;
}
