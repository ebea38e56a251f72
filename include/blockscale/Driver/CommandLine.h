//===- CommandLine.h - What the programs' flags share -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_COMMANDLINE_H
#define BLOCKSCALE_DRIVER_COMMANDLINE_H

#include "blockscale/Support/Chips.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/CommandLine.h"

#include <string>

namespace mlir::blockscale {

/// The exit codes of all programs but blockscale-opt.
enum ExitCode : int {
  ExitSuccess = 0,
  /// Something is wrong with files or their contents.
  ExitFailure = 1,
  /// The command line itself is wrong.
  ExitUsage = 2,
};

/// Makes the options of `category` the only ones: the libraries that are
/// linked bring hundreds of others. A program's option that has the name of one
/// of theirs must be made after this.
void dropForeignOptions(llvm::cl::OptionCategory &category);

/// Parses the command line into the options that there are. False, after an
/// error has been printed, if the command line is wrong.
bool parseCommandLine(int argc, char **argv, StringRef overview);

/// Print "error: ..." and give the exit code.
int reportFailure(const Twine &message);
int reportUsage(const Twine &message);

/// "not supported in this version: ...", for what is yet to be delivered.
int reportUnsupported(const Twine &what);

/// Looks up a target by name; null after a usage error has been printed.
const Chip *parseTarget(StringRef name);

/// Parses `text`, the value of `flag`; false after a usage error has been
/// printed.
bool parseNumber(StringRef flag, StringRef text, uint64_t &number);

/// Parses a PTX version such as "87"; false after a usage error has been
/// printed.
bool parsePtxVersion(StringRef text, unsigned &version);

/// Whether `text` has the form of a schedule; false after a usage error has
/// been printed.
bool checkSchedule(StringRef text);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_COMMANDLINE_H
