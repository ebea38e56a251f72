//===- OperandView.cpp - Reading operands where they are ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Folds transposes and unswizzles of operands into indexing maps, so that they
// cost nothing.
//
//===----------------------------------------------------------------------===//

#include "Utils/OperandView.h"

#include "Utils/MetadataLayout.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Layouts as maps
//===----------------------------------------------------------------------===//

AffineMap blockscale::getLayoutMap(MLIRContext *context,
                                   ArrayRef<LayoutTerm> terms,
                                   unsigned numLayoutDims,
                                   unsigned numLayoutResults,
                                   unsigned numDims) {
  unsigned numKept = numDims - numLayoutDims;
  SmallVector<AffineExpr> results;
  for (unsigned dim = 0; dim != numKept; ++dim)
    results.push_back(getAffineDimExpr(dim, context));
  results.append(numLayoutResults, getAffineConstantExpr(0, context));
  for (const LayoutTerm &term : terms) {
    AffineExpr value =
        getAffineDimExpr(numKept + term.dim, context).floorDiv(term.divisor);
    if (term.modulus != 0)
      value = value % term.modulus;
    AffineExpr &result = results[numKept + term.result];
    result = result + value * term.stride;
  }
  return AffineMap::get(numDims, /*symbolCount=*/0, results, context);
}

AffineMap blockscale::getSwizzleMap(MLIRContext *context, unsigned rank) {
  return getLayoutMap(context, kSwizzleTerms, /*numLayoutDims=*/2,
                      /*numLayoutResults=*/4, rank);
}

AffineMap blockscale::getUnswizzleMap(MLIRContext *context, unsigned rank) {
  return getLayoutMap(context, kUnswizzleTerms, /*numLayoutDims=*/4,
                      /*numLayoutResults=*/2, rank + 2);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The map from the result of a transpose to its source: dimension `i` of the
/// result is dimension `permutation[i]` of the source.
static AffineMap getTransposeMap(MLIRContext *context,
                                 ArrayRef<int64_t> permutation) {
  return inversePermutation(AffineMap::getPermutationMap(permutation, context));
}

/// Folds one op into `view`; false if there is none to fold.
static bool lookThrough(OperandView &view) {
  MLIRContext *context = view.map.getContext();
  Operation *producer = view.tensor.getDefiningOp();
  if (!producer)
    return false;
  auto step = [&](Value source, AffineMap map) {
    view = {source, map.compose(view.map)};
    return true;
  };
  return TypeSwitch<Operation *, bool>(producer)
      .Case([&](linalg::TransposeOp op) {
        return isa<RankedTensorType>(op.getInput().getType()) &&
               step(op.getInput(),
                    getTransposeMap(context, op.getPermutation()));
      })
      .Case([&](vector::TransposeOp op) {
        return step(op.getVector(),
                    getTransposeMap(context, op.getPermutation()));
      })
      .Case([&](UnswizzleScalesOp op) {
        unsigned rank = cast<ShapedType>(op.getType()).getRank();
        return step(op.getSource(), getSwizzleMap(context, rank));
      })
      .Case([&](UntileMetadataOp op) {
        unsigned rank = cast<ShapedType>(op.getType()).getRank();
        return step(op.getSource(), getTileMetadataMap(context, rank));
      })
      .Default(false);
}

OperandView blockscale::traceOperand(Value operand) {
  unsigned rank = cast<ShapedType>(operand.getType()).getRank();
  OperandView view = {
      operand, AffineMap::getMultiDimIdentityMap(rank, operand.getContext())};
  // In a graph region, ops may form a cycle.
  llvm::SmallPtrSet<Operation *, 8> visited;
  while (visited.insert(view.tensor.getDefiningOp()).second &&
         lookThrough(view)) {
  }
  return view;
}

Value blockscale::getReshaped(Value tensor) {
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
      tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor;
}

OperandView blockscale::getOperandView(OpBuilder &builder, Location loc,
                                       Value operand) {
  OperandView view = traceOperand(operand);
  view.tensor = convertToTensor(builder, loc, view.tensor);
  return view;
}

SmallVector<OpFoldResult> blockscale::getOperandSizes(OpBuilder &builder,
                                                      Location loc,
                                                      Value operand,
                                                      const OperandView &view) {
  if (isa<VectorType>(operand.getType()))
    return getAsIndexOpFoldResult(
        builder.getContext(), cast<ShapedType>(operand.getType()).getShape());
  if (!view.map.isPermutation())
    return tensor::getMixedSizes(builder, loc, operand);
  // Uses the sizes of the viewed tensor, so that a `tensor.dim` does not keep a
  // transpose alive.
  SmallVector<OpFoldResult> sizes(view.map.getNumDims());
  for (auto [dim, expr] : llvm::enumerate(view.map.getResults()))
    sizes[cast<AffineDimExpr>(expr).getPosition()] =
        tensor::getMixedSize(builder, loc, view.tensor, dim);
  return sizes;
}

bool blockscale::isZeroSplat(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs().front();
  return matchPattern(value, m_AnyZeroFloat());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value blockscale::computeElements(
    OpBuilder &builder, Location loc, ValueRange inputs,
    ArrayRef<AffineMap> maps, Value init,
    function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  unsigned rank = cast<ShapedType>(init.getType()).getRank();
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, init.getType(), inputs, init, allMaps, loops,
             [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
               linalg::YieldOp::create(b, bodyLoc, body(b, bodyLoc, args));
             })
      .getResult(0);
}

SmallVector<Value> blockscale::getLoopIndices(OpBuilder &builder, Location loc,
                                              unsigned rank) {
  return llvm::map_to_vector(
      llvm::seq<int64_t>(0, rank), [&](int64_t dim) -> Value {
        return linalg::IndexOp::create(builder, loc, dim);
      });
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value blockscale::convertToTensor(OpBuilder &builder, Location loc,
                                  Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return value;
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> indices(type.getRank(), zero);
  SmallVector<bool> inBounds(type.getRank(), true);
  return vector::TransferWriteOp::create(builder, loc, value, empty, indices,
                                         ArrayRef<bool>(inBounds))
      .getResult();
}

Value blockscale::convertFromTensor(OpBuilder &builder, Location loc,
                                    Value tensor, Type type) {
  auto vectorType = dyn_cast<VectorType>(type);
  if (!vectorType) {
    if (tensor.getType() == type)
      return tensor;
    return tensor::CastOp::create(builder, loc, type, tensor);
  }
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> indices(vectorType.getRank(), zero);
  SmallVector<bool> inBounds(vectorType.getRank(), true);
  // Nothing is out of bounds, so there is no padding to read.
  return vector::TransferReadOp::create(builder, loc, vectorType, tensor,
                                        indices, /*padding=*/std::nullopt,
                                        ArrayRef<bool>(inBounds));
}
