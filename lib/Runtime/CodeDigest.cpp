//===- CodeDigest.cpp - Launch infos and the code they are of -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comments, lines for a debugger and indentation do not change the digest of a
// PTX text.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/CodeDigest.h"

#include "LaunchJson.h"
#include "blockscale/Runtime/PtxSummary.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// The normal form
//===----------------------------------------------------------------------===//

static bool isSpace(char c) {
  return std::string_view(" \t\r\n\f\v").find(c) != std::string_view::npos;
}

static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

/// How many bytes at `at` count as a space; 0 for none.
static size_t countBlank(std::string_view text, size_t at) {
  auto rest = text.substr(at);
  auto lineEnd = [&] { return std::min(rest.find('\n'), rest.size()); };
  if (isSpace(rest[0]))
    return 1;
  if (rest.substr(0, 2) == "//")
    return lineEnd();
  if (rest.substr(0, 2) == "/*") {
    size_t end = rest.find("*/", 2);
    return end == rest.npos ? 0 : end + 2;
  }
  char before = at == 0 ? ' ' : text[at - 1];
  if (isLetter(before) || before == '.' || before == '$' || before == '%')
    return 0;
  for (std::string_view word : {".loc", ".file"})
    if (rest.substr(0, word.size()) == word &&
        (rest.size() == word.size() || !isLetter(rest[word.size()])))
      return lineEnd();
  return 0;
}

/// How many bytes at `at` are kept at least: a string, or what is followed by
/// nothing that could be blank.
static size_t countKept(std::string_view text, size_t at) {
  if (text[at] != '"') {
    size_t end = at + 1;
    while (end != text.size() && isLetter(text[end]))
      ++end;
    return end - at;
  }
  size_t end = text.find_first_of("\"\n", at + 1);
  return end == text.npos || text[end] == '\n' ? 1 : end + 1 - at;
}

std::string blockscale::normalizePtx(std::string_view text) {
  std::string normal;
  bool isBlank = false;
  for (size_t at = 0; at != text.size();) {
    if (size_t size = countBlank(text, at)) {
      at += size;
      isBlank = true;
      continue;
    }
    if (isBlank && !normal.empty())
      normal += ' ';
    isBlank = false;
    size_t size = countKept(text, at);
    normal += text.substr(at, size);
    at += size;
  }
  return normal;
}

//===----------------------------------------------------------------------===//
// The digest
//===----------------------------------------------------------------------===//

std::string blockscale::computeCodeDigest(const LaunchInfo &info,
                                          std::string_view image) {
  std::string text = "target " + info.target + "\n";
  text += "schedule " + info.schedule + "\n";
  for (const KernelLaunch &kernel : info.kernels) {
    // With the names of fields in order, which Python can sort as well.
    json params = json::array();
    for (const LaunchParam &param : kernel.params)
      params.push_back(json(makeParam(param)));
    text += "kernel " + kernel.name + "\n";
    text +=
        "params " +
        params.dump(/*indent=*/-1, /*indent_char=*/' ',
                    /*ensure_ascii=*/false, json::error_handler_t::replace) +
        "\n";
  }
  return computeSha256(
      text + (isCubin(image) ? std::string(image) : normalizePtx(image)));
}

void blockscale::attachCodeDigest(LaunchInfo &info, std::string_view image) {
  (isCubin(image) ? info.cubinDigest : info.ptxDigest) =
      computeCodeDigest(info, image);
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

/// Checks that `ptx` has the kernels of `info`, with as many parameters.
static Error checkKernels(const LaunchInfo &info, const PtxSummary &ptx,
                          const CodeOrigin &origin) {
  for (const KernelLaunch &kernel : info.kernels) {
    std::string name = "kernel " + quoteForMessage(kernel.name);
    const PtxEntry *entry = ptx.lookup(kernel.name);
    if (!entry)
      return Error(origin.info + ": expected " + name + " in " + origin.image +
                   ", got none of that name");
    if (entry->paramSizes && entry->paramSizes->size() != kernel.params.size())
      return Error(origin.info + ": expected " + name + " with " +
                   std::to_string(kernel.params.size()) + " parameters in " +
                   origin.image + ", got one with " +
                   std::to_string(entry->paramSizes->size()));
  }
  return Error::success();
}

Result<std::string> blockscale::checkCode(const LaunchInfo &info,
                                          std::string_view image,
                                          const CodeOrigin &origin) {
  bool isMachineCode = isCubin(image);
  const std::string &expected =
      isMachineCode ? info.cubinDigest : info.ptxDigest;
  // A cubin may have been assembled later, so the digest of the PTX says
  // nothing about it. But a cubin without PTX must have its own digest.
  bool isOtherKind = !isMachineCode && expected.empty();
  if (expected.empty() && (!isOtherKind || info.cubinDigest.empty()))
    return std::string();
  if (!isMachineCode) {
    PtxSummary ptx = summarizePtx(image);
    if (ptx.target != info.target)
      return Error(
          origin.info + ": expected code for " +
          shortenForMessage(info.target) + ", got " + origin.image + " for " +
          (ptx.target.empty() ? "no target" : shortenForMessage(ptx.target)));
    if (Error error = checkKernels(info, ptx, origin))
      return error;
  }
  if (!isOtherKind && computeCodeDigest(info, image) == expected)
    return std::string();
  std::string schedule =
      info.schedule.empty()
          ? ""
          : " (schedule " + shortenForMessage(info.schedule) + ")";
  if (origin.allowsEdits && !isMachineCode)
    return origin.image + " is not the code that " + origin.info +
           " was written with" + schedule + ": taken for a changed one";
  if (isOtherKind)
    return Error(origin.info +
                 ": expected the machine code that it was written with" +
                 schedule + ", got PTX in " + origin.image +
                 "; --allow-edited-ptx takes it unproved");
  return Error(origin.info + ": expected the code that it was written with" +
               schedule + ", got other code in " + origin.image +
               (isMachineCode
                    ? ""
                    : "; --allow-edited-ptx takes a kernel that was changed "
                      "by hand"));
}
