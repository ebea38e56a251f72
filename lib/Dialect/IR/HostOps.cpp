//===- HostOps.cpp - Memory and launches ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// pack and unpack
//===----------------------------------------------------------------------===//

std::optional<int64_t> blockscale::getPackedBytes(int64_t count,
                                                  unsigned bits) {
  int64_t total;
  if (llvm::MulOverflow(count, static_cast<int64_t>(bits), total) ||
      total % 8 != 0)
    return std::nullopt;
  return total / 8;
}

static LogicalResult verifyPacking(Operation *op, RankedTensorType bytes,
                                   RankedTensorType elements) { // (K1)
  if (!bytes.hasStaticShape() || !elements.hasStaticShape() ||
      bytes.getEncoding() || elements.getEncoding())
    return op->emitOpError("expected static shapes without encoding, got ")
           << bytes << " and " << elements;
  if (elements.getRank() == 0 || bytes.getRank() != elements.getRank() ||
      bytes.getShape().drop_back() != elements.getShape().drop_back())
    return op->emitOpError("expected shapes that differ in the last size "
                           "only, got ")
           << bytes << " and " << elements;
  int64_t count = elements.getShape().back();
  unsigned bits = elements.getElementTypeBitWidth();
  std::optional<int64_t> expected = getPackedBytes(count, bits);
  if (expected != bytes.getShape().back()) {
    InFlightDiagnostic diagnostic = op->emitOpError("expected ");
    if (expected)
      diagnostic << *expected << " bytes";
    else
      diagnostic << "whole bytes";
    return diagnostic << " per row for " << count << " elements of " << bits
                      << " bits, got " << bytes.getShape().back();
  }
  return success();
}

LogicalResult UnpackOp::verify() {
  return verifyPacking(*this, getSource().getType(), getResult().getType());
}

LogicalResult PackOp::verify() {
  return verifyPacking(*this, getResult().getType(), getSource().getType());
}

//===----------------------------------------------------------------------===//
// launch
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() { // (L1)
  for (auto [name, sizes] : {std::make_pair("blocks", getBlocks()),
                             std::make_pair("threads", getThreads())}) {
    if (sizes.size() == 3 &&
        llvm::all_of(sizes, [](int64_t size) { return size > 0; }))
      continue;
    InFlightDiagnostic diagnostic =
        emitOpError("expected three positive sizes of ") << name << ", got ";
    llvm::interleaveComma(sizes, diagnostic);
    return diagnostic;
  }
  if (static_cast<int64_t>(getShared()) < 0)
    return emitOpError("expected shared memory not to be negative, got ")
           << static_cast<int64_t>(getShared());
  return success();
}
