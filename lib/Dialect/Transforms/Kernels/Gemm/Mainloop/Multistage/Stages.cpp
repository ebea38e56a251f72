//===- Stages.cpp - Shared memory of multistage kernels -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/Stages.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Static shared memory that a kernel may have on every chip.
static constexpr int64_t kMaxStaticShared = 48 * 1024;

Stages::Stages(const PerOperand<SharedTile> &tiles, int64_t numStages)
    : tiles(tiles), numStages(numStages) {
  for (GemmOperand operand : kGemmOperands) {
    offsets[operand] = stageBytes;
    stageBytes += llvm::alignTo(tiles[operand].getNumBytes(), kBankRowBytes);
  }
}

Value Stages::getMemory(OpBuilder &b, Location loc, Value shared, Value offset,
                        GemmOperand operand, Type element) const {
  constexpr unsigned kByteBits = 8;
  SmallVector<int64_t> shape(tiles[operand].shape);
  shape.back() /= element.getIntOrFloatBitWidth() / kByteBits;
  auto type =
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(),
                      cast<MemRefType>(shared.getType()).getMemorySpace());
  Value at = offset;
  if (offsets[operand] != 0)
    at = arith::AddIOp::create(b, loc, offset,
                               makeIndex(b, loc, offsets[operand]));
  return memref::ViewOp::create(b, loc, type, shared, at, ValueRange());
}

Value Stages::advance(OpBuilder &b, Location loc, Value offset) const {
  if (numStages == 1)
    return offset;
  Value next =
      arith::AddIOp::create(b, loc, offset, makeIndex(b, loc, stageBytes));
  Value isEnd = isEqual(b, loc, next, makeIndex(b, loc, getNumBytes()));
  return arith::SelectOp::create(b, loc, isEnd, makeIndex(b, loc, 0), next);
}

int64_t blockscale::getDynamicBytes(int64_t bytes, int64_t others) {
  return bytes + others > kMaxStaticShared ? bytes : 0;
}

Value blockscale::addSharedArray(gpu::GPUFuncOp kernel, Type element,
                                 int64_t count) {
  auto space = gpu::AddressSpaceAttr::get(kernel.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type =
      MemRefType::get({count}, element, MemRefLayoutAttrInterface(), space);
  return kernel.addWorkgroupAttribution(type, kernel.getLoc());
}

Value blockscale::makeSharedMemory(OpBuilder &b, gpu::GPUFuncOp kernel,
                                   int64_t bytes, int64_t others) {
  Location loc = kernel.getLoc();
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto getType = [&](int64_t size) {
    return MemRefType::get({size}, b.getI8Type(), MemRefLayoutAttrInterface(),
                           space);
  };
  if (getDynamicBytes(bytes, others) != 0)
    return gpu::DynamicSharedMemoryOp::create(b, loc,
                                              getType(ShapedType::kDynamic));
  Value memory =
      kernel.addWorkgroupAttribution(getType(std::max<int64_t>(bytes, 1)), loc);
  kernel.setWorkgroupAttributionAttr(kernel.getNumWorkgroupAttributions() - 1,
                                     LLVM::LLVMDialect::getAlignAttrName(),
                                     b.getI64IntegerAttr(kBankRowBytes));
  return memory;
}
