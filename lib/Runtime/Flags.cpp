//===- Flags.cpp - Command lines without LLVM -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// blockscale-launch travels to machines without LLVM, so its command line
// cannot be LLVM's.
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

/// The row that `written`, a flag with its dashes, names; null if there is
/// none.
static const Flag *findFlag(const std::vector<Flag> &table,
                            std::string_view written, FlagStyle style) {
  bool hasTwo = written.substr(0, 2) == "--";
  if (!hasTwo && style == FlagStyle::Strict)
    return nullptr;
  std::string_view name = written.substr(hasTwo ? 2 : 1);
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

std::string blockscale::printFlags(const std::vector<Flag> &table) {
  constexpr size_t column = 24;
  std::string text;
  for (const Flag &flag : table) {
    std::string left = flag.name.size() == 1 ? "  -" : "  --";
    left.append(flag.name);
    if (flag.isValueOptional)
      left.append("[=").append(flag.value).append("]");
    else if (!flag.value.empty())
      left.append("=").append(flag.value);
    left.resize(std::max(column, left.size() + 1), ' ');
    text.append(left).append(flag.help).append("\n");
  }
  return text;
}
