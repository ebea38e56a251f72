//===- Emitter.cpp - Loops over all elements of tensors -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

ValueRange blockscale::mapElements(OpBuilder &builder, Value like,
                                   TypeRange elements, ValueRange inputs,
                                   BodyBuilder body, ArrayRef<AffineMap> maps) {
  Location loc = like.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, like);
  SmallVector<Value> empty;
  for (Type element : elements)
    empty.push_back(tensor::EmptyOp::create(builder, loc, sizes, element));
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<AffineMap> allMaps(maps);
  allMaps.resize(inputs.size() + empty.size(),
                 builder.getMultiDimIdentityMap(rank));
  return linalg::GenericOp::create(
             builder, loc, ValueRange(empty).getTypes(), inputs, empty, allMaps,
             SmallVector<utils::IteratorType>(rank,
                                              utils::IteratorType::parallel),
             [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
               linalg::YieldOp::create(b, bodyLoc, body({b, bodyLoc}, args));
             })
      .getResults();
}

Interval blockscale::mapToEnds(OpBuilder &builder, Value like,
                               ValueRange inputs,
                               function_ref<Interval(Emitter, ValueRange)> body,
                               ArrayRef<AffineMap> maps) {
  Type f64 = builder.getF64Type();
  ValueRange ends = mapElements(
      builder, like, {f64, f64}, inputs,
      [&](Emitter emit, ValueRange args) -> SmallVector<Value> {
        Interval interval = body(emit, args);
        return {interval.low, interval.high};
      },
      maps);
  return {ends[0], ends[1]};
}
