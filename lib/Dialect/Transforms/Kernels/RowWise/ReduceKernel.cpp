//===- ReduceKernel.cpp - Reductions along rows ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp or block reduction. Every lane starts with the neutral element and
// goes through its own elements; the value that the result starts with is
// joined once, at the end.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/ElementwiseFusion.h"
#include "Kernels/RowWise/RowWiseProblem.h"
#include "Utils/IndexValues.h"
#include "Utils/PackedElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Ops whose order does not matter
//===----------------------------------------------------------------------===//

namespace {
struct Join {
  StringRef name;
  bool (*isFor)(Type);
};
} // namespace

static bool isAnyFloat(Type type) { return isa<FloatType>(type); }
static bool isAnyInteger(Type type) { return isa<IntegerType>(type); }
/// Sums in narrower types lose too many bits for another order to be as good.
static bool isWide(Type type) { return type.isF32() || type.isF64(); }

static constexpr Join joins[] = {
    {"arith.addf", isWide},         {"arith.maximumf", isAnyFloat},
    {"arith.minimumf", isAnyFloat}, {"arith.maxnumf", isAnyFloat},
    {"arith.minnumf", isAnyFloat},  {"arith.addi", isAnyInteger},
    {"arith.muli", isAnyInteger},   {"arith.andi", isAnyInteger},
    {"arith.ori", isAnyInteger},    {"arith.xori", isAnyInteger},
    {"arith.maxsi", isAnyInteger},  {"arith.maxui", isAnyInteger},
    {"arith.minsi", isAnyInteger},  {"arith.minui", isAnyInteger},
};

Operation *blockscale::findJoin(linalg::LinalgOp op) {
  Block &body = *op.getBlock();
  BlockArgument before = op.getRegionOutputArgs().front();
  Operation *join = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!join || join->getBlock() != &body || !before.hasOneUse() ||
      *before.user_begin() != join || !join->hasOneUse())
    return nullptr;
  Type type = join->getResult(0).getType();
  bool isKnown = llvm::any_of(joins, [&](const Join &row) {
    return join->getName().getStringRef() == row.name && row.isFor(type);
  });
  return isKnown ? join : nullptr;
}

/// The neutral element. For maxnum and minnum that is NaN.
static TypedAttr getNeutral(Operation *join) {
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(join)) {
    auto type = cast<FloatType>(join->getResult(0).getType());
    return FloatAttr::get(type, APFloat::getNaN(type.getFloatSemantics()));
  }
  return *arith::getNeutralElement(join);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

linalg::LinalgOp ReduceProblem::getLoops() const {
  linalg::GenericOp generic = op;
  return cast<linalg::LinalgOp>(generic.getOperation());
}

std::optional<std::pair<unsigned, unsigned>>
ReduceProblem::findSize(unsigned loop) const {
  linalg::LinalgOp generic = getLoops();
  AffineExpr expr = getAffineDimExpr(loop, generic.getContext());
  for (OpOperand &operand : generic->getOpOperands()) {
    bool isResult = generic.isDpsInit(&operand);
    auto known = llvm::find(inputs, operand.get());
    if (known == inputs.end() && !isResult)
      continue;
    // The result has the sizes of its initial value.
    unsigned parameter =
        isResult ? inputs.size() : unsigned(known - inputs.begin());
    for (auto [dim, result] :
         llvm::enumerate(generic.getMatchingIndexingMap(&operand).getResults()))
      if (result == expr)
        return std::pair(parameter, unsigned(dim));
  }
  return std::nullopt;
}

bool ReduceProblem::hasSizes() const {
  linalg::LinalgOp generic = getLoops();
  for (auto [loop, size] : llvm::enumerate(generic.getStaticLoopRanges()))
    if (ShapedType::isDynamic(size) && !findSize(loop))
      return false;
  return true;
}

Value ReduceProblem::getSize(OpBuilder &b, gpu::GPUFuncOp kernel,
                             unsigned loop) const {
  linalg::LinalgOp generic = getLoops();
  int64_t known = generic.getStaticLoopRanges()[loop];
  if (!ShapedType::isDynamic(known))
    return makeIndex(b, kernel.getLoc(), known);
  auto [parameter, dim] = *findSize(loop);
  return memref::DimOp::create(b, kernel.getLoc(),
                               kernel.getArgument(parameter),
                               static_cast<int64_t>(dim));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
class ReduceKernel {
public:
  ReduceKernel(OpBuilder &b, gpu::GPUFuncOp kernel,
               const ReduceProblem &problem)
      : b(b), loc(kernel.getLoc()), kernel(kernel), problem(problem),
        op(problem.op), join(findJoin(cast<linalg::LinalgOp>(*op))),
        lanes(b, kernel, problem.plan) {}

  void build() {
    SmallVector<Value> rowSizes, sizes;
    for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
      bool isRow = type == utils::IteratorType::parallel;
      (isRow ? rowSizes : sizes).push_back(problem.getSize(b, kernel, loop));
    }
    lanes.emitIfRow(b, emitProduct(b, loc, rowSizes), [&](OpBuilder &inner) {
      buildRow(inner, emitIndices(inner, loc, lanes.getRow(), rowSizes), sizes);
    });
    gpu::ReturnOp::create(b, loc);
  }

private:
  /// Indices of all loops.
  SmallVector<Value> mergeIndices(ValueRange ofRow, ValueRange along) {
    SmallVector<Value> indices;
    for (utils::IteratorType type : op.getIteratorTypesArray()) {
      ValueRange &from = type == utils::IteratorType::parallel ? ofRow : along;
      indices.push_back(from.front());
      from = from.drop_front();
    }
    return indices;
  }

  Value emitJoin(OpBuilder &at, Value x, Value y) {
    Operation *clone = at.clone(*join);
    clone->setOperands({x, y});
    return clone->getResult(0);
  }

  Value getParameter(Value input) {
    auto known = llvm::find(problem.inputs, input);
    return kernel.getArgument(known - problem.inputs.begin());
  }

  void buildRow(OpBuilder &at, ArrayRef<Value> row, ArrayRef<Value> sizes) {
    Value length = emitProduct(at, loc, sizes);
    Value step = makeIndex(at, loc, problem.plan.lanes);
    Value neutral = arith::ConstantOp::create(at, loc, getNeutral(join));
    auto loop =
        scf::ForOp::create(at, loc, lanes.getLane(), length, step, neutral);
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    SmallVector<Value> position = mergeIndices(
        row, emitIndices(inner, loc, loop.getInductionVar(), sizes));
    Value next = emitElement(
        inner, op, position,
        [&](OpBuilder &o, Value input, ArrayRef<Value> indices) -> Value {
          if (input == op.getDpsInits().front())
            return loop.getRegionIterArg(0);
          Value parameter = getParameter(input);
          if (!isa<MemRefType>(parameter.getType()))
            return parameter;
          return memref::LoadOp::create(o, loc, parameter, indices);
        });
    scf::YieldOp::create(inner, loc, next);
    Value result =
        lanes.join(at, loop.getResult(0), [&](OpBuilder &o, Value x, Value y) {
          return emitJoin(o, x, y);
        });

    Value zero = makeIndex(at, loc, 0);
    Value isFirst = isEqual(at, loc, lanes.getLane(), zero);
    OpBuilder then = scf::IfOp::create(at, loc, isFirst).getThenBodyBuilder();
    OpOperand *init = op.getDpsInitOperand(0);
    // Only the result is indexed by these loops alone.
    SmallVector<Value> outputIndex =
        applyMap(then, loc, op.getMatchingIndexingMap(init),
                 mergeIndices(row, SmallVector<Value>(sizes.size(), zero)));
    Value before = problem.start
                       ? then.clone(*problem.start)->getResult(0)
                       : memref::LoadOp::create(
                             then, loc, getParameter(init->get()), outputIndex)
                             .getResult();
    memref::StoreOp::create(then, loc, emitJoin(then, before, result),
                            kernel.getArgument(problem.inputs.size()),
                            outputIndex);
  }

  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp kernel;
  const ReduceProblem &problem;
  linalg::GenericOp op;
  Operation *join;
  RowWiseLanes lanes;
};
} // namespace

void blockscale::buildReduce(gpu::GPUFuncOp kernel,
                             const ReduceProblem &problem) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  ReduceKernel(b, kernel, problem).build();
}
