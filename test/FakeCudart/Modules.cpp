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
#include "Runtime.h"
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

/// Whether code for a target runs on a chip, which also says which letters
/// there are.
static bool canRun(const std::string &target, const std::string &chip) {
  std::optional<unsigned> targetRank = rankChip(target),
                          chipRank = rankChip(chip);
  return targetRank && chipRank && *targetRank <= *chipRank &&
         blockscale::isTargetOfCard(target, *chipRank / 10);
}

static bool isBelow(const std::string &lhs, const std::string &rhs) {
  return rankChip(lhs).value_or(0) < rankChip(rhs).value_or(0);
}

Module *capture::addFatBinary(const void *wrapper) {
  Lock lock;
  static std::vector<std::unique_ptr<Module>> modules;
  Module &module = *modules.emplace_back(std::make_unique<Module>());
  const auto *data = reinterpret_cast<const uint8_t *>(
      static_cast<const __fatBinC_Wrapper_t *>(wrapper)->data);
  std::map<std::string, std::string> texts;
  std::string highest, got;
  for (std::string &text : readTexts(data, module)) {
    std::string target = blockscale::summarizePtx(text).target;
    if (highest.empty() || isBelow(highest, target))
      highest = target;
    texts.emplace(target, std::move(text));
  }
  if (texts.empty())
    return &module;
  proposeChip(highest);
  // Says if that is none.
  getCard();
  for (auto &[target, text] : texts) {
    got += (got.empty() ? "" : ", ") + target;
    if (!canRun(target, getChip()) ||
        (!module.target.empty() && isBelow(target, module.target)))
      continue;
    module.target = target;
    module.text = text;
  }
  if (module.text.empty())
    module.error =
        "expected PTX that runs on " + getChip() + ", got that of " + got;
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
  Lock lock;
  auto kernel = std::make_unique<Kernel>(Kernel{module, name});
  return (getKernels()[hostFunction] = std::move(kernel)).get();
}

Kernel *capture::lookupKernel(const void *function) {
  Lock lock;
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

/// The numbers behind a directive in front of a body, such as `.maxntid 256,
/// 1`; what is left out is 1. Nothing if the directive is not there.
static std::optional<std::array<uint32_t, 3>>
readExtents(const PtxFunction &function, std::string_view directive) {
  auto at = std::find(function.head.begin(), function.head.end(), directive);
  if (at == function.head.end())
    return std::nullopt;
  std::array<uint32_t, 3> extents = {1, 1, 1};
  for (size_t i = 0; i != 3 && function.head.end() - at > 1; ++i) {
    extents[i] = readNumber(at[1]);
    at += 2;
    if (at == function.head.end() || *at != ",")
      break;
  }
  return extents;
}

static uint64_t countThreads(const PtxFunction &function) {
  for (std::string_view directive : {".maxntid", ".reqntid"})
    if (auto extents = readExtents(function, directive))
      return uint64_t((*extents)[0]) * (*extents)[1] * (*extents)[2];
  return kMaxThreadsPerBlock;
}

static uint64_t addShared(const VariableUses &uses, const PtxCode &code) {
  uint64_t bytes = 0;
  for (const PtxVariable &variable : code.variables) {
    if (variable.space != PtxVariable::Space::Shared ||
        !uses.reached.count(&variable))
      continue;
    uint64_t alignment = std::max<uint64_t>(variable.alignment, 1);
    bytes = (bytes + alignment - 1) / alignment * alignment + variable.bytes;
  }
  return bytes;
}

const PtxCode &capture::getCode(const Module &module) {
  static std::map<const Module *, PtxCode> codes;
  auto [code, isNew] = codes.try_emplace(&module);
  if (isNew)
    code->second = splitPtx(module.text);
  return code->second;
}

const KernelFacts *capture::getFacts(const Kernel &kernel) {
  Lock lock;
  static std::map<const Kernel *, KernelFacts> known;
  auto found = known.find(&kernel);
  if (found != known.end())
    return &found->second;
  // The whole text is read for the sizes of all of its kernels.
  static std::map<const Module *, blockscale::PtxSummary> summaries;
  auto [summary, isNew] = summaries.try_emplace(kernel.module);
  if (isNew)
    summary->second = blockscale::summarizePtx(kernel.module->text);
  const blockscale::PtxEntry *entry = summary->second.lookup(kernel.name);
  const PtxCode &code = getCode(*kernel.module);
  auto function =
      std::find_if(code.functions.begin(), code.functions.end(),
                   [&](const PtxFunction &function) {
                     return function.isEntry && function.name == kernel.name;
                   });
  if (!entry || !entry->paramSizes || function == code.functions.end())
    return nullptr;
  KernelFacts &facts = known[&kernel];
  facts.paramSizes = *entry->paramSizes;
  facts.uses = findVariableUses(code, kernel.name);
  facts.sharedBytes = addShared(facts.uses, code);
  facts.maxThreads = countThreads(*function);
  facts.cluster = readExtents(*function, ".reqnctapercluster");
  return &facts;
}

uint64_t capture::getDynamicSharedLimit(const Kernel &kernel,
                                        const KernelFacts &facts) {
  uint64_t free = kDefaultSharedBytes -
                  std::min<uint64_t>(facts.sharedBytes, kDefaultSharedBytes);
  return kernel.dynamicSharedBytes.value_or(free);
}
