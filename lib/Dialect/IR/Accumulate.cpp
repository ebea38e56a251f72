//===- Accumulate.cpp - The licence of a product's sums -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "blockscale/Support/Accumulation.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::blockscale;

Attribute AccumulateAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t chunk = 0;
  if (parser.parseLess() || parser.parseKeyword("chunk") ||
      parser.parseEqual() || parser.parseInteger(chunk))
    return {};
  bool rebase = succeeded(parser.parseOptionalComma());
  if ((rebase && parser.parseKeyword("rebase")) || parser.parseGreater())
    return {};
  return parser.getChecked<AccumulateAttr>(loc, parser.getContext(), chunk,
                                           rebase);
}

void AccumulateAttr::print(AsmPrinter &printer) const {
  printer << "<chunk = " << getChunk() << (getRebase() ? ", rebase>" : ">");
}

LogicalResult
AccumulateAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t chunk, bool /*rebase*/) {
  if (isAccumulateChunk(chunk))
    return success();
  return emitError() << "expected a chunk of " << listAccumulateChunks()
                     << " terms, got " << chunk;
}

AccumulateAttr AccumulateAttr::getOfTile(OpFoldResult offset) const {
  // The chunks of a tile start with it. They stay inside those of the whole if
  // both start at multiples of the smaller one.
  for (int64_t chunk : llvm::reverse(kAccumulateChunks))
    if (chunk <= getChunk() && isKnownMultiple(offset, chunk))
      return get(getContext(), chunk, getRebase());
  return {};
}
