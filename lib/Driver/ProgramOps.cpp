//===- ProgramOps.cpp - Errors that name ops of the program ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages quote the names of ops. If an op is not in the program, a pass made
// it, and the message names the op that it was made from.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/ProgramOps.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::blockscale;

ProgramOps::ProgramOps(ModuleOp module)
    : context(module.getContext()),
      handler(context, [this](Diagnostic &diagnostic) {
        return translate(diagnostic);
      }) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    known.insert(name);
    if (!isa<UnknownLoc>(op->getLoc()))
      names.try_emplace(op->getLoc(), name);
  });
}

StringRef ProgramOps::lookup(Location location) const {
  auto found = names.find(location);
  if (found != names.end())
    return found->second;
  // An op that was made from several ops, or that was inlined.
  SmallVector<Location> parts;
  if (auto fused = dyn_cast<FusedLoc>(location))
    llvm::append_range(parts, fused.getLocations());
  else if (auto call = dyn_cast<CallSiteLoc>(location))
    parts = {call.getCallee(), call.getCaller()};
  else if (auto named = dyn_cast<NameLoc>(location))
    parts = {named.getChildLoc()};
  for (Location part : parts)
    if (StringRef name = lookup(part); !name.empty())
      return name;
  return "";
}

LogicalResult ProgramOps::translate(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return failure();
  StringRef name = lookup(diagnostic.getLocation());
  if (name.empty())
    return failure();
  std::string text = diagnostic.str(), translated;
  bool isOther = false;
  for (StringRef rest = text; !rest.empty();) {
    auto [before, behind] = rest.split('\'');
    translated += before;
    if (before.size() == rest.size())
      break;
    auto [quoted, after] = behind.split('\'');
    bool isMade = quoted.size() != behind.size() && !known.contains(quoted) &&
                  RegisteredOperationName::lookup(quoted, context);
    translated += "'";
    isOther |= isMade;
    if (isMade) {
      translated += name;
      translated += "'";
      rest = after;
    } else {
      rest = behind;
    }
  }
  if (!isOther)
    return failure(); // Other handlers print it unchanged.
  // When it is emitted again, this handler does not change it.
  InFlightDiagnostic emitted = emitError(diagnostic.getLocation())
                               << translated;
  for (Diagnostic &note : diagnostic.getNotes())
    emitted.attachNote(note.getLocation()) << note.str();
  return success();
}
