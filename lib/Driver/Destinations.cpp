//===- Destinations.cpp - Functions that write into arguments -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns destinations, memref arguments that a function only writes, into
// results. For a kernel, both are memory that it writes and does not read.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/Destinations.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

using bufferization::MaterializeInDestinationOp;
using bufferization::ToTensorOp;

/// `value` as a tensor of `type`.
static Value castTo(OpBuilder &builder, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(builder, value.getLoc(), type, value);
}

/// The op that writes `argument` completely; null if it is only read. Fails
/// after an error if it is neither.
static FailureOr<MaterializeInDestinationOp> findWrite(func::FuncOp function,
                                                       BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  auto type = cast<MemRefType>(argument.getType());
  if (!type.getLayout().isIdentity())
    return function.emitError("not supported in this version: argument #")
           << number << " of type " << type << ", expected memory without gaps";
  auto write =
      argument.hasOneUse()
          ? dyn_cast<MaterializeInDestinationOp>(*argument.user_begin())
          : MaterializeInDestinationOp();
  if (write && write.getDest() == argument &&
      write->getBlock() == &function.getBody().front())
    return write;
  for (Operation *user : argument.getUsers())
    if (!isa<ToTensorOp>(user))
      return user->emitError("not supported in this version: argument #")
             << number << " of '" << function.getSymName()
             << "' in memory, expected it to be read by "
                "bufferization.to_tensor alone, or to be written once, as a "
                "whole, by bufferization.materialize_in_destination, got '"
             << user->getName() << "'";
  return MaterializeInDestinationOp();
}

LogicalResult blockscale::returnDestinations(func::FuncOp function) {
  auto isMemory = [](Type type) { return isa<MemRefType>(type); };
  if (function.isExternal() || !function.getBody().hasOneBlock() ||
      llvm::none_of(function.getArgumentTypes(), isMemory))
    return success();
  Block &body = function.getBody().front();
  auto end = dyn_cast<func::ReturnOp>(body.getTerminator());
  if (!end)
    return success();
  BitVector written(function.getNumArguments());
  SmallVector<Type> results(function.getResultTypes());
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type && written.any())
      return function.emitError("not supported in this version: argument #")
             << argument.getArgNumber()
             << " after one that is written, expected written arguments last";
    if (!type)
      continue;
    FailureOr<MaterializeInDestinationOp> write = findWrite(function, argument);
    if (failed(write))
      return failure();
    auto tensorType =
        RankedTensorType::get(type.getShape(), type.getElementType());
    if (*write) {
      OpBuilder builder(end);
      end->insertOperands(end->getNumOperands(),
                          castTo(builder, (*write).getSource(), tensorType));
      results.push_back(tensorType);
      (*write).erase();
      written.set(argument.getArgNumber());
      continue;
    }
    if (written.any())
      return function.emitError("not supported in this version: argument #")
             << argument.getArgNumber()
             << " after one that is written, expected written arguments last";
    OpBuilder builder(function.getBody());
    auto reads = llvm::to_vector(argument.getUsers());
    argument.setType(tensorType);
    for (Operation *read : reads) {
      read->getResult(0).replaceAllUsesWith(
          castTo(builder, argument, read->getResult(0).getType()));
      read->erase();
    }
  }
  if (written.any() && failed(function.eraseArguments(written)))
    return failure();
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(), results));
  return success();
}

LogicalResult blockscale::returnDestinations(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && failed(returnDestinations(function)))
      return failure();
  return success();
}
