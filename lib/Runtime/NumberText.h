//===- NumberText.h - Numbers on command lines ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_NUMBERTEXT_H
#define BLOCKSCALE_LIB_RUNTIME_NUMBERTEXT_H

#include "blockscale/Runtime/Error.h"

#include <charconv>
#include <cstdint>

namespace mlir::blockscale {

/// Parses all of a text as a decimal number of type `T`.
template <typename T>
bool parseNumber(std::string_view text, T &number) {
  const char *end = text.data() + text.size();
  auto [rest, code] = std::from_chars(text.data(), end, number);
  return code == std::errc() && rest == end;
}

/// A scalar type: a row of a table.
struct ScalarType {
  std::string_view name;
  /// In bytes.
  unsigned size;
  /// The bits of the number in a text. Integers may be signed or unsigned.
  Result<uint64_t> (*parse)(std::string_view text);
};

/// The row of `i32`, `i64` or `f32`; null for other names.
const ScalarType *lookupScalarType(std::string_view name);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_NUMBERTEXT_H
