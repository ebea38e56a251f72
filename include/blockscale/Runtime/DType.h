//===- DType.h - Element types of .npy files --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_DTYPE_H
#define BLOCKSCALE_RUNTIME_DTYPE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace mlir::blockscale {

/// The element types that files may have, named by their numpy type codes.
enum class DType : uint8_t { U1, I1, U2, I2, F2, U4, I4, F4, U8, I8, F8 };

enum class DTypeKind : uint8_t { Unsigned, Signed, Float };

/// One row of the element type table.
struct DTypeInfo {
  DType dtype;
  /// numpy's type code, without byte order: "f4".
  std::string_view code;
  /// Bytes of an element.
  unsigned size;
  DTypeKind kind;
};

const DTypeInfo &getDTypeInfo(DType dtype);

/// The row of a type code; null if the type is not supported.
const DTypeInfo *lookupDType(std::string_view code);

/// All type codes with spaces between, for messages.
std::string listDTypeCodes();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_DTYPE_H
