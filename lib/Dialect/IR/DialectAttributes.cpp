//===- DialectAttributes.cpp - The attributes that this dialect knows -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Refuses unknown attributes of the dialect: nothing would read a misspelt one,
// and the program would be compiled in another way than it requests.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Support/TunedRows.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The attributes that users write, that passes exchange, and that a printed
/// level has.
static constexpr StringLiteral kNames[] = {
    "blockscale.code_bits",
    "blockscale.dynamic_alignment",
    "blockscale.instruction",
    "blockscale.level",
    "blockscale.multiples",
    "blockscale.no_tokens",
    "blockscale.packed",
    "blockscale.path",
    "blockscale.predicated",
    "blockscale.programmatic",
    "blockscale.purpose",
    "blockscale.rows",
    "blockscale.alternatives",
    "blockscale.schedule",
    "blockscale.schedules",
    "blockscale.signature",
    "blockscale.swizzled",
    "blockscale.target",
    "blockscale.tensor_map_params",
    "blockscale.tuned",
};

static LogicalResult checkName(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (llvm::is_contained(kNames, name))
    return success();
  const StringLiteral *nearest =
      llvm::min_element(kNames, [&](StringRef a, StringRef b) {
        return name.edit_distance(a) < name.edit_distance(b);
      });
  return op->emitError("unknown attribute '")
         << name << "', the nearest name is '" << *nearest << "'";
}

/// It names a row of TunedRows.h.
static LogicalResult checkRows(Operation *op, Attribute value) {
  if (!isa<FunctionOpInterface>(op))
    return op->emitError("expected 'blockscale.rows' at a function");
  constexpr unsigned kAnyChip = 0;
  auto name = dyn_cast<StringAttr>(value);
  if (name && (name.getValue() == kAnyRows ||
               lookupTunedRows(kAnyChip, name.getValue())))
    return success();
  InFlightDiagnostic error =
      op->emitError("expected 'blockscale.rows' to be one of");
  for (const TunedRows &row : getTunedRows(kAnyChip))
    error << " \"" << StringRef(row.name) << '"';
  error << " \"" << kAnyRows << '"';
  return error << ", got " << value;
}

LogicalResult
BlockScaleDialect::verifyOperationAttribute(Operation *op,
                                            NamedAttribute attribute) {
  if (attribute.getName() == "blockscale.rows")
    return checkRows(op, attribute.getValue());
  return checkName(op, attribute);
}

LogicalResult
BlockScaleDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                            NamedAttribute attribute) {
  return checkName(op, attribute);
}

LogicalResult BlockScaleDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return checkName(op, attribute);
}
