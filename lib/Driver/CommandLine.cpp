//===- CommandLine.cpp - What the programs' flags share -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/CommandLine.h"

#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

void blockscale::dropForeignOptions(llvm::cl::OptionCategory &category) {
  SmallVector<llvm::cl::Option *> foreign;
  for (auto &[name, option] : llvm::cl::getRegisteredOptions()) {
    bool isOurs = llvm::is_contained(option->Categories, &category);
    if (!isOurs && name != "help" && name != "version")
      foreign.push_back(option);
  }
  for (llvm::cl::Option *option : foreign)
    option->removeArgument();
}

bool blockscale::parseCommandLine(int argc, char **argv, StringRef overview) {
  llvm::cl::SetVersionPrinter(
      [](raw_ostream &os) { os << "blockscale " BLOCKSCALE_VERSION "\n"; });

  // LLVM has a message of its own for this, which does not go to `stream`.
  StringRef last = argc > 1 ? argv[argc - 1] : "";
  auto &options = llvm::cl::getRegisteredOptions();
  auto option = options.find(last.ltrim('-'));
  if (last.starts_with("-") && option != options.end() &&
      option->second->getValueExpectedFlag() == llvm::cl::ValueRequired) {
    reportUsage("expected a value after " + last);
    return false;
  }

  // LLVM starts its messages with the name of the program, some of them on
  // standard error directly: as this name, they are errors like all others.
  SmallVector<const char *> arguments(argv, argv + argc);
  StringRef program = arguments.front();
  bool wantsHelp = llvm::any_of(arguments, [](StringRef argument) {
    return argument.ltrim('-') == "help";
  });
  if (!wantsHelp)
    arguments.front() = "error";
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (llvm::cl::ParseCommandLineOptions(argc, arguments.data(), overview,
                                        &stream))
    return true;

  // A second line may suggest another flag.
  SmallVector<StringRef> lines;
  StringRef(errors).split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef &line : lines) {
    line.consume_front("error:");
    line = line.ltrim();
  }
  std::string message = llvm::join(lines, " ");
  StringRef helpText = "'error --help'";
  if (size_t pos = message.find(helpText); pos != std::string::npos)
    message.replace(pos, helpText.size(), ("'" + program + " --help'").str());
  if (!message.empty())
    reportUsage(message);
  return false;
}

int blockscale::reportFailure(const Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return ExitFailure;
}

int blockscale::reportUsage(const Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return ExitUsage;
}

int blockscale::reportUnsupported(const Twine &what) {
  return reportFailure("not supported in this version: " + what);
}

const Chip *blockscale::parseTarget(StringRef name) {
  const Chip *chip = lookupChip({name.data(), name.size()});
  if (!chip)
    reportUsage(describeUnknownChip({name.data(), name.size()}));
  return chip;
}

bool blockscale::parseNumber(StringRef flag, StringRef text, uint64_t &number) {
  if (!text.getAsInteger(10, number))
    return true;
  reportUsage("expected a number for " + flag + ", got '" + text + "'");
  return false;
}

bool blockscale::parsePtxVersion(StringRef text, unsigned &version) {
  if (!text.getAsInteger(10, version) && isKnownPtxVersion(version))
    return true;
  reportUsage("unknown PTX version '" + text +
              "', expected one of 70 to 78, 80 to 88, 90");
  return false;
}

bool blockscale::checkSchedule(StringRef text) {
  if (isScheduleText(text))
    return true;
  reportUsage("expected a schedule of the form " + describeScheduleForms() +
              ", got '" + text + "'");
  return false;
}
