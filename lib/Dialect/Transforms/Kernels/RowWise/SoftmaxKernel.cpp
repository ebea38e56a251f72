//===- SoftmaxKernel.cpp - Softmax along rows -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One kernel for all steps. A row that the registers of its threads hold is
// read once; a longer one is read three times, and its exponentials are
// computed twice.
//
//===----------------------------------------------------------------------===//

#include "Kernels/RowWise/RowWiseProblem.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Values that a thread keeps in registers.
static constexpr int64_t kKept = 16;

int64_t blockscale::getLongestSoftmaxOfWarp() { return kKept * kWarpLanes; }

namespace {
class SoftmaxKernel {
public:
  SoftmaxKernel(OpBuilder &b, gpu::GPUFuncOp kernel,
                const SoftmaxProblem &problem)
      : b(b), loc(kernel.getLoc()), problem(problem), x(kernel.getArgument(0)),
        result(kernel.getArgument(1)), f32(b.getF32Type()),
        lanes(b, kernel, problem.plan) {}

  void build() {
    int64_t rank = problem.type.getRank();
    SmallVector<Value> rowSizes;
    for (int64_t dim = 0; dim + 1 < rank; ++dim)
      rowSizes.push_back(memref::DimOp::create(b, loc, x, dim));
    lanes.emitIfRow(b, emitProduct(b, loc, rowSizes), [&](OpBuilder &inner) {
      row = emitIndices(inner, loc, lanes.getRow(), rowSizes);
      int64_t length = problem.type.getShape().back();
      if (ShapedType::isDynamic(length) || length > kKept * problem.plan.lanes)
        buildLoops(inner);
      else
        buildKept(inner, length);
    });
    gpu::ReturnOp::create(b, loc);
  }

private:
  SmallVector<Value> getPosition(Value column) {
    SmallVector<Value> position = row;
    position.push_back(column);
    return position;
  }
  Value number(OpBuilder &at, float value) {
    return arith::ConstantOp::create(at, loc, at.getF32FloatAttr(value));
  }
  Value load(OpBuilder &at, Value column) {
    Value element = memref::LoadOp::create(at, loc, x, getPosition(column));
    if (element.getType() == f32)
      return element;
    return arith::ExtFOp::create(at, loc, f32, element);
  }
  void store(OpBuilder &at, Value column, Value share) {
    Type element = problem.type.getElementType();
    if (element != f32)
      share = arith::TruncFOp::create(at, loc, element, share);
    memref::StoreOp::create(at, loc, share, result, getPosition(column));
  }
  Value emitExp(OpBuilder &at, Value value, Value most) {
    Value difference = arith::SubFOp::create(at, loc, value, most);
    return math::ExpOp::create(at, loc, difference);
  }
  static Value larger(OpBuilder &at, Value one, Value other) {
    return arith::MaxNumFOp::create(at, one.getLoc(), one, other);
  }
  static Value add(OpBuilder &at, Value one, Value other) {
    return arith::AddFOp::create(at, one.getLoc(), one, other);
  }

  void buildKept(OpBuilder &at, int64_t length) {
    int64_t step = problem.plan.lanes;
    int64_t count = llvm::divideCeilSigned(length, step);
    Value least = number(at, -std::numeric_limits<float>::infinity());
    Value end = makeIndex(at, loc, length);
    SmallVector<Value> columns, isInside, values;
    for (int64_t i = 0; i != count; ++i) {
      columns.push_back(addIndex(at, loc, lanes.getLane(), i * step));
      isInside.push_back((i + 1) * step <= length
                             ? Value()
                             : isBelow(at, loc, columns[i], end));
      values.push_back(emitLoadIf(
          at, loc, isInside[i],
          [&](OpBuilder &then) { return load(then, columns[i]); }, least));
    }
    Value most;
    for (Value value : values)
      most = most ? larger(at, most, value) : value;
    most = lanes.join(at, most, larger);
    Value sum;
    for (auto [value, inside] : llvm::zip_equal(values, isInside)) {
      value = emitExp(at, value, most);
      if (inside)
        value =
            arith::SelectOp::create(at, loc, inside, value, number(at, 0.0f));
      sum = sum ? add(at, sum, value) : value;
    }
    sum = lanes.join(at, sum, add);
    for (int64_t i = 0; i != count; ++i) {
      OpBuilder then = at;
      if (isInside[i])
        then = scf::IfOp::create(at, loc, isInside[i]).getThenBodyBuilder();
      store(then, columns[i], arith::DivFOp::create(then, loc, values[i], sum));
    }
  }

  /// A loop over the columns of the thread: `next` joins the carried values and
  /// an element.
  Value emitLoop(OpBuilder &at, Value first,
                 function_ref<Value(OpBuilder &, Value, Value)> next) {
    Value end = memref::DimOp::create(at, loc, x, problem.type.getRank() - 1);
    Value step = makeIndex(at, loc, problem.plan.lanes);
    auto loop = scf::ForOp::create(at, loc, lanes.getLane(), end, step, first);
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    Value made = next(inner, loop.getRegionIterArg(0), loop.getInductionVar());
    scf::YieldOp::create(inner, loc, made);
    return loop.getResult(0);
  }

  void buildLoops(OpBuilder &at) {
    Value least = number(at, -std::numeric_limits<float>::infinity());
    Value most =
        emitLoop(at, least, [&](OpBuilder &inner, Value before, Value column) {
          return larger(inner, before, load(inner, column));
        });
    most = lanes.join(at, most, larger);
    Value sum = emitLoop(
        at, number(at, 0.0f),
        [&](OpBuilder &inner, Value before, Value column) {
          return add(inner, before, emitExp(inner, load(inner, column), most));
        });
    sum = lanes.join(at, sum, add);
    emitLoop(at, sum, [&](OpBuilder &inner, Value all, Value column) {
      Value value = emitExp(inner, load(inner, column), most);
      store(inner, column, arith::DivFOp::create(inner, loc, value, all));
      return all;
    });
  }

  OpBuilder &b;
  Location loc;
  const SoftmaxProblem &problem;
  Value x, result;
  Type f32;
  RowWiseLanes lanes;
  SmallVector<Value> row;
};
} // namespace

void blockscale::buildSoftmax(gpu::GPUFuncOp kernel,
                              const SoftmaxProblem &problem) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  SoftmaxKernel(b, kernel, problem).build();
}
