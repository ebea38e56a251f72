//===- NumberPrinter.h - Numbers as text ------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_NUMBERPRINTER_H
#define BLOCKSCALE_LIB_RUNTIME_NUMBERPRINTER_H

#include "blockscale/Runtime/DType.h"

#include <cstdint>
#include <string>

namespace mlir::blockscale {

/// Appends the number at an address, which need not be aligned, to a text.
using ElementPrinter = void (*)(const uint8_t *element, std::string &text);

ElementPrinter getElementPrinter(DType dtype);
/// For two-byte elements that are bf16.
ElementPrinter getBFloat16Printer();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_NUMBERPRINTER_H
