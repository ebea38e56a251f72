//===- ArrayPrinter.h - Arrays as text --------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints arrays as Python prints nested lists: `[[256.0, 0.5], [nan, -inf]]`;
// an array of rank 0 is a bare number. A floating-point number has the fewest
// digits that identify it among the numbers of its type, always a '.0' or an
// exponent, and Python's choice between them: `0.0001`, `1e-05`, `1000000.0`,
// `1e+16`.
//
// An array of more than 1000 elements is summarized as by numpy: an axis longer
// than 6 shows its first and last 3, `[0, 1, 2, ..., 997, 998, 999]`. An array
// without elements shows its brackets, `[[], []]`, and a single pair where
// those would be more than 1000.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_ARRAYPRINTER_H
#define BLOCKSCALE_RUNTIME_ARRAYPRINTER_H

#include "blockscale/Runtime/Npy.h"

#include <string>

namespace mlir::blockscale {

/// How to read the elements of an array.
enum class Elements : uint8_t {
  /// As its dtype says.
  Plain,
  /// bf16 values, whose bits files have as u2.
  BFloat16,
};

/// The array on one line, without a newline at its end.
std::string printArray(const NpyArray &array,
                       Elements elements = Elements::Plain);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_ARRAYPRINTER_H
