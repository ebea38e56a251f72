//===- SwizzleKernel.cpp - Scales into the 32x4x4 layout ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeAccess.h"
#include "KernelBodies.h"
#include "OperandView.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr int64_t kThreads = 256;
/// A thread moves two words of four scales of one row.
static constexpr int64_t kWords = 2;
static constexpr int64_t kScales = kWords * kScalesPerWord;

// The lanes of a warp, from the fastest index on: four groups of eight scales
// of a row, the four rows of an atom that are 32 apart, two rows that are
// neighbors. So each row that is read, and each line of two rows that is
// written, is a whole sector of 32 bytes.
static constexpr int64_t kGroups = 4;
static constexpr int64_t kQuarters = kScaleAtomRows / kScaleAtomOuter;
static constexpr int64_t kNeighbors = 2;

namespace {
/// The numbers of warps along each index of the scales.
struct Extents {
  explicit Extents(const SwizzleProblem &problem)
      : pairs(kScaleAtomOuter / kNeighbors),
        strips(llvm::divideCeilSigned(problem.columns, kGroups * kScales)),
        atoms(llvm::divideCeilSigned(problem.rows, kScaleAtomRows)),
        warps(pairs * strips * atoms * problem.batch) {}

  int64_t pairs, strips, atoms, warps;
};

class SwizzleKernel {
public:
  SwizzleKernel(gpu::GPUFuncOp kernel, const SwizzleProblem &problem)
      : kernel(kernel), problem(problem), extents(problem),
        loc(kernel.getLoc()) {}

  void build() {
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    AffineExpr number = d0 * kThreads + d1;
    AffineExpr lane = d1 % kWarpLanes, warp = number.floorDiv(kWarpLanes);
    AffineExpr group = lane % kGroups;
    AffineExpr quarter = lane.floorDiv(kGroups) % kQuarters;
    AffineExpr neighbor = lane.floorDiv(kGroups * kQuarters);
    AffineExpr pair = warp % extents.pairs;
    warp = warp.floorDiv(extents.pairs);
    AffineExpr strip = warp % extents.strips;
    warp = warp.floorDiv(extents.strips);
    AffineExpr atom = warp % extents.atoms;
    SmallVector<Value> at = applyMap(
        b, loc,
        AffineMap::get(2, 0,
                       {warp.floorDiv(extents.atoms),
                        atom * kScaleAtomRows + quarter * kScaleAtomOuter +
                            pair * kNeighbors + neighbor,
                        (strip * kGroups + group) * kScales},
                       b.getContext()),
        {block, thread});
    // The last block may have more warps than there are.
    Value isWarp = isBelow(b, at[0], problem.batch);
    auto guard = scf::IfOp::create(b, loc, isWarp);
    gpu::ReturnOp::create(b, loc);
    OpBuilder inner = guard.getThenBodyBuilder();
    move(inner, at[0], at[1], at[2]);
  }

private:
  Value index(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  Value isBelow(OpBuilder &b, Value value, int64_t size) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, value,
                                 index(b, size));
  }

  SmallVector<Value> getPosition(Value batch, Value row, Value column) {
    if (problem.rank == 2)
      return {row, column};
    return {batch, row, column};
  }

  void move(OpBuilder &b, Value batch, Value row, Value column) {
    auto type = VectorType::get(kScalesPerWord, b.getI8Type());
    // Eight scales at once where they are aligned.
    Value both;
    if (problem.columns % kScales == 0) {
      auto wide = VectorType::get(kScales, b.getI8Type());
      both = loadVector(b, wide, batch, row, column);
      both = vector::BitCastOp::create(
          b, loc, VectorType::get(kWords, b.getI32Type()), both);
    }
    int64_t storedColumns = llvm::alignTo(problem.columns, kScaleAtomBlocks);
    for (int64_t word = 0; word != kWords; ++word) {
      Value first = arith::AddIOp::create(b, loc, column,
                                          index(b, word * kScalesPerWord));
      // Strips are wider than the atoms may be.
      auto inAtoms =
          scf::IfOp::create(b, loc, isBelow(b, first, storedColumns));
      OpBuilder then = inAtoms.getThenBodyBuilder();
      Value scales;
      if (both) {
        Value one = vector::ExtractOp::create(then, loc, both, word);
        one = vector::FromElementsOp::create(
            then, loc, VectorType::get(1, b.getI32Type()), one);
        scales = vector::BitCastOp::create(then, loc, type, one);
      } else if (problem.columns % kScalesPerWord == 0) {
        scales = loadVector(then, type, batch, row, first);
      } else {
        scales = loadBytes(then, type, batch, row, first);
      }
      SmallVector<Value> to =
          applyMap(then, loc, getSwizzleMap(b.getContext(), problem.rank),
                   getPosition(batch, row, first));
      vector::StoreOp::create(
          then, loc, scales, kernel.getArgument(problem.result), to,
          /*nontemporal=*/false, llvm::MaybeAlign(kScalesPerWord));
    }
  }

  /// Scales of a row that are aligned to their number; zeros beyond the last
  /// row and column.
  Value loadVector(OpBuilder &b, VectorType type, Value batch, Value row,
                   Value column) {
    Value memory = kernel.getArgument(problem.argument);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    return emitGuarded(b, row, column, zero, [&](OpBuilder &then) -> Value {
      return vector::LoadOp::create(
          then, loc, type, memory, getPosition(batch, row, column),
          /*nontemporal=*/false, llvm::MaybeAlign(type.getNumElements()));
    });
  }

  Value loadBytes(OpBuilder &b, VectorType type, Value batch, Value row,
                  Value column) {
    Value memory = kernel.getArgument(problem.argument);
    Value zero = arith::ConstantIntOp::create(b, loc, b.getI8Type(), 0);
    SmallVector<Value> bytes;
    for (int64_t i = 0; i != kScalesPerWord; ++i) {
      Value at = arith::AddIOp::create(b, loc, column, index(b, i));
      bytes.push_back(
          emitGuarded(b, row, at, zero, [&](OpBuilder &then) -> Value {
            return memref::LoadOp::create(then, loc, memory,
                                          getPosition(batch, row, at));
          }));
    }
    return vector::FromElementsOp::create(b, loc, type, bytes);
  }

  Value emitGuarded(OpBuilder &b, Value row, Value column, Value otherwise,
                    function_ref<Value(OpBuilder &)> load) {
    Value isRow = isBelow(b, row, problem.rows);
    Value isColumn = isBelow(b, column, problem.columns);
    Value inside = arith::AndIOp::create(b, loc, isRow, isColumn);
    return emitLoadIf(b, loc, inside, load, otherwise);
  }

  gpu::GPUFuncOp kernel;
  const SwizzleProblem &problem;
  Extents extents;
  Location loc;
};
} // namespace

KernelShape blockscale::getSwizzleKernelShape(const SwizzleProblem &problem) {
  int64_t warps = Extents(problem).warps;
  return {{llvm::divideCeilSigned(warps, kThreads / kWarpLanes), 1, 1},
          {kThreads, 1, 1}};
}

void blockscale::buildSwizzleKernel(gpu::GPUFuncOp kernel,
                                    const SwizzleProblem &problem) {
  SwizzleKernel(kernel, problem).build();
}
