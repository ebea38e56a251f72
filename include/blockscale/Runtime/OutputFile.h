//===- OutputFile.h - Whole files or none -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An output is one of two things. A regular file, new or old, is written beside
// its place under a temporary name and then renamed, so that no reader ever
// sees a part of it; it keeps the permissions of the file that it replaces, and
// a symbolic link to it stays one (a hard link does not). A stream is written
// in place: `-` (standard output), a path to an open descriptor such as
// /dev/stdout, and every existing file that is not regular, such as /dev/null
// or a pipe.
//
// The parts of a path must exist. Messages start with the path. A write to a
// pipe that nobody reads raises SIGPIPE; a program that wants a message instead
// ignores that signal.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_OUTPUTFILE_H
#define BLOCKSCALE_RUNTIME_OUTPUTFILE_H

#include "blockscale/Runtime/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// Writes one output.
Error writeOutput(const std::string &path, std::string_view bytes);

/// Whether two outputs are one stream or file, which may not exist yet. What
/// has no contents, such as /dev/null, may be several.
bool isSameOutput(const std::string &a, const std::string &b);

/// Several outputs that appear together or not at all. `add` writes the bytes
/// of each output to a temporary file, `commit` gives all of them their names.
/// Without a successful commit nothing has changed, except that what a stream
/// took cannot be called back: where one fails, those before it keep their
/// bytes.
class OutputSet {
public:
  OutputSet() = default;
  OutputSet(const OutputSet &) = delete;
  OutputSet &operator=(const OutputSet &) = delete;
  /// Removes temporary files that were not committed.
  ~OutputSet();

  /// Stages an output; the same file twice is an error.
  Error add(const std::string &path, std::string_view bytes);

  /// Stores everything that was added. To be called once.
  Error commit();

private:
  /// Bytes for a stream, which cannot be staged.
  struct Stream {
    std::string path;
    /// An open descriptor, or -1 for one that is opened by its path.
    int descriptor;
    std::string bytes;
  };

  /// A regular file between `add` and the end of `commit`.
  struct File {
    /// As the user wrote it.
    std::string path;
    /// Where the file lies: `path` with its symbolic links followed.
    std::string target;
    /// The new contents; empty once it has been given the target's name.
    std::string temporary;
    /// A second name of the old contents while a commit may still fail.
    std::string backup;
    bool replaces;
  };

  Error stageFile(const std::string &path, const std::string &target,
                  std::string_view bytes);
  Error replaceFiles();
  std::string restoreFiles();

  std::vector<Stream> streams;
  std::vector<File> files;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_OUTPUTFILE_H
