//===- CheckMessage.cpp - What failed checks print ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utils/CheckMessage.h"

using namespace mlir;

std::string blockscale::getCheckMessage(Operation *op, const Twine &message) {
  std::string text = "ERROR: Runtime op verification failed\n";
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().useLocalScope().skipRegions());
  stream << "\n^ " << message << "\nLocation: ";
  op->getLoc().print(stream);
  return text;
}
