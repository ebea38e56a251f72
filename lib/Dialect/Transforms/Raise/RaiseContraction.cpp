//===- RaiseContraction.cpp - Sums of products ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts named and generic ops of linalg, sums in bodies, and vector.contract
// to the one form that the matcher uses.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseContraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The loops themselves, as the indices of a body.
static Access getLoopAccess(MLIRContext *context, unsigned numLoops) {
  Access access;
  for (unsigned loop = 0; loop != numLoops; ++loop)
    access.index.push_back(getAffineDimExpr(loop, context));
  access.isWhole.assign(numLoops, true);
  return access;
}

static Contraction makeContraction(unsigned numLoops,
                                   ArrayRef<unsigned> reductions,
                                   AffineMap accMap, Value acc) {
  Contraction result;
  result.loops.extents.assign(numLoops, ShapedType::kDynamic);
  result.loops.divisors.resize(numLoops);
  result.reductions.assign(reductions.begin(), reductions.end());
  result.acc = acc;
  result.accIndex = llvm::to_vector(accMap.getResults());
  return result;
}

/// Learns the extents of loops from the static sizes of `value`.
static void addExtents(Loops &loops, AffineMap map, Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || type.getRank() != map.getNumResults())
    return;
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), type.getShape()))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      if (!ShapedType::isDynamic(size))
        loops.extents[loop.getPosition()] = size;
}

/// The value that the body of `op` adds to the accumulator; null if the body
/// has another form.
static Value getAddend(linalg::LinalgOp op, std::string &problem) {
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  auto add = yielded.getDefiningOp<arith::AddFOp>();
  if (add) {
    BlockArgument acc = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
    if (add.getLhs() == acc)
      return add.getRhs();
    if (add.getRhs() == acc)
      return add.getLhs();
  }
  Operation *producer = yielded.getDefiningOp();
  problem = "expected a body that adds one product to the accumulator";
  if (producer && !add)
    problem += ", got '" + producer->getName().getStringRef().str() + "'";
  return nullptr;
}

/// Adds each value in the body of an op that is not a sum of products, to find
/// out whether the body dequantizes.
static void addBodyValues(Contraction &contraction, const Access &loops,
                          linalg::LinalgOp op) {
  static constexpr unsigned kMaxValues = 16;
  for (Operation &bodyOp : op.getBlock()->without_terminator()) {
    if (!isa<arith::ExtFOp, arith::ScalingExtFOp>(bodyOp) ||
        contraction.inputs.size() == kMaxValues)
      continue;
    Access &access = contraction.inputs.emplace_back(loops);
    access.value = bodyOp.getResult(0);
    access.body = op;
  }
}

static std::optional<Contraction> describe(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() < 2 ||
      op.getNumDpsInits() == 0 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return isSmall(map); }))
    return std::nullopt;
  OpOperand &init = *op.getDpsInitOperand(0);
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  Contraction result =
      makeContraction(op.getNumLoops(), reductions,
                      op.getMatchingIndexingMap(&init), init.get());
  for (OpOperand &operand : op->getOpOperands())
    addExtents(result.loops, op.getMatchingIndexingMap(&operand),
               operand.get());

  Access loops = getLoopAccess(op.getContext(), op.getNumLoops());
  if (op.getNumDpsInits() != 1)
    result.problem =
        "expected one result, got " + std::to_string(op.getNumDpsInits());
  else if (!op.hasPureTensorSemantics())
    result.problem = "expected tensors, got operands in memory";
  Value addend;
  if (result.problem.empty())
    addend = getAddend(op, result.problem);
  if (addend) {
    loops.value = addend;
    loops.body = op;
    result.inputs.push_back(loops);
    return result;
  }
  for (OpOperand *operand : op.getDpsInputOperands())
    result.inputs.push_back(accessOperand(loops, op, *operand, result.loops));
  addBodyValues(result, loops, op);
  return result;
}

static bool isScalable(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.isScalable();
}

static std::optional<Contraction> describe(vector::ContractionOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<unsigned> reductions;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == vector::IteratorType::reduction)
      reductions.push_back(loop);
  if (reductions.empty())
    return std::nullopt;
  Contraction result =
      makeContraction(maps[2].getNumDims(), reductions, maps[2], op.getAcc());
  Value operands[] = {op.getLhs(), op.getRhs()};
  for (auto [operand, map] : llvm::zip(operands, maps)) {
    addExtents(result.loops, map, operand);
    Access &access = result.inputs.emplace_back();
    access.value = operand;
    access.index = llvm::to_vector(map.getResults());
    access.isWhole.assign(map.getNumResults(), true);
  }
  if (op.getKind() != vector::CombiningKind::ADD)
    result.problem = "expected the combining kind add, got " +
                     vector::stringifyCombiningKind(op.getKind()).str();
  else if (op.isMasked())
    result.problem = "expected no mask";
  else if (llvm::any_of(op->getOperandTypes(), isScalable))
    result.problem = "expected vectors of fixed length";
  return result;
}

std::optional<Contraction> blockscale::describeContraction(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return describe(linalgOp);
  if (auto contract = dyn_cast<vector::ContractionOp>(op))
    return describe(contract);
  return std::nullopt;
}
