//===- Flags.cpp - Command lines without LLVM -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses flags. llvm::cl has one registry for everything that a program links,
// so LLVM's own flags would be flags of every program (docs/Rationale.md).
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Flags.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;

std::string CommandLine::get(std::string_view flag) const {
  auto it = flags.find(flag);
  return it == flags.end() ? "" : it->second.front();
}

std::vector<std::string> CommandLine::getAll(std::string_view flag) const {
  auto it = flags.find(flag);
  return it == flags.end() ? std::vector<std::string>() : it->second;
}

/// The table row of `written`, a flag with its dashes; null if there is none.
static const Flag *findFlag(const std::vector<Flag> &table,
                            std::string_view written, FlagStyle style) {
  bool hasTwo = written.substr(0, 2) == "--";
  bool isHelp = written == "-h";
  if (!hasTwo && !isHelp && style == FlagStyle::Strict)
    return nullptr;
  std::string_view name = isHelp ? "help" : written.substr(hasTwo ? 2 : 1);
  auto row = std::find_if(table.begin(), table.end(),
                          [&](const Flag &flag) { return flag.name == name; });
  return row == table.end() ? nullptr : &*row;
}

static Error unknownFlag(const std::string &argument,
                         const std::string &written, FlagStyle style) {
  if (style == FlagStyle::Strict)
    return Error("unknown flag " + quoteForMessage(written) + ", see --help");
  return Error("Unknown command line argument " + quoteForMessage(argument) +
               ". See --help");
}

Result<CommandLine>
blockscale::parseFlags(const std::vector<Flag> &table,
                       const std::vector<std::string> &arguments,
                       FlagStyle style) {
  CommandLine line;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (argument == "--") {
      line.positional.insert(line.positional.end(), arguments.begin() + i + 1,
                             arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      line.positional.push_back(argument);
      continue;
    }
    size_t equals = argument.find('=');
    std::string written = argument.substr(0, equals);
    const Flag *flag = findFlag(table, written, style);
    if (!flag)
      return unknownFlag(argument, written, style);
    bool hasValue = equals != argument.npos;
    if (flag->value.empty() && hasValue)
      return Error("expected no value for " + written + ", got " +
                   quoteForMessage(argument.substr(equals + 1)));
    std::string value = hasValue ? argument.substr(equals + 1) : "";
    bool needsValue = !flag->value.empty() && !flag->isValueOptional;
    if (needsValue && !hasValue) {
      if (++i == arguments.size())
        return Error("expected a value after " + written);
      value = arguments[i];
    }
    if ((needsValue || hasValue) && value.empty() && style == FlagStyle::Strict)
      return Error("expected a value for " + written + ", got an empty one");
    std::vector<std::string> &values = line.flags[std::string(flag->name)];
    if (!values.empty() && !flag->isRepeatable)
      return Error("expected " + written + " once, got it twice");
    values.push_back(value);
  }
  return line;
}

static std::string printFlag(const Flag &flag) {
  constexpr size_t column = 24;
  std::string line = flag.name.size() == 1 ? "  -" : "  --";
  line.append(flag.name);
  if (flag.isValueOptional)
    line.append("[=").append(flag.value).append("]");
  else if (!flag.value.empty())
    line.append("=").append(flag.value);
  line.resize(std::max(column, line.size() + 1), ' ');
  return line.append(flag.help).append("\n");
}

std::string blockscale::printFlags(const std::vector<Flag> &table) {
  std::string text;
  std::vector<std::string_view> needs = {""};
  for (const Flag &flag : table)
    if (std::find(needs.begin(), needs.end(), flag.needs) == needs.end())
      needs.push_back(flag.needs);
  for (std::string_view need : needs) {
    if (!need.empty())
      text.append("\nWith ").append(need).append(":\n");
    for (const Flag &flag : table)
      if (flag.needs == need)
        text += printFlag(flag);
  }
  return text;
}
