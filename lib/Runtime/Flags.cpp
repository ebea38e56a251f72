//===- Flags.cpp - Command lines without LLVM -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Flags.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;

std::string CommandLine::get(std::string_view flag) const {
  auto it = flags.find(flag);
  return it == flags.end() ? "" : it->second;
}

Result<CommandLine>
blockscale::parseFlags(const std::vector<Flag> &table,
                       const std::vector<std::string> &arguments) {
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
    auto row = std::find_if(table.begin(), table.end(), [&](const Flag &flag) {
      return written.substr(0, 2) == "--" && written.substr(2) == flag.name;
    });
    if (row == table.end())
      return Error("unknown flag " + quoteForMessage(written) + ", see --help");
    bool hasValue = equals != argument.npos;
    if (row->value.empty() && hasValue)
      return Error("expected no value for " + written + ", got " +
                   quoteForMessage(argument.substr(equals + 1)));
    std::string value = hasValue ? argument.substr(equals + 1) : "";
    bool needsValue = !row->value.empty() && !row->isValueOptional;
    if (needsValue && !hasValue) {
      if (++i == arguments.size())
        return Error("expected a value after " + written);
      value = arguments[i];
    }
    if ((needsValue || hasValue) && value.empty())
      return Error("expected a value for " + written + ", got an empty one");
    if (!line.flags.emplace(row->name, value).second)
      return Error("expected " + written + " once, got it twice");
  }
  return line;
}

std::string blockscale::printFlags(const std::vector<Flag> &table) {
  constexpr size_t column = 24;
  std::string text;
  for (const Flag &flag : table) {
    std::string left = "  --" + std::string(flag.name);
    if (flag.isValueOptional)
      left.append("[=").append(flag.value).append("]");
    else if (!flag.value.empty())
      left.append("=").append(flag.value);
    left.resize(std::max(column, left.size() + 1), ' ');
    text.append(left).append(flag.help).append("\n");
  }
  return text;
}
