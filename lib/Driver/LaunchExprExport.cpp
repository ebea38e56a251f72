//===- LaunchExprExport.cpp - Numbers of a launch -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns index arithmetic on the host into expressions of the launch info, since
// no host code runs at launch.
//
//===----------------------------------------------------------------------===//

#include "LaunchExprExport.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/IndexMap.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::blockscale;
using ExprKind = LaunchExpr::Kind;

/// Turns leaves into expressions; nullopt for operations.
using LeafFn = function_ref<std::optional<LaunchExpr>(AffineExpr)>;

static std::optional<LaunchExpr> convert(AffineExpr expr, LeafFn getLeaf) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (std::optional<LaunchExpr> leaf = getLeaf(expr))
    return leaf;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<LaunchExpr> lhs = convert(binary.getLHS(), getLeaf);
  std::optional<LaunchExpr> rhs = convert(binary.getRHS(), getLeaf);
  if (!lhs || !rhs)
    return std::nullopt;
  static constexpr std::pair<AffineExprKind, ExprKind> operations[] = {
      {AffineExprKind::Add, ExprKind::Add},
      {AffineExprKind::Mul, ExprKind::Mul},
      {AffineExprKind::CeilDiv, ExprKind::CeilDiv},
      {AffineExprKind::FloorDiv, ExprKind::FloorDiv},
      {AffineExprKind::Mod, ExprKind::Rem},
  };
  for (auto [kind, made] : operations)
    if (kind == expr.getKind())
      return LaunchExpr::make(made, *lhs, *rhs);
  return std::nullopt;
}

std::optional<LaunchExpr> LaunchExprExporter::matchSize(AffineExpr expr) const {
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
  // d, d * elements or d floordiv bytes * elements.
  take(AffineExprKind::Mul, size.elements);
  take(AffineExprKind::FloorDiv, size.bytes);
  auto dim = dyn_cast<AffineDimExpr>(expr);
  if (!dim)
    return std::nullopt;
  DynamicSize of = sizes[dim.getPosition()];
  auto [elements, bytes] = getElementsAndBytes(function, of);
  size.argument = of.argument;
  size.dimension = of.dim;
  bool isBytes = size.elements == 1 && size.bytes == 1;
  if (bytes != size.bytes || elements % size.elements != 0)
    return isBytes ? std::optional(LaunchExpr::ofSize(size)) : std::nullopt;
  // A common factor of `elements` and `bytes` may have been cancelled.
  int64_t divisor = elements / size.elements;
  size.elements = static_cast<uint32_t>(elements);
  return LaunchExpr::make(ExprKind::CeilDiv, LaunchExpr::ofSize(size), divisor);
}

std::optional<LaunchExpr>
LaunchExprExporter::exportExpr(AffineExpr expr) const {
  return convert(expr, [&](AffineExpr node) { return matchSize(node); });
}

std::optional<LaunchExpr>
LaunchExprExporter::substitute(AffineExpr expr, ArrayRef<LaunchExpr> dims,
                               ArrayRef<LaunchExpr> symbols) {
  return convert(expr, [&](AffineExpr node) -> std::optional<LaunchExpr> {
    if (auto dim = dyn_cast<AffineDimExpr>(node))
      return dims[dim.getPosition()];
    if (auto symbol = dyn_cast<AffineSymbolExpr>(node))
      return symbols[symbol.getPosition()];
    return std::nullopt;
  });
}

Value blockscale::getWholeMemory(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(
            op))
      break;
    view = op->getOperand(0);
  }
  return view;
}

std::optional<LaunchExpr> LaunchExprExporter::exportSize(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    return exportPart(value);
  return LaunchExpr(*getConstantIntValue(size));
}

std::optional<SmallVector<LaunchExpr>>
LaunchExprExporter::exportSizes(Value memory) {
  SmallVector<LaunchExpr> result;
  auto exportAll =
      [&](ArrayRef<OpFoldResult> of) -> std::optional<SmallVector<LaunchExpr>> {
    for (OpFoldResult size : of) {
      std::optional<LaunchExpr> expr = exportSize(size);
      if (!expr)
        return std::nullopt;
      result.push_back(std::move(*expr));
    }
    return std::move(result);
  };
  if (auto sizes = getResultSizes(function, memory))
    return exportAll(*sizes);
  if (auto alloc = memory.getDefiningOp<memref::AllocOp>())
    return exportAll(alloc.getMixedSizes());
  if (auto expand = memory.getDefiningOp<memref::ExpandShapeOp>())
    return exportAll(expand.getMixedOutputShape());
  if (auto sizes = getViewSizes(memory))
    return exportAll(*sizes);
  ArrayRef<int64_t> shape = cast<MemRefType>(memory.getType()).getShape();
  if (auto argument = dyn_cast<BlockArgument>(memory)) {
    for (auto [dim, known] : llvm::enumerate(shape))
      result.push_back(ShapedType::isDynamic(known)
                           ? LaunchExpr::ofSize({argument.getArgNumber(),
                                                 static_cast<uint32_t>(dim)})
                           : LaunchExpr(known));
    return result;
  }
  auto collapse = memory.getDefiningOp<memref::CollapseShapeOp>();
  auto cast = memory.getDefiningOp<memref::CastOp>();
  if (!collapse && !cast)
    return std::nullopt;
  std::optional<SmallVector<LaunchExpr>> inner =
      exportSizes(memory.getDefiningOp()->getOperand(0));
  if (!inner || cast)
    return inner;
  for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
    LaunchExpr product = 1;
    for (int64_t dim : group)
      product = LaunchExpr::make(ExprKind::Mul, product, (*inner)[dim]);
    result.push_back(std::move(product));
  }
  return result;
}

/// How each predicate is written with Eq and Lt alone: the operands may be
/// swapped, and the result may be negated. Sizes are not negative, so signed
/// and unsigned predicates are the same.
static constexpr struct {
  arith::CmpIPredicate predicate;
  ExprKind kind;
  bool isSwapped, isNegated;
} comparisons[] = {
    {arith::CmpIPredicate::eq, ExprKind::Eq, false, false},
    {arith::CmpIPredicate::ne, ExprKind::Eq, false, true},
    {arith::CmpIPredicate::slt, ExprKind::Lt, false, false},
    {arith::CmpIPredicate::ult, ExprKind::Lt, false, false},
    {arith::CmpIPredicate::sgt, ExprKind::Lt, true, false},
    {arith::CmpIPredicate::ugt, ExprKind::Lt, true, false},
    {arith::CmpIPredicate::sge, ExprKind::Lt, false, true},
    {arith::CmpIPredicate::uge, ExprKind::Lt, false, true},
    {arith::CmpIPredicate::sle, ExprKind::Lt, true, true},
    {arith::CmpIPredicate::ule, ExprKind::Lt, true, true},
};

/// Whether `op` means the same in a launch info, where all operands have a sign
/// and 64 bits.
static bool isExact(Operation *op, ArrayRef<LaunchExpr> operands) {
  auto cmp = dyn_cast<arith::CmpIOp>(op);
  static constexpr arith::CmpIPredicate unsignedPredicates[] = {
      arith::CmpIPredicate::ult, arith::CmpIPredicate::ule,
      arith::CmpIPredicate::ugt, arith::CmpIPredicate::uge};
  bool isUnsigned =
      cmp ? llvm::is_contained(unsignedPredicates, cmp.getPredicate())
          : isa<arith::MinUIOp, arith::MaxUIOp, arith::DivUIOp, arith::DivSIOp,
                arith::CeilDivUIOp, arith::RemUIOp, arith::RemSIOp,
                arith::IndexCastUIOp, arith::ExtUIOp>(op);
  // Arithmetic of 32 bits may wrap.
  if (op->getResult(0).getType().isInteger(32))
    return false;
  return !isUnsigned || llvm::all_of(operands, [](const LaunchExpr &operand) {
    return operand.isNonNegative();
  });
}

std::optional<LaunchExpr> LaunchExprExporter::exportCondition(Operation *op) {
  std::optional<LaunchExpr> lhs = exportPart(op->getOperand(0));
  std::optional<LaunchExpr> rhs = exportPart(op->getOperand(1));
  if (!lhs || !rhs || (isChoice && !isExact(op, {*lhs, *rhs})))
    return std::nullopt;
  auto cmp = dyn_cast<arith::CmpIOp>(op);
  if (isa<arith::XOrIOp>(op))
    return LaunchExpr::negate(
        *rhs == 1
            ? std::move(*lhs)
            : LaunchExpr::make(ExprKind::Eq, std::move(*lhs), std::move(*rhs)));
  // Of a conjunction, only as much is evaluated as is needed.
  if (isChoice && isa<arith::AndIOp>(op))
    return LaunchExpr::select(std::move(*lhs), std::move(*rhs), 0);
  if (!cmp)
    return LaunchExpr::make(isa<arith::AndIOp>(op) ? ExprKind::Min
                                                   : ExprKind::Max,
                            std::move(*lhs), std::move(*rhs));
  const auto *row = llvm::find_if(comparisons, [&](const auto &each) {
    return each.predicate == cmp.getPredicate();
  });
  if (row->isSwapped)
    std::swap(lhs, rhs);
  LaunchExpr condition = LaunchExpr::make(row->kind, *lhs, *rhs);
  return row->isNegated
             ? LaunchExpr::make(ExprKind::Eq, std::move(condition), 0)
             : condition;
}

std::optional<LaunchExpr>
LaunchExprExporter::exportChoicePart(Value condition) {
  llvm::SaveAndRestore<bool> guard(isChoice, true);
  return exportPart(condition);
}

std::optional<LaunchExpr> LaunchExprExporter::exportSelect(arith::SelectOp op) {
  if (!op.getCondition().getType().isInteger(1))
    return std::nullopt;
  std::optional<LaunchExpr> condition = exportChoicePart(op.getCondition());
  std::optional<LaunchExpr> then = exportPart(op.getTrueValue());
  std::optional<LaunchExpr> otherwise = exportPart(op.getFalseValue());
  if (!condition || !then || !otherwise)
    return std::nullopt;
  return LaunchExpr::select(std::move(*condition), std::move(*then),
                            std::move(*otherwise));
}

/// A quotient or a remainder of two values; other ops have an affine map.
std::optional<LaunchExpr> LaunchExprExporter::exportQuotient(Operation *op) {
  auto kind = TypeSwitch<Operation *, std::optional<ExprKind>>(op)
                  .Case([](arith::DivUIOp) { return ExprKind::FloorDiv; })
                  .Case([](arith::CeilDivUIOp) { return ExprKind::CeilDiv; })
                  .Case([](arith::RemUIOp) { return ExprKind::Rem; })
                  .Default(std::nullopt);
  if (!kind)
    return std::nullopt;
  std::optional<LaunchExpr> lhs = exportPart(op->getOperand(0)),
                            rhs = exportPart(op->getOperand(1));
  if (!lhs || !rhs || !isExact(op, {*lhs, *rhs}))
    return std::nullopt;
  return LaunchExpr::make(*kind, std::move(*lhs), std::move(*rhs));
}

std::optional<LaunchExpr> LaunchExprExporter::exportPart(Value value) {
  if (AffineExpr expr = getSizeExpr(function, value))
    if (std::optional<LaunchExpr> known = exportExpr(expr);
        known && (!isChoice || known->isNonNegative()))
      return known;
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return LaunchExpr(value.getType().isInteger(1) ? *known & 1 : *known);
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner()->getParentOp() == function &&
      (value.getType().isIndex() || value.getType().isInteger(32) ||
       value.getType().isInteger(64)))
    return LaunchExpr::ofValue(argument.getArgNumber());
  Operation *op = value.getDefiningOp();
  if (!op || numOps++ >= kMostOps)
    return std::nullopt;
  if (isa<SmCountOp>(op))
    return LaunchExpr::ofSms();
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return exportSelect(select);
  bool isLogical = isa<arith::AndIOp, arith::OrIOp>(op) ||
                   (isa<arith::XOrIOp>(op) && isChoice);
  if (isa<arith::CmpIOp>(op) || (isLogical && value.getType().isInteger(1)))
    return exportCondition(op);
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<SmallVector<LaunchExpr>> sizes = exportSizes(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!sizes || !index || *index < 0 ||
        *index >= static_cast<int64_t>(sizes->size()))
      return std::nullopt;
    return (*sizes)[*index];
  }
  // Affine min and max: the least or the largest of several results.
  AffineMap both = AffineMap::getMultiDimIdentityMap(2, op->getContext());
  auto [kind, map] = TypeSwitch<Operation *, std::pair<ExprKind, AffineMap>>(op)
                         .Case<arith::MinUIOp, arith::MinSIOp>([&](auto) {
                           return std::pair(ExprKind::Min, both);
                         })
                         .Case<arith::MaxUIOp, arith::MaxSIOp>([&](auto) {
                           return std::pair(ExprKind::Max, both);
                         })
                         .Case([](affine::AffineMinOp min) {
                           return std::pair(ExprKind::Min, min.getMap());
                         })
                         .Case([](affine::AffineMaxOp max) {
                           return std::pair(ExprKind::Max, max.getMap());
                         })
                         .Default([](Operation *other) {
                           return std::pair(ExprKind::Add, getIndexMap(other));
                         });
  if (!map)
    return exportQuotient(op);
  SmallVector<LaunchExpr> operands;
  for (Value operand : op->getOperands()) {
    std::optional<LaunchExpr> expr = exportPart(operand);
    if (!expr)
      return std::nullopt;
    operands.push_back(std::move(*expr));
  }
  if (isChoice && !isExact(op, operands))
    return std::nullopt;
  std::optional<LaunchExpr> combined;
  for (AffineExpr result : map.getResults()) {
    std::optional<LaunchExpr> expr =
        substitute(result, ArrayRef(operands).take_front(map.getNumDims()),
                   ArrayRef(operands).drop_front(map.getNumDims()));
    if (!expr)
      return std::nullopt;
    combined = combined ? LaunchExpr::make(kind, *combined, *expr) : *expr;
  }
  return combined;
}
