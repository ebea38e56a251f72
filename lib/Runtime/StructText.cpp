//===- StructText.cpp - Parameters that are structs, as text --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses the patches of a struct on the command line. Their offsets are checked
// as those of a launch info.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/StructText.h"

#include "NumberText.h"
#include "blockscale/Runtime/BufferText.h"
#include "blockscale/Runtime/TensorMap.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

Error blockscale::checkStructFields(std::vector<StructField> fields,
                                    uint64_t bytes) {
  auto print = [](const StructField &field) {
    return field.name + " of " + std::to_string(field.size) +
           " bytes at offset " + std::to_string(field.offset);
  };
  for (const StructField &field : fields) {
    if (field.offset % field.alignment != 0)
      return Error("expected an offset that is a multiple of " +
                   std::to_string(field.alignment) + ", got " + print(field));
    if (field.size > bytes || field.offset > bytes - field.size)
      return Error("expected a range within " + std::to_string(bytes) +
                   " bytes, got " + print(field));
  }
  std::sort(fields.begin(), fields.end(),
            [](const StructField &lhs, const StructField &rhs) {
              return lhs.offset < rhs.offset;
            });
  for (size_t i = 1; i < fields.size(); ++i)
    if (fields[i - 1].offset + fields[i - 1].size > fields[i].offset)
      return Error("expected ranges that do not overlap, got " +
                   print(fields[i - 1]) + " and " + print(fields[i]));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Patches
//===----------------------------------------------------------------------===//

static Error expected(const std::string &what, std::string_view got) {
  return Error("expected " + what + ", got " + quoteForMessage(got));
}

static Error parsePointer(StructPatch &patch, std::string_view value) {
  patch.kind = StructPatch::Kind::Pointer;
  patch.size = sizeof(uint64_t);
  Result<BufferText> position = parseBufferText(value);
  if (!position)
    return position.error();
  patch.argument = position->argument;
  patch.bits = position->offset;
  return Error::success();
}

static Error parseMap(StructPatch &patch, std::string_view value) {
  patch.kind = StructPatch::Kind::TensorMap;
  patch.size = tensorMapBytes;
  if (!parseNumber(value, patch.argument))
    return expected("the number of an argument", value);
  return Error::success();
}

static Error parseScalar(StructPatch &patch, const ScalarType &type,
                         std::string_view value) {
  patch.kind = StructPatch::Kind::Number;
  patch.size = type.size;
  Result<uint64_t> bits = type.parse(value);
  if (!bits)
    return bits.error();
  patch.bits = *bits;
  return Error::success();
}

/// Whether a text starts with `WORD@`.
static bool isPatch(std::string_view text) {
  std::string_view word = text.substr(0, text.find('@'));
  return !word.empty() && word.size() != text.size() &&
         std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
         });
}

/// `WORD@OFF=VALUE`
static Result<StructPatch> parsePatch(std::string_view text) {
  std::string_view word = text.substr(0, text.find('@'));
  std::string_view rest = text.substr(word.size() + 1);
  std::string_view offset = rest.substr(0, rest.find('='));
  const ScalarType *type = lookupScalarType(word);
  if (!type && word != "ptr" && word != "tmap")
    return expected("one of ptr@ tmap@ i32@ i64@ f32@", text);
  if (offset.size() == rest.size())
    return expected(std::string(word) + "@OFF=VALUE", text);
  std::string_view value = rest.substr(offset.size() + 1);
  StructPatch patch = {};
  patch.name = text.substr(0, text.find('='));
  if (!parseNumber(offset, patch.offset) || patch.offset >= maxParamBytes)
    return expected("an offset from 0 to " + std::to_string(maxParamBytes - 1) +
                        " after " + std::string(word) + "@",
                    offset);
  Error error = type             ? parseScalar(patch, *type, value)
                : word == "tmap" ? parseMap(patch, value)
                                 : parsePointer(patch, value);
  if (error)
    return Error(patch.name + ": " + error.message());
  return patch;
}

/// Numbers need no alignment, since structs may be packed.
static uint64_t getAlignment(const StructPatch &patch) {
  switch (patch.kind) {
  case StructPatch::Kind::Pointer:
    return sizeof(uint64_t);
  case StructPatch::Kind::TensorMap:
    return tensorMapAlignment;
  case StructPatch::Kind::Number:
    break;
  }
  return 1;
}

Result<StructText> blockscale::parseStruct(std::string_view text) {
  StructText result;
  for (size_t colon; (colon = text.rfind(':')) != text.npos;) {
    std::string_view part = text.substr(colon + 1);
    if (!isPatch(part))
      break;
    Result<StructPatch> patch = parsePatch(part);
    if (!patch)
      return patch.error();
    result.patches.push_back(std::move(*patch));
    text = text.substr(0, colon);
  }
  std::reverse(result.patches.begin(), result.patches.end());
  if (text.empty() || (isPatch(text) && text.find('=') != text.npos))
    return expected("the name of a file", text);
  result.path = text;
  std::vector<StructField> fields;
  fields.reserve(result.patches.size());
  for (const StructPatch &patch : result.patches)
    fields.push_back(
        {patch.offset, patch.size, getAlignment(patch), patch.name});
  if (Error error = checkStructFields(std::move(fields), maxParamBytes))
    return error;
  return result;
}
