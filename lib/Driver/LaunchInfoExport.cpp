//===- LaunchInfoExport.cpp - How kernels are launched --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//
// Host code is not compiled for GPU targets: its launches become data.
//
//===----------------------------------------------------------------------===//

#include "LaunchInfoExport.h"

#include "LaunchExprExport.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Launch/ConditionalLaunch.h"
#include "blockscale/Driver/ElementStorage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The alignment of buffers in the workspace, that of cuMemAlloc.
static constexpr int64_t kAlignment = 256;

namespace {

/// The launches that use an allocation: some for all sizes, or each only if one
/// of the conditions holds.
class Uses {
public:
  void add(const LaunchExpr &condition) {
    // Something that is needed if a condition holds and if it does not.
    LaunchExpr opposite = LaunchExpr::negate(condition);
    isAlways = isAlways || condition.isNumber() ||
               llvm::is_contained(conditions, opposite);
    if (isAlways)
      conditions.clear();
    else if (!llvm::is_contained(conditions, condition))
      conditions.push_back(condition);
  }

  /// 1 if one of the launches runs, else 0.
  LaunchExpr getCondition() const {
    LaunchExpr any = isAlways ? 1 : 0;
    for (const LaunchExpr &condition : conditions)
      any = any == 0 ? condition
                     : LaunchExpr::make(LaunchExpr::Kind::Max, any, condition);
    return any;
  }

private:
  bool isAlways = false;
  std::vector<LaunchExpr> conditions;
};

/// A part of the workspace: allocations that the same sizes need.
struct Region {
  LaunchExpr condition;
  SmallVector<memref::AllocOp> allocs;
};

/// Reads the launches of a function one after the other.
class InfoExporter {
public:
  InfoExporter(func::FuncOp function, unsigned numArguments)
      : function(function), numArguments(numArguments), exprs(function) {}

  /// Gives each allocation its place in the workspace. What only some sizes
  /// need has no bytes for other sizes, so that alternatives that exclude each
  /// other are in the same place.
  void exportWorkspace() {
    // What all sizes need comes first.
    std::vector<Region> regions = {{1, {}}};
    for (auto &[alloc, uses] : collectUses()) {
      LaunchExpr condition = uses.getCondition();
      auto region = llvm::find_if(regions, [&](const Region &each) {
        return each.condition == condition;
      });
      if (region == regions.end())
        region = regions.insert(region, {condition, {}});
      region->allocs.push_back(alloc);
    }
    for (const Region &region : regions) {
      LaunchExpr bytes = 0;
      for (memref::AllocOp alloc : region.allocs) {
        std::optional<LaunchExpr> needed = countBytes(alloc);
        // The launch that uses it is refused.
        if (!needed)
          continue;
        offsets.try_emplace(alloc, add(info.workspace, bytes));
        bytes = add(bytes, LaunchExpr::alignTo(*needed, kAlignment));
      }
      info.workspace =
          add(info.workspace, LaunchExpr::select(region.condition, bytes, 0));
    }
  }

  LogicalResult exportLaunch(gpu::LaunchFuncOp op) {
    KernelLaunch &kernel = info.kernels.emplace_back();
    kernel.name = op.getKernelName().str();
    kernel.isProgrammatic = op->hasAttr(kProgrammaticAttrName);
    std::optional<LaunchExpr> condition = exportLaunchCondition(op);
    if (!condition)
      return op.emitError("not supported in this version: a launch on a "
                          "condition that is not computed from sizes of "
                          "arguments (by signed operations, if numbers may be "
                          "negative)");
    kernel.condition = std::move(*condition);
    gpu::KernelDim3 block = op.getBlockSizeOperandValues();
    Value blocks[] = {getConditionalGrid(op).blocks, op.getGridSizeY(),
                      op.getGridSizeZ()};
    for (unsigned i = 0; i != 3; ++i) {
      std::optional<LaunchExpr> extent = exprs.exportValue(blocks[i]);
      if (!extent)
        return op.emitError("not supported in this version: a launch of a "
                            "number of blocks that is not computed from sizes "
                            "of arguments");
      if (extent->isNumber() &&
          (extent->number < 1 || extent->number > maxLaunchNumber))
        return op.emitError("not supported in this version: a launch of ")
               << extent->number << " blocks";
      kernel.grid[i] = std::move(*extent);
    }
    if (failed(exportConstants(op, "threads", block, kernel.block)))
      return failure();
    if (op.hasClusterSize() &&
        failed(exportConstants(op, "blocks of a cluster",
                               op.getClusterSizeOperandValues(),
                               kernel.cluster)))
      return failure();
    if (Value shared = op.getDynamicSharedMemorySize()) {
      std::optional<int64_t> bytes = getConstantIntValue(shared);
      if (!bytes || *bytes < 0 || *bytes > maxLaunchNumber)
        return op.emitError("not supported in this version: dynamic shared "
                            "memory of a size that is not constant");
      kernel.shared = static_cast<uint32_t>(*bytes);
    }
    for (Value operand : op.getKernelOperands()) {
      auto map = operand.getDefiningOp<TensorMapOp>();
      std::optional<LaunchParam> param =
          exportParam(map ? map.getSource() : operand);
      if (param && map && failed(exportTensorMap(map, *param)))
        return failure();
      if (!param)
        return op.emitError("not supported in this version: a parameter that "
                            "is not computed from sizes of arguments, of type ")
               << operand.getType();
      kernel.params.push_back(std::move(*param));
    }
    return success();
  }

  /// Exports the checks of sizes. The first kernel has them as well, which is
  /// enough for conditions that a launch cannot compute.
  void exportCheck(cf::AssertOp op) {
    if (std::optional<LaunchExpr> condition = exprs.exportValue(op.getArg()))
      if (!(*condition == 1))
        info.checks.push_back({std::move(*condition), op.getMsg().str()});
  }

  LaunchInfo info;

private:
  static LogicalResult exportConstants(gpu::LaunchFuncOp op, StringRef what,
                                       gpu::KernelDim3 values, Dim3 &numbers) {
    for (auto [value, number] :
         llvm::zip_equal(std::array{values.x, values.y, values.z}, numbers)) {
      std::optional<int64_t> known = getConstantIntValue(value);
      if (!known)
        return op.emitError("not supported in this version: a launch of a "
                            "dynamic number of ")
               << what;
      if (*known < 1 || *known > maxLaunchNumber)
        return op.emitError("not supported in this version: a launch of ")
               << *known << " " << what;
      number = static_cast<uint32_t>(*known);
    }
    return success();
  }

  /// A parameter as collect-kernels makes it: an argument, its first element, a
  /// size of one, or an allocation.
  std::optional<LaunchParam> exportParam(Value operand) {
    if (operand.getDefiningOp<arith::IndexCastUIOp>()) {
      std::optional<LaunchExpr> size = exprs.exportValue(operand);
      if (!size || size->kind != LaunchExpr::Kind::Size)
        return std::nullopt;
      return LaunchParam::ofSize(size->size);
    }
    operand = getMemory(operand);
    if (auto argument = dyn_cast<BlockArgument>(operand)) {
      unsigned i = argument.getArgNumber();
      return i < numArguments ? LaunchParam::argument(i)
                              : LaunchParam::result(i - numArguments);
    }
    auto alloc = operand.getDefiningOp<memref::AllocOp>();
    if (!alloc)
      return std::nullopt;
    auto offset = offsets.find(alloc);
    if (offset == offsets.end())
      return std::nullopt;
    return LaunchParam::workspace(offset->second);
  }

  /// The conditions of a launch, all in one; nullopt if one cannot be computed.
  std::optional<LaunchExpr> exportLaunchCondition(gpu::LaunchFuncOp op) {
    LaunchExpr all = 1;
    for (LaunchCondition condition : getConditionalGrid(op).conditions) {
      std::optional<LaunchExpr> expr = exprs.exportChoice(condition.value);
      if (!expr)
        return std::nullopt;
      if (condition.isNegated)
        expr = LaunchExpr::negate(std::move(*expr));
      all = all == 1 ? std::move(*expr)
                     : LaunchExpr::make(LaunchExpr::Kind::Min, std::move(all),
                                        std::move(*expr));
    }
    return all;
  }

  /// The argument or the allocation that a parameter refers to.
  static Value getMemory(Value operand) {
    if (auto map = operand.getDefiningOp<TensorMapOp>())
      operand = map.getSource();
    if (auto view = operand.getDefiningOp<memref::ReinterpretCastOp>())
      operand = view.getSource();
    return getWholeMemory(operand);
  }

  /// In the order of the first use.
  llvm::MapVector<memref::AllocOp, Uses> collectUses() {
    llvm::MapVector<memref::AllocOp, Uses> uses;
    function.walk([&](gpu::LaunchFuncOp op) {
      std::optional<LaunchExpr> condition = exportLaunchCondition(op);
      for (Value operand : op.getKernelOperands())
        if (auto alloc = getMemory(operand).getDefiningOp<memref::AllocOp>())
          uses[alloc].add(condition.value_or(1));
    });
    return uses;
  }

  static LaunchExpr add(const LaunchExpr &lhs, const LaunchExpr &rhs) {
    return LaunchExpr::make(LaunchExpr::Kind::Add, lhs, rhs);
  }

  /// Makes `param`, the memory of `op`, a tensor map of that memory.
  LogicalResult exportTensorMap(TensorMapOp op, LaunchParam &param) {
    TensorMapAttr attr = op.getMap();
    Result<TensorMap> form = makeTensorMap(
        attr.getDtype().str(), {attr.getBox().begin(), attr.getBox().end()},
        {attr.getElementStrides().begin(), attr.getElementStrides().end()},
        attr.getSwizzle().str(), attr.getFill().str(), attr.getL2().str());
    if (!form)
      return op.emitOpError(form.message());
    LaunchTensorMap &map = param.tensorMap.emplace();
    map.form = std::move(*form);
    std::optional<SmallVector<LaunchExpr>> memory =
        exprs.exportSizes(op.getSource());
    for (auto [affine, numbers] :
         {std::pair(attr.getSizes().getValue(), &map.sizes),
          std::pair(attr.getStrides().getValue(), &map.strides)})
      for (AffineExpr expr : llvm::reverse(affine.getResults())) {
        std::optional<LaunchExpr> number =
            memory ? exprs.substitute(expr, {}, *memory) : std::nullopt;
        if (!number)
          return op.emitOpError("not supported in this version: a tensor map "
                                "whose sizes are not computed from those "
                                "of arguments");
        numbers->push_back(std::move(*number));
      }
    return success();
  }

  std::optional<LaunchExpr> countBytes(memref::AllocOp alloc) {
    Type element = alloc.getType().getElementType();
    unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    std::optional<SmallVector<LaunchExpr>> sizes = exprs.exportSizes(alloc);
    if (!sizes)
      return std::nullopt;
    LaunchExpr bytes = static_cast<int64_t>(llvm::divideCeil(bits, 8));
    for (const LaunchExpr &size : *sizes)
      bytes = LaunchExpr::make(LaunchExpr::Kind::Mul, size, bytes);
    return bytes;
  }

  func::FuncOp function;
  unsigned numArguments;
  LaunchExprExporter exprs;
  DenseMap<Operation *, LaunchExpr> offsets;
};

} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The (elements, bytes) of buffer number `i` of `function`, whose elements
/// were of `type` before it became a buffer of bytes.
static PackedUnit getUnit(func::FuncOp function, unsigned i,
                          RankedTensorType type) {
  std::optional<Format> format = getElementFormat(type.getElementType());
  if (!format || type.getRank() == 0)
    return {1, 1};
  unsigned bits = getFormatInfo(*format).bits;
  int64_t count = type.getShape().back();
  auto buffer = cast<MemRefType>(function.getArgumentTypes()[i]);
  bool isPacked = ShapedType::isDynamic(count)
                      ? bits == 4 || function.getArgAttr(i, kCodeBitsAttrName)
                      : buffer.getShape().back() != count;
  return isPacked ? getPackedUnit(bits) : PackedUnit{1, 1};
}

/// The contents of buffer number `i` of `function`, which has `type` in the
/// program. Without dtype, no array can have such elements.
static FailureOr<std::optional<LaunchOperand>>
exportOperand(func::FuncOp function, unsigned i, Type type, bool isArgument) {
  std::optional<ElementStorage> storage =
      getElementStorage(getElementTypeOrSelf(type));
  if (!storage)
    return std::optional<LaunchOperand>();
  LaunchOperand operand;
  operand.dtype = storage->dtype;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::optional(operand);
  PackedUnit unit = getUnit(function, i, tensor);
  operand.elements = static_cast<uint32_t>(unit.elements);
  operand.bytes = static_cast<uint32_t>(unit.bytes);
  LaunchExprExporter exprs(function);
  std::optional<SmallVector<LaunchExpr>> sizes;
  if (!isArgument)
    sizes = exprs.exportSizes(function.getArgument(i));
  for (auto [dim, known] : llvm::enumerate(tensor.getShape())) {
    bool isPacked = dim + 1 == tensor.getShape().size() && unit.elements != 1;
    if (!ShapedType::isDynamic(known)) {
      operand.shape.emplace_back(known);
      continue;
    }
    if (isArgument) {
      ArgumentSize size = {i, static_cast<uint32_t>(dim)};
      if (isPacked) {
        size.elements = operand.elements;
        size.bytes = operand.bytes;
      }
      operand.shape.push_back(LaunchExpr::ofSize(size));
      continue;
    }
    if (!sizes)
      return function.emitError("not supported in this version: a result of a "
                                "size, in dimension ")
             << dim << ", that is not computed from sizes of arguments";
    LaunchExpr size = (*sizes)[dim];
    if (isPacked)
      size = LaunchExpr::make(
          LaunchExpr::Kind::Mul,
          LaunchExpr::make(LaunchExpr::Kind::CeilDiv, size, unit.bytes),
          unit.elements);
    operand.shape.push_back(std::move(size));
  }
  return std::optional(operand);
}

FailureOr<LaunchInfo> blockscale::exportLaunchInfo(func::FuncOp function,
                                                   FunctionType type,
                                                   std::string_view target) {
  unsigned numArguments = type.getNumInputs();
  InfoExporter exporter(function, numArguments);
  exporter.exportWorkspace();
  WalkResult result = function.walk([&](gpu::LaunchFuncOp op) -> WalkResult {
    return exporter.exportLaunch(op);
  });
  if (result.wasInterrupted())
    return failure();
  function.walk([&](cf::AssertOp op) { exporter.exportCheck(op); });
  LaunchInfo info = std::move(exporter.info);
  info.target = std::string(target);
  auto types = llvm::to_vector(
      llvm::concat<const Type>(type.getInputs(), type.getResults()));
  for (auto [i, operandType] : llvm::enumerate(types)) {
    FailureOr<std::optional<LaunchOperand>> operand =
        exportOperand(function, i, operandType, i < numArguments);
    if (failed(operand))
      return failure();
    if (!*operand) {
      info.operands.clear();
      break;
    }
    info.operands.push_back(std::move(**operand));
  }
  return info;
}
