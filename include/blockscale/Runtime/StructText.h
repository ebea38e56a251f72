//===- StructText.h - Parameters that are structs, as text ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A struct is a parameter of any size: the bytes of a file, with addresses,
// tensor maps and numbers written into them. Its text is
//
//   FILE[:ptr@OFF=N[+BYTES]][:tmap@OFF=N][:i32@OFF=V][:i64@OFF=V][:f32@OFF=X]..
//
// where OFF is in bytes from the start of the struct and N the number of
// another ARG, from 0. FILE may have colons: it ends before the parts at the
// end of the text that start with letters and digits and an `@`.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_STRUCTTEXT_H
#define BLOCKSCALE_RUNTIME_STRUCTTEXT_H

#include "blockscale/Runtime/Error.h"

#include <cstdint>
#include <vector>

namespace mlir::blockscale {

/// The largest parameter of a kernel in bytes, from PTX 8.1 on; 4352 before.
inline constexpr uint32_t maxParamBytes = 32764;

/// A value that is written into the bytes of a struct.
struct StructPatch {
  enum class Kind : uint8_t {
    /// The address of the buffer of ARG `argument`, plus `bits`.
    Pointer,
    /// The tensor map of ARG `argument`.
    TensorMap,
    /// `bits`.
    Number,
  };
  Kind kind;
  /// The offset in the struct, and the size in bytes.
  uint32_t offset, size;
  uint32_t argument = 0;
  uint64_t bits = 0;
  /// As in the text, for messages: "ptr@8".
  std::string name;
};

struct StructText {
  std::string path;
  /// Aligned and without overlaps.
  std::vector<StructPatch> patches;
};

/// Parses the text; reads no file.
Result<StructText> parseStruct(std::string_view text);

/// A part of a struct: the bytes from `offset` on.
struct StructField {
  uint64_t offset, size, alignment;
  std::string name;
};

/// Checks that each part is aligned and within `bytes`, and no two overlap.
Error checkStructFields(std::vector<StructField> fields, uint64_t bytes);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_STRUCTTEXT_H
