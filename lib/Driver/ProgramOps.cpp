//===- ProgramOps.cpp - Errors in the program's words ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages quote the names of ops. One that is nowhere in the program was made
// by a pass.
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
  // What was made of several ops, or comes from a function that was inlined.
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
    return failure(); // Other handlers get it as it is.
  // This handler finds nothing more to say in it.
  InFlightDiagnostic emitted = emitError(diagnostic.getLocation())
                               << translated;
  for (Diagnostic &note : diagnostic.getNotes())
    emitted.attachNote(note.getLocation()) << note.str();
  return success();
}
