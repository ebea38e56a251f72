//===- Modules.cpp - Kernels that nvcc puts into programs -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads fat binaries, whose layout is in no header: a file header, then parts
// with a header each. What is compressed is refused: nvcc --no-compress.
//
//===----------------------------------------------------------------------===//

#include "Modules.h"

#include "Card.h"
#include "blockscale/Runtime/PtxSummary.h"

#include <algorithm>
#include <cstring>
#include <fatbinary_section.h>
#include <map>

using namespace capture;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Fat binaries
//===----------------------------------------------------------------------===//

namespace {

constexpr uint32_t kFileMagic = 0xBA55ED50;

struct FileHeader {
  uint32_t magic;
  uint16_t version, headerBytes;
  /// Of the parts, behind this header.
  uint64_t bytes;
};

constexpr uint16_t kPtxKind = 1;

struct PartHeader {
  uint16_t kind, version;
  uint32_t headerBytes;
  uint64_t bytes;
};

} // namespace

/// PTX is text; a part that is compressed does not have these words.
static bool isPtx(std::string_view text) {
  return text.find(".version") != text.npos &&
         text.find(".target") != text.npos;
}

/// The PTX texts of a fat binary.
static std::vector<std::string> readTexts(const uint8_t *data, Module &module) {
  FileHeader file;
  std::memcpy(&file, data, sizeof file);
  if (file.magic != kFileMagic) {
    module.error = "expected a fat binary of nvcc, got other bytes";
    return {};
  }
  module.error = "expected PTX in the program, got none: compile with -gencode "
                 "arch=compute_X,code=compute_X";
  std::vector<std::string> texts;
  const uint8_t *end = data + file.headerBytes + file.bytes;
  for (data += file.headerBytes; data < end;) {
    PartHeader part;
    std::memcpy(&part, data, sizeof part);
    std::string text(reinterpret_cast<const char *>(data) + part.headerBytes,
                     part.bytes);
    data += part.headerBytes + part.bytes;
    if (part.kind != kPtxKind)
      continue;
    text.resize(std::strlen(text.c_str()));
    if (isPtx(text))
      texts.push_back(std::move(text));
    else
      module.error = "expected PTX that is not compressed: compile with "
                     "--no-compress";
  }
  return texts;
}

Module *capture::addFatBinary(const void *wrapper) {
  static std::vector<std::unique_ptr<Module>> modules;
  Module &module = *modules.emplace_back(std::make_unique<Module>());
  const auto *data = reinterpret_cast<const uint8_t *>(
      static_cast<const __fatBinC_Wrapper_t *>(wrapper)->data);
  for (std::string &text : readTexts(data, module)) {
    std::string target = blockscale::summarizePtx(text).target;
    proposeChip(target);
    // That of the chip, else the last one.
    if (module.target == getChip())
      break;
    module.target = target;
    module.text = std::move(text);
  }
  return &module;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static std::map<const void *, std::unique_ptr<Kernel>> &getKernels() {
  static auto &kernels = *new std::map<const void *, std::unique_ptr<Kernel>>;
  return kernels;
}

Kernel *capture::addKernel(Module *module, const void *hostFunction,
                           const char *name) {
  auto kernel =
      std::make_unique<Kernel>(Kernel{module, name, kDefaultSharedBytes});
  return (getKernels()[hostFunction] = std::move(kernel)).get();
}

Kernel *capture::lookupKernel(const void *function) {
  auto found = getKernels().find(function);
  if (found != getKernels().end())
    return found->second.get();
  for (auto &entry : getKernels())
    if (entry.second.get() == function)
      return entry.second.get();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// What the PTX says
//===----------------------------------------------------------------------===//

/// Where a word is, from `from` on, with no other letter next to it.
static size_t findWord(std::string_view text, std::string_view word,
                       size_t from = 0) {
  auto isLetter = [&](size_t at) {
    return at < text.size() && (std::isalnum(uint8_t(text[at])) ||
                                text[at] == '_' || text[at] == '$');
  };
  while ((from = text.find(word, from)) != text.npos) {
    if ((from == 0 || !isLetter(from - 1)) && !isLetter(from + word.size()))
      return from;
    ++from;
  }
  return from;
}

static std::string_view findEntry(std::string_view text,
                                  std::string_view name) {
  constexpr std::string_view entry = ".entry";
  for (size_t at = 0; (at = findWord(text, name, at)) != text.npos; ++at) {
    size_t before = text.find_last_not_of(" \t\r\n", at - 1);
    if (before == text.npos || before + 1 < entry.size() ||
        text.substr(before + 1 - entry.size(), entry.size()) != entry)
      continue;
    std::string_view rest = text.substr(at);
    return rest.substr(0, std::min(rest.find("\n.visible .entry"),
                                   std::min(rest.find("\n.entry"),
                                            rest.find("\n.weak .entry"))));
  }
  return {};
}

/// The number behind `at`, 0 if there is none.
static uint64_t readNumber(std::string_view text, size_t at) {
  return std::strtoull(std::string(text.substr(at, 24)).c_str(), nullptr, 10);
}

/// Variables such as `.shared .align 16 .b8 NAME[BYTES];`, which nvcc makes of
/// all others.
static uint64_t addShared(std::string_view text, std::string_view kernel) {
  constexpr std::string_view type = " .b8 ";
  uint64_t bytes = 0;
  for (size_t at = 0; (at = text.find(".shared .align", at)) != text.npos;
       ++at) {
    std::string_view line = text.substr(at, text.find('\n', at) - at);
    size_t start = line.find(type), bracket = line.find('[');
    if (start == line.npos || bracket == line.npos)
      continue;
    start += type.size();
    if (findWord(kernel, line.substr(start, bracket - start)) != kernel.npos)
      bytes += readNumber(line, bracket + 1);
  }
  return bytes;
}

static unsigned findMaxThreads(std::string_view kernel) {
  std::string_view head = kernel.substr(0, kernel.find('{'));
  for (std::string_view directive : {".maxntid", ".reqntid"}) {
    size_t at = head.find(directive);
    if (at == head.npos)
      continue;
    unsigned threads = 1;
    do {
      threads *= readNumber(head, head.find_first_of("0123456789", at));
      at = head.find_first_of(",\n", at + 1);
    } while (at != head.npos && head[at] == ',');
    return threads;
  }
  return kMaxThreadsPerBlock;
}

const KernelFacts *capture::getFacts(Kernel &kernel) {
  static std::map<const Kernel *, KernelFacts> known;
  auto found = known.find(&kernel);
  if (found != known.end())
    return &found->second;
  const std::string &text = kernel.module->text;
  // The whole text is read for the sizes of all of its kernels.
  static std::map<const Module *, blockscale::PtxSummary> summaries;
  auto [summary, isNew] = summaries.try_emplace(kernel.module);
  if (isNew)
    summary->second = blockscale::summarizePtx(text);
  const blockscale::PtxEntry *entry = summary->second.lookup(kernel.name);
  if (!entry || !entry->paramSizes)
    return nullptr;
  KernelFacts &facts = known[&kernel];
  facts.paramSizes = *entry->paramSizes;
  facts.text = findEntry(text, kernel.name);
  facts.sharedBytes = addShared(text, facts.text);
  facts.maxThreads = findMaxThreads(facts.text);
  return &facts;
}
