//===- KnownAlignment.cpp - Where memory is known to start ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Wide loads need aligned addresses. Parameters, allocations and subviews
// together prove the alignment.
//
//===----------------------------------------------------------------------===//

#include "Utils/KnownAlignment.h"

#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace mlir::blockscale;

/// Whether `index` elements of `stride` bytes are a multiple of `bytes`.
static bool isByteMultiple(OpFoldResult index, int64_t stride, int64_t bytes,
                           IsMultipleFn isMultiple) {
  if (ShapedType::isDynamic(stride))
    return false;
  return isKnownMultiple(index, bytes / std::gcd(stride, bytes), isMultiple);
}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

/// The attribute of a parameter or workgroup attribution of a gpu.func.
static Attribute getAlignAttr(BlockArgument arg) {
  auto function =
      dyn_cast_or_null<gpu::GPUFuncOp>(arg.getOwner()->getParentOp());
  if (!function || !arg.getOwner()->isEntryBlock())
    return Attribute();
  StringRef name = LLVM::LLVMDialect::getAlignAttrName();
  unsigned index = arg.getArgNumber();
  unsigned numParameters = function.getNumArguments();
  if (index < numParameters)
    return function.getArgAttr(index, name);
  index -= numParameters;
  if (index < function.getNumWorkgroupAttributions())
    return function.getWorkgroupAttributionAttr(index, name);
  return Attribute();
}

/// The alignment of the buffer that starts at `memory`; 1 if none is stated.
static int64_t getStatedAlignment(Value memory) {
  if (auto arg = dyn_cast<BlockArgument>(memory)) {
    auto attr = dyn_cast_or_null<IntegerAttr>(getAlignAttr(arg));
    return attr ? attr.getInt() : 1;
  }
  return TypeSwitch<Operation *, int64_t>(memory.getDefiningOp())
      .Case<memref::AllocOp, memref::AllocaOp>(
          [](auto op) { return op.getAlignment().value_or(1); })
      .Case([](memref::GetGlobalOp op) {
        auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
            op, op.getNameAttr());
        return global ? global.getAlignment().value_or(1) : 1;
      })
      .Case([](memref::AssumeAlignmentOp op) { return op.getAlignment(); })
      .Default([](Operation *) { return 1; });
}

/// Whether, by the type of `memory`, the first element is a multiple of `bytes`
/// after the start of the buffer.
static bool isOffsetMultiple(Value memory, int64_t bytes) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(cast<MemRefType>(memory.getType())
                       .getStridesAndOffset(strides, offset)) &&
         !ShapedType::isDynamic(offset) && offset % bytes == 0;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Whether a subview starts a multiple of `bytes` after its source.
static bool isOffsetMultiple(memref::SubViewOp op, int64_t bytes,
                             IsMultipleFn isMultiple) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(op.getSourceType().getStridesAndOffset(strides, offset)) &&
         llvm::all_of(llvm::zip_equal(op.getMixedOffsets(), strides),
                      [&](auto of) {
                        return isByteMultiple(std::get<0>(of), std::get<1>(of),
                                              bytes, isMultiple);
                      });
}

/// The memory that `memory` starts a multiple of `bytes` after; null if none is
/// known.
static Value getAlignedSource(Value memory, int64_t bytes,
                              IsMultipleFn isMultiple) {
  Operation *producer = memory.getDefiningOp();
  if (!producer)
    return Value();
  return TypeSwitch<Operation *, Value>(producer)
      .Case<memref::AssumeAlignmentOp, memref::CastOp,
            memref::MemorySpaceCastOp, memref::CollapseShapeOp,
            memref::ExpandShapeOp>([](auto op) { return op.getViewSource(); })
      .Case([&](memref::SubViewOp op) {
        return isOffsetMultiple(op, bytes, isMultiple) ? op.getSource()
                                                       : Value();
      })
      .Case([&](memref::ViewOp op) {
        return isKnownMultiple(op.getByteShift(), bytes, isMultiple)
                   ? op.getSource()
                   : Value();
      })
      .Default(Value());
}

bool blockscale::isKnownAligned(Value memory, int64_t bytes,
                                IsMultipleFn isMultiple) {
  // In unreachable blocks, ops may form a cycle.
  llvm::SmallPtrSet<Value, 8> visited;
  while (memory && isa<MemRefType>(memory.getType()) &&
         visited.insert(memory).second) {
    int64_t stated = getStatedAlignment(memory);
    if (stated > 0 && stated % bytes == 0 && isOffsetMultiple(memory, bytes))
      return true;
    memory = getAlignedSource(memory, bytes, isMultiple);
  }
  return false;
}

bool blockscale::areKnownAligned(Value memory, ArrayRef<Value> indices,
                                 ArrayRef<bool> isFree, int64_t bytes,
                                 IsMultipleFn isMultiple) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(cast<MemRefType>(memory.getType())
                 .getStridesAndOffset(strides, offset)))
    return false;
  for (auto [index, stride, isAny] :
       llvm::zip_equal(indices, strides, isFree)) {
    if (isAny ? ShapedType::isDynamic(stride) || stride % bytes != 0
              : !isByteMultiple(index, stride, bytes, isMultiple))
      return false;
  }
  return isKnownAligned(memory, bytes, isMultiple);
}
