//===- Flags.h - Command lines without LLVM ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command lines of all programs but blockscale-opt; some of them must not
// link LLVM. A flag is `--NAME=VALUE`, `--NAME VALUE` or, without a value,
// `--NAME`, anywhere on the command line; `--` ends the flags.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_FLAGS_H
#define BLOCKSCALE_RUNTIME_FLAGS_H

#include "blockscale/Runtime/Error.h"

#include <map>
#include <vector>

namespace mlir::blockscale {

/// One row of a program's table of flags.
struct Flag {
  /// Without dashes.
  std::string_view name;
  /// The name of the value in the help; empty for a flag without value.
  std::string_view value;
  std::string_view help;
  /// `--NAME` alone is allowed, too; a value then needs `=`.
  bool isValueOptional = false;
  /// Other flags are allowed at most once.
  bool isRepeatable = false;
  /// What else the flag needs, such as "--device=sim"; empty for nothing. The
  /// help groups flags by this.
  // (Initializer lists omit it, which is a warning without this initializer.)
  // NOLINTNEXTLINE(readability-redundant-member-init)
  std::string_view needs = {};
};

/// The style of a command line.
enum class FlagStyle {
  /// Two dashes, and values that are not empty.
  Strict,
  /// The style of LLVM's programs: one dash or two, and any value.
  LLVM,
};

struct CommandLine {
  bool has(std::string_view flag) const { return flags.count(flag) != 0; }
  /// The value of a flag; empty if it was not given.
  std::string get(std::string_view flag) const;
  /// All values of a flag, in order.
  std::vector<std::string> getAll(std::string_view flag) const;

  /// The flags that were given, by name, with their values.
  std::map<std::string, std::vector<std::string>, std::less<>> flags;
  std::vector<std::string> positional;
};

/// `arguments` are those of main without the program's name. `-h` is `--help`,
/// if the table has that.
Result<CommandLine> parseFlags(const std::vector<Flag> &table,
                               const std::vector<std::string> &arguments,
                               FlagStyle style = FlagStyle::Strict);

/// The help: a line for each flag; flags that need something come last.
std::string printFlags(const std::vector<Flag> &table);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_FLAGS_H
