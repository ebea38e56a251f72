//===- PtxSummary.cpp - What a PTX text says of itself --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads names and sizes of parameters from PTX, to refuse launches with wrong
// parameters, which would read random memory.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/PtxSummary.h"

#include <algorithm>
#include <charconv>
#include <elf.h>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Tokens of PTX
//===----------------------------------------------------------------------===//

static bool isWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%' || c == '.';
}

namespace {

/// Splits PTX into tokens: identifiers and single other characters, without
/// white space, comments and strings.
class Words {
public:
  explicit Words(std::string_view text) : text(text) { advance(); }

  /// Empty at the end of the text.
  std::string_view peek() const { return word; }

  std::string_view take() {
    std::string_view taken = word;
    advance();
    return taken;
  }

  bool consume(std::string_view expected) {
    bool isNext = word == expected;
    if (isNext)
      advance();
    return isNext;
  }

private:
  void advance() {
    while (skipOne())
      ;
    size_t size = 0;
    while (size < text.size() && isWordCharacter(text[size]))
      ++size;
    word = text.substr(0, std::max<size_t>(size, 1));
    text.remove_prefix(word.size());
  }

  /// Skips white space, a comment or a string.
  bool skipOne() {
    size_t size = text.find_first_not_of(" \t\r\n\f\v");
    if (size == 0 && text.substr(0, 2) == "//")
      size = text.find('\n');
    else if (size == 0 && text.substr(0, 2) == "/*")
      size = endOf("*/", 2);
    else if (size == 0 && text[0] == '"')
      size = endOf("\"", 1);
    size = std::min(size, text.size());
    text.remove_prefix(size);
    return size != 0;
  }

  size_t endOf(std::string_view terminator, size_t from) const {
    size_t start = text.find(terminator, from);
    return start == text.npos ? start : start + terminator.size();
  }

  std::string_view text;
  std::string_view word;
};

} // namespace

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static constexpr struct {
  std::string_view name;
  unsigned size;
} paramTypes[] = {
    {".b8", 1},  {".u8", 1},    {".s8", 1},    {".b16", 2}, {".u16", 2},
    {".s16", 2}, {".f16", 2},   {".bf16", 2},  {".b32", 4}, {".u32", 4},
    {".s32", 4}, {".f32", 4},   {".b64", 8},   {".u64", 8}, {".s64", 8},
    {".f64", 8}, {".b128", 16}, {".f16x2", 4},
};

/// The bytes of a declaration such as `.param .align 8 .b8 name[16]`, up to the
/// next comma or parenthesis.
static std::optional<uint64_t> parseParam(Words &words) {
  if (!words.consume(".param"))
    return std::nullopt;
  uint64_t size = 0;
  while (words.peek() != "," && words.peek() != ")") {
    std::string_view word = words.take();
    if (word.empty())
      return std::nullopt;
    for (const auto &type : paramTypes)
      if (size == 0 && type.name == word)
        size = type.size;
    if (word != "[")
      continue;
    std::string_view number = words.take();
    uint32_t count;
    auto [rest, code] =
        std::from_chars(number.data(), number.data() + number.size(), count);
    // Parameters have far less than 64 KiB; the limit prevents overflow.
    if (code != std::errc() || rest != number.data() + number.size() ||
        count > UINT16_MAX || size > UINT16_MAX || !words.consume("]"))
      return std::nullopt;
    size *= count;
  }
  if (size == 0)
    return std::nullopt;
  return size;
}

static std::optional<std::vector<uint64_t>> parseParams(Words &words) {
  std::vector<uint64_t> sizes;
  if (!words.consume("(") || words.consume(")"))
    return sizes;
  do {
    std::optional<uint64_t> size = parseParam(words);
    if (!size)
      return std::nullopt;
    sizes.push_back(*size);
  } while (words.consume(","));
  if (!words.consume(")"))
    return std::nullopt;
  return sizes;
}

bool blockscale::isCubin(std::string_view image) {
  return image.substr(0, SELFMAG) == std::string_view(ELFMAG, SELFMAG);
}

PtxSummary blockscale::summarizePtx(std::string_view text) {
  PtxSummary summary;
  Words words(text);
  while (!words.peek().empty()) {
    std::string_view word = words.take();
    if (word == ".version" && summary.version.empty())
      summary.version = words.take();
    else if (word == ".target" && summary.target.empty())
      summary.target = words.take();
    if (word != ".entry")
      continue;
    std::string name(words.take());
    std::optional<std::vector<uint64_t>> sizes = parseParams(words);
    // A kernel may be declared before it is defined.
    if (!name.empty() && !summary.lookup(name))
      summary.entries.push_back({std::move(name), std::move(sizes)});
  }
  return summary;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

const PtxEntry *PtxSummary::lookup(std::string_view name) const {
  for (const PtxEntry &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

Error blockscale::checkParams(const PtxSummary &ptx,
                              const PlannedKernel &kernel) {
  const PtxEntry *entry = ptx.lookup(kernel.name);
  if (!entry || !entry->paramSizes)
    return Error::success();
  const std::vector<uint64_t> &sizes = *entry->paramSizes;
  std::string name = "kernel " + quoteForMessage(kernel.name);
  if (sizes.size() != kernel.params.size())
    return Error("expected " + std::to_string(sizes.size()) +
                 " parameters for " + name + ", got " +
                 std::to_string(kernel.params.size()));
  for (size_t i = 0; i < sizes.size(); ++i)
    // A struct that is not loaded has no size.
    if (kernel.params[i].size && sizes[i] != kernel.params[i].size)
      return Error("expected " + std::to_string(sizes[i]) +
                   " bytes for parameter #" + std::to_string(i) + " of " +
                   name + ", got " + std::to_string(kernel.params[i].size));
  return Error::success();
}

ChipName::ChipName(std::string_view name) {
  constexpr std::string_view prefix = "sm_";
  if (name.substr(0, prefix.size()) != prefix)
    return;
  name.remove_prefix(prefix.size());
  auto [rest, code] =
      std::from_chars(name.data(), name.data() + name.size(), number);
  std::string_view suffix = name.substr(rest - name.data());
  letter = suffix == "a" ? 2 : suffix == "f" ? 1 : 0;
  if (code != std::errc() || suffix.size() != (letter ? 1 : 0))
    number = 0;
}

bool blockscale::isTargetOfCard(std::string_view target, unsigned capability) {
  ChipName chip(target);
  if (chip.letter == 2 && chip.number != 0)
    return capability == chip.number;
  bool isFamily = chip.letter == 0 || capability / 10 == chip.number / 10;
  return chip.number == 0 || (capability >= chip.number && isFamily);
}
