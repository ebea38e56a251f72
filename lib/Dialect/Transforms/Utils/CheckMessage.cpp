//===- CheckMessage.cpp - Messages of failed checks -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utils/CheckMessage.h"

#include "blockscale/Dialect/Transforms/Selection/Schedule.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Prints an op on one line. Without `assumeVerified`, each print would verify
/// the whole function.
static OpPrintingFlags getFlags() {
  return OpPrintingFlags().useLocalScope().skipRegions().assumeVerified();
}

static std::string getText(Operation *op, const Twine &message,
                           function_ref<void(raw_ostream &)> print) {
  std::string text = "ERROR: Runtime op verification failed\n";
  llvm::raw_string_ostream stream(text);
  // Schedules of alternatives would fill a page.
  Attribute alternatives = op->removeDiscardableAttr(kAlternativesAttrName);
  print(stream);
  if (alternatives)
    op->setDiscardableAttr(kAlternativesAttrName, alternatives);
  stream << "\n^ " << message << "\nLocation: ";
  op->getLoc().print(stream);
  return text;
}

std::string blockscale::getCheckMessage(Operation *op, const Twine &message) {
  return getText(op, message,
                 [&](raw_ostream &stream) { op->print(stream, getFlags()); });
}

CheckMessages::CheckMessages(Operation *function)
    : state(function, getFlags()) {}

std::string CheckMessages::get(Operation *op, const Twine &message) {
  return getText(op, message,
                 [&](raw_ostream &stream) { op->print(stream, state); });
}
