//===- CommandLine.h - Shared flags of the programs -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_COMMANDLINE_H
#define BLOCKSCALE_DRIVER_COMMANDLINE_H

#include "blockscale/Runtime/Flags.h"
#include "blockscale/Support/Accumulation.h"
#include "blockscale/Support/Chips.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/Twine.h"

#include <variant>

namespace mlir::blockscale {

/// The exit codes of all programs except blockscale-opt.
enum ExitCode : int {
  ExitSuccess = 0,
  /// Something is wrong with files or their contents.
  ExitFailure = 1,
  /// The command line itself is wrong.
  ExitUsage = 2,
};

/// Parses the command line of a program by its table of flags, to which
/// `--help` and
/// `--version` are added; `usage` is the start of the help. Returns an exit
/// code if the program should end, after printing the help or an error.
std::variant<CommandLine, ExitCode> parseCommandLine(int argc, char **argv,
                                                     StringRef usage,
                                                     std::vector<Flag> table);

/// Print "error: ..." and return the exit code.
int reportFailure(const Twine &message);
int reportUsage(const Twine &message);

/// Looks up a target by name; null after a usage error has been printed.
const Chip *parseTarget(StringRef name);

/// Parses `text`, the value of `flag`; false after a usage error has been
/// printed.
bool parseNumber(StringRef flag, StringRef text, uint64_t &number);

/// Parses a PTX version such as "87" or "8.7"; false after a usage error has
/// been printed.
bool parsePtxVersion(StringRef text, unsigned &version);

/// Checks that flags of `table` on the command line have the flags that they
/// need, among those that are `given`. Returns success, or the exit code after
/// an error.
int checkNeeds(const CommandLine &line, const std::vector<Flag> &table,
               StringRef given);

/// `--raise[=assume-positive-scales]`.
Flag getRaiseFlag();

/// Reads that flag; false after a usage error has been printed.
bool parseRaise(const CommandLine &line, bool &wantsRaise,
                bool &assumesPositiveScales);

/// `--accumulate=CHUNK` and `--rebase`.
Flag getAccumulateFlag();
Flag getRebaseFlag();

/// Reads these flags. Success, or the exit code after an error.
int readAccumulation(const CommandLine &line, Accumulation &licence);

/// Whether `text` has the form of a schedule; false after a usage error has
/// been printed.
bool checkSchedule(StringRef text);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_COMMANDLINE_H
