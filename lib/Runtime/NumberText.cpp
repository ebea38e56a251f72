//===- NumberText.cpp - Numbers on command lines --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers have the same form as parameters and as fields of structs.
//
//===----------------------------------------------------------------------===//

#include "NumberText.h"
#include "blockscale/Runtime/BufferText.h"

#include <cstring>

using namespace mlir;
using namespace mlir::blockscale;

/// The bits of an integer in the range of the signed or the unsigned type.
template <typename Signed, typename Unsigned>
static Result<uint64_t> parseInteger(std::string_view text) {
  Signed negative;
  Unsigned positive;
  if (parseNumber(text, positive))
    return uint64_t(positive);
  if (parseNumber(text, negative))
    return uint64_t(static_cast<Unsigned>(negative));
  return Error("expected an integer of " + std::to_string(8 * sizeof(Signed)) +
               " bits, got " + quoteForMessage(text));
}

static Result<uint64_t> parseF32(std::string_view text) {
  float number;
  if (!parseNumber(text, number))
    return Error("expected a number that f32 can hold, got " +
                 quoteForMessage(text));
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return uint64_t(bits);
}

static constexpr ScalarType scalarTypes[] = {
    {"i32", 4, parseInteger<int32_t, uint32_t>},
    {"i64", 8, parseInteger<int64_t, uint64_t>},
    {"f32", 4, parseF32},
};

const ScalarType *blockscale::lookupScalarType(std::string_view name) {
  for (const ScalarType &type : scalarTypes)
    if (type.name == name)
      return &type;
  return nullptr;
}

Result<BufferText> blockscale::parseBufferText(std::string_view text) {
  BufferText position;
  std::string_view number = text.substr(0, text.find('+'));
  bool hasOffset = number.size() != text.size();
  if (!parseNumber(number, position.argument) ||
      (hasOffset &&
       !parseNumber(text.substr(number.size() + 1), position.offset)))
    return Error(
        "expected N or N+BYTES with the number N of an argument, got " +
        quoteForMessage(text));
  return position;
}
