//===- CommandLine.cpp - What the programs' flags share -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parsers and messages of values that several programs take: targets, PTX
// versions and schedules.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/CommandLine.h"

#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Driver/GpuOptions.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The names of all chips, with a space before each.
static std::string listChips() {
  std::string names;
  for (const Chip &chip : getChips())
    names += ' ' + std::string(chip.name);
  return names;
}

std::variant<CommandLine, ExitCode>
blockscale::parseCommandLine(int argc, char **argv, StringRef usage,
                             std::vector<Flag> table) {
  table.push_back({"help", "", "Print this"});
  table.push_back({"version", "", "Print the version"});
  Result<CommandLine> line = parseFlags(
      table, std::vector<std::string>(argv + 1, argv + argc), FlagStyle::LLVM);
  if (!line) {
    reportUsage(line.message());
    return ExitUsage;
  }
  if (line->has("help")) {
    llvm::outs() << "usage: " << usage << "\n\n" << printFlags(table);
    if (llvm::any_of(table, [](const Flag &f) { return f.value == "CHIP"; }))
      llvm::outs() << "\nCHIP is one of" << listChips() << "\n";
    return ExitSuccess;
  }
  if (line->has("version")) {
    llvm::outs() << "blockscale " BLOCKSCALE_VERSION "\n";
    return ExitSuccess;
  }
  return std::move(*line);
}

int blockscale::reportFailure(const Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return ExitFailure;
}

int blockscale::reportUsage(const Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return ExitUsage;
}

const Chip *blockscale::parseTarget(StringRef name) {
  const Chip *chip = lookupChip(name);
  if (!chip)
    reportUsage(describeUnknownChip(name));
  return chip;
}

bool blockscale::parseNumber(StringRef flag, StringRef text, uint64_t &number) {
  if (!text.getAsInteger(10, number))
    return true;
  reportUsage("expected a number for " + flag + ", got '" + text + "'");
  return false;
}

bool blockscale::parsePtxVersion(StringRef text, unsigned &version) {
  Result<unsigned> read = readPtxVersion(text);
  if (!read) {
    reportUsage(read.message());
    return false;
  }
  version = *read;
  return true;
}

int blockscale::checkNeeds(const CommandLine &line,
                           const std::vector<Flag> &table, StringRef given) {
  for (const Flag &flag : table)
    if (line.has(flag.name) && !flag.needs.empty() &&
        !StringRef(flag.needs).contains(given))
      return reportUsage("expected " + Twine(flag.needs) + " for --" +
                         flag.name + ", got " + given);
  return ExitSuccess;
}

Flag blockscale::getAccumulateFlag() {
  return {"accumulate", "CHUNK",
          "Permit sums of CHUNK terms (32, 64 or 128) as fp8 tensor cores form "
          "them, in products that say nothing about it"};
}

Flag blockscale::getRebaseFlag() {
  return {"rebase", "",
          "With --accumulate, permit elements shifted to one scale per row, "
          "too"};
}

int blockscale::readAccumulation(const CommandLine &line,
                                 Accumulation &licence) {
  GpuCompileOptions options;
  for (const GpuOption &option : getGpuOptions()) {
    std::string name = option.name.str();
    if (!llvm::is_contained({"accumulate", "rebase"}, option.name) ||
        !line.has(name))
      continue;
    if (Error error = option.set(options, "--" + name, line.get(name)))
      return reportUsage(error.message());
  }
  licence = options.accumulation;
  if (licence.rebase && licence.chunk == 0)
    return reportUsage("expected --accumulate for --rebase");
  return ExitSuccess;
}

Flag blockscale::getRaiseFlag() {
  return {"raise", "assume-positive-scales",
          "Rewrite contractions of decoded operands to mma_scaled first",
          /*isValueOptional=*/true};
}

bool blockscale::parseRaise(const CommandLine &line, bool &wantsRaise,
                            bool &assumesPositiveScales) {
  wantsRaise = line.has("raise");
  std::string value = line.get("raise");
  assumesPositiveScales = value == "assume-positive-scales";
  if (value.empty() || assumesPositiveScales)
    return true;
  reportUsage("expected assume-positive-scales or nothing for --raise, got '" +
              value + "'");
  return false;
}

bool blockscale::checkSchedule(StringRef text) {
  if (isScheduleText(text))
    return true;
  reportUsage("expected a schedule of the form " + describeScheduleForms() +
              ", got '" + text + "'" + describeRenamedFields(text));
  return false;
}
