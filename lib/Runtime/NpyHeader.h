//===- NpyHeader.h - The dict in a .npy file --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A .npy header is a Python dict literal with exactly the keys 'descr',
// 'fortran_order' and 'shape'. The parser takes them in any order, with either
// kind of quotes, free white space and an optional trailing comma, and no other
// Python: no escapes, prefixes, comments, or integers with signs or suffixes,
// except that '-' gives negative dimensions their own message.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_NPYHEADER_H
#define BLOCKSCALE_LIB_RUNTIME_NPYHEADER_H

#include "blockscale/Runtime/DType.h"
#include "blockscale/Runtime/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// What the header of a readable file says; the data is in C order.
struct NpyHeader {
  DType dtype = DType::U1;
  std::vector<int64_t> shape;
};

Result<NpyHeader> parseNpyHeader(std::string_view text);

/// The dict, without the padding around it.
std::string printNpyHeader(DType dtype, const std::vector<int64_t> &shape);

/// A shape as a Python tuple: `()`, `(3,)`, `(2, 3)`.
std::string printShape(const std::vector<int64_t> &shape);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_NPYHEADER_H
