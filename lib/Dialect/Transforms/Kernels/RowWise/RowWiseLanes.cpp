//===- RowWiseLanes.cpp - Threads that share a row ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shuffles move 32 bits. Values of other types pass through an i32.
//
//===----------------------------------------------------------------------===//

#include "Kernels/RowWise/RowWiseLanes.h"

#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::blockscale;

/// Warps of a block if each warp has a row, and threads of a block that has one
/// row.
static constexpr int64_t kWarps = 4, kThreads = 256;
/// So many threads keep every chip busy: then a warp may have a long row.
static constexpr int64_t kManyThreads = int64_t(1) << 18;

RowWisePlan blockscale::getRowWisePlan(int64_t length, int64_t rows,
                                       int64_t longest) {
  bool isOne = rows == 1;
  bool isLong = ShapedType::isDynamic(length) ? isOne : length > longest;
  bool areMany = !ShapedType::isDynamic(rows) &&
                 rows >= kManyThreads / int64_t(kWarpLanes);
  if (isLong && !areMany)
    return {kThreads, 1};
  return {kWarpLanes, isOne ? 1 : kWarps};
}

RowWiseLanes::RowWiseLanes(OpBuilder &b, gpu::GPUFuncOp kernel,
                           const RowWisePlan &plan)
    : loc(kernel.getLoc()), kernel(kernel), plan(plan) {
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  lane = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  row = block;
  if (plan.rows == 1)
    return;
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  row = applyExprs(b, loc, {d0 * plan.rows + d1.floorDiv(plan.lanes)},
                   {block, lane})[0];
  lane = applyExprs(b, loc, {d0 % plan.lanes}, lane)[0];
}

void RowWiseLanes::emitIfRow(OpBuilder &b, Value numRows,
                             function_ref<void(OpBuilder &)> body) {
  if (plan.rows == 1)
    return body(b);
  Value isRow = isBelow(b, loc, row, numRows);
  OpBuilder then = scf::IfOp::create(b, loc, isRow).getThenBodyBuilder();
  body(then);
}

Value RowWiseLanes::shuffle(OpBuilder &b, Value value, int64_t distance) {
  auto exchange = [&](Value word) {
    return emitShuffle(b, loc, word, distance);
  };
  constexpr unsigned kWordBits = 32;
  Type type = value.getType();
  Type word = b.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type bitsType = b.getIntegerType(bits);
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(b, loc, bitsType, value);
  if (bits < kWordBits) {
    value = exchange(arith::ExtUIOp::create(b, loc, word, value));
    value = arith::TruncIOp::create(b, loc, bitsType, value);
  } else if (bits == kWordBits) {
    value = exchange(value);
  } else {
    Value half = arith::ConstantIntOp::create(b, loc, bitsType, kWordBits);
    Value upper = arith::ShRUIOp::create(b, loc, value, half);
    Value low = exchange(arith::TruncIOp::create(b, loc, word, value));
    upper = exchange(arith::TruncIOp::create(b, loc, word, upper));
    upper = arith::ExtUIOp::create(b, loc, bitsType, upper);
    upper = arith::ShLIOp::create(b, loc, upper, half);
    low = arith::ExtUIOp::create(b, loc, bitsType, low);
    value = arith::OrIOp::create(b, loc, upper, low);
  }
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(b, loc, type, value);
  return value;
}

Value RowWiseLanes::joinInWarp(OpBuilder &b, Value value, int64_t lanes,
                               JoinFn join) {
  for (int64_t distance = lanes / 2; distance != 0; distance /= 2)
    value = join(b, value, shuffle(b, value, distance));
  return value;
}

Value RowWiseLanes::join(OpBuilder &b, Value value, JoinFn join) {
  value = joinInWarp(b, value, std::min<int64_t>(plan.lanes, kWarpLanes), join);
  int64_t warps = plan.lanes / int64_t(kWarpLanes);
  if (warps <= 1)
    return value;
  // One i32 for each warp, and new memory for each join: no thread still reads
  // what another join writes.
  auto type = MemRefType::get(
      {warps}, value.getType(), MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup));
  Value shared = kernel.addWorkgroupAttribution(type, loc);
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value warp = applyExprs(b, loc, {d0.floorDiv(kWarpLanes)}, lane)[0];
  Value inWarp = applyExprs(b, loc, {d0 % kWarpLanes}, lane)[0];
  Value zero = makeIndex(b, loc, 0);
  Value isFirst = isEqual(b, loc, inWarp, zero);
  OpBuilder then = scf::IfOp::create(b, loc, isFirst).getThenBodyBuilder();
  memref::StoreOp::create(then, loc, value, shared, warp);
  gpu::BarrierOp::create(b, loc);
  Value other = applyExprs(b, loc, {d0 % warps}, inWarp)[0];
  value = memref::LoadOp::create(b, loc, shared, other);
  return joinInWarp(b, value, warps, join);
}

int64_t blockscale::multiplySizes(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      return ShapedType::kDynamic;
    if (llvm::MulOverflow(product, size, product))
      return std::numeric_limits<int64_t>::max();
  }
  return product;
}

Value blockscale::emitProduct(OpBuilder &b, Location loc, ValueRange sizes) {
  if (sizes.empty())
    return makeIndex(b, loc, 1);
  Value product = sizes.front();
  for (Value size : sizes.drop_front())
    product = b.createOrFold<arith::MulIOp>(loc, product, size);
  return product;
}

SmallVector<Value> blockscale::emitIndices(OpBuilder &b, Location loc,
                                           Value linear, ValueRange sizes) {
  SmallVector<Value> indices(sizes.size());
  for (size_t i = sizes.size(); i-- != 0;) {
    if (i == 0) {
      indices[i] = linear;
      break;
    }
    indices[i] = arith::RemUIOp::create(b, loc, linear, sizes[i]);
    linear = arith::DivUIOp::create(b, loc, linear, sizes[i]);
  }
  return indices;
}
