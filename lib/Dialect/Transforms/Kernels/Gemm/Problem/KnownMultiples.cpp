//===- KnownMultiples.cpp - What divides dynamic sizes --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels rely on what `blockscale.multiples` promises, so the host asserts it.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/KnownMultiples.h"

#include "Utils/IndexValues.h"
#include "blockscale/Dialect/IR/Rebase.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The attribute of the argument; null if there is none.
static DenseI64ArrayAttr getMultiples(BlockArgument argument) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function ? function.getArgAttrOfType<DenseI64ArrayAttr>(
                        argument.getArgNumber(), kMultiplesAttrName)
                  : DenseI64ArrayAttr();
}

/// A known divisor of the size of dimension `dim` of a new tensor.
static int64_t getKnownMultipleOfSize(tensor::EmptyOp empty, unsigned dim) {
  auto size = empty.getDynamicSize(dim).getDefiningOp<tensor::DimOp>();
  std::optional<int64_t> index =
      size ? size.getConstantIndex() : std::optional<int64_t>();
  return index && isa<RankedTensorType>(size.getSource().getType())
             ? getKnownMultiple(size.getSource(), *index)
             : 1;
}

int64_t blockscale::getKnownMultiple(Value tensor, unsigned dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  // Sizes count elements, also of packed types.
  if (auto unpack = tensor.getDefiningOp<UnpackOp>())
    tensor = unpack.getSource();
  if (auto dequantize = tensor.getDefiningOp<DequantizeOp>())
    return getKnownMultiple(dequantize.getElements(), dim);
  auto rebase = tensor.getDefiningOp<RebaseOp>();
  if (rebase && tensor == rebase.getRebased())
    return getKnownMultiple(rebase.getElements(), dim);
  if (auto quantize = tensor.getDefiningOp<QuantizeOp>();
      quantize && !quantize.getPad() && tensor == quantize.getElements())
    return getKnownMultiple(quantize.getX(), dim);
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return getKnownMultipleOfSize(empty, dim);
  if (auto op = tensor.getDefiningOp<DestinationStyleOpInterface>())
    return getKnownMultiple(op.getTiedOpOperand(cast<OpResult>(tensor))->get(),
                            dim);
  auto argument = dyn_cast<BlockArgument>(tensor);
  DenseI64ArrayAttr multiples =
      argument ? getMultiples(argument) : DenseI64ArrayAttr();
  return multiples ? multiples[dim] : 1;
}

/// Checks the attribute of `argument` of `function`, whose type is `type`.
static LogicalResult verifyMultiples(func::FuncOp function,
                                     BlockArgument argument, Attribute attr) {
  auto multiples = dyn_cast<DenseI64ArrayAttr>(attr);
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  bool isRight = multiples && type && type.getRank() == multiples.size() &&
                 llvm::all_of(multiples.asArrayRef(),
                              [](int64_t number) { return number >= 1; });
  if (!isRight)
    return function.emitError("argument #")
           << argument.getArgNumber() << ": expected '" << kMultiplesAttrName
           << "' to have a number of at least 1 for each dimension, such as "
              "array<i64: 1, 32>, got "
           << attr << " for " << argument.getType();
  return success();
}

LogicalResult blockscale::checkMultiples(func::FuncOp function) {
  if (function.isExternal())
    return success();
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  Location loc = function.getLoc();
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    Attribute attr = function.getArgAttr(number, kMultiplesAttrName);
    if (!attr)
      continue;
    if (failed(verifyMultiples(function, argument, attr)))
      return failure();
    // The multiple of a packed type counts its elements.
    Value tensor = argument;
    for (Operation *user : argument.getUsers())
      if (auto unpack = dyn_cast<UnpackOp>(user)) {
        tensor = unpack.getResult();
        builder.setInsertionPointAfter(unpack);
      }
    auto type = cast<RankedTensorType>(tensor.getType());
    for (auto [dim, multiple] :
         llvm::enumerate(cast<DenseI64ArrayAttr>(attr).asArrayRef())) {
      int64_t size = type.getDimSize(dim);
      if (!ShapedType::isDynamic(size) && size % multiple != 0)
        return function.emitError("argument #")
               << number << ": expected a multiple of " << multiple
               << " as size of dimension " << dim << ", got " << size;
      if (!ShapedType::isDynamic(size) || multiple == 1)
        continue;
      Value rest = arith::RemUIOp::create(
          builder, loc,
          tensor::DimOp::create(builder, loc, tensor,
                                static_cast<int64_t>(dim)),
          makeIndex(builder, loc, multiple));
      Value isMultiple =
          isEqual(builder, loc, rest, makeIndex(builder, loc, 0));
      cf::AssertOp::create(builder, loc, isMultiple,
                           ("argument #" + Twine(number) + " of '" +
                            function.getName() + "': expected a multiple of " +
                            Twine(multiple) + " as size of dimension " +
                            Twine(dim))
                               .str());
    }
  }
  return success();
}
