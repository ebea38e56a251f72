//===- OutputFile.h - Whole files or none -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An output is a file or a stream. A regular file, new or old, is written under
// a temporary name in the same folder and then renamed, so that no reader ever
// sees a part of it. It keeps the permissions of the file that it replaces, and
// symbolic links to it stay valid (hard links do not). A stream is written
// directly: `-` (standard output), a path to an open descriptor such as
// /dev/stdout, and every existing file that is not regular, such as /dev/null
// or a pipe.
//
// The folders of a path must exist. Messages start with the path. A write to a
// closed pipe raises SIGPIPE; a program that wants a message instead must
// ignore that signal.
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

/// Whether two outputs are the same stream or file, which may not exist yet.
/// Devices without contents, such as /dev/null, do not count.
bool isSameOutput(const std::string &a, const std::string &b);

/// Several outputs that appear together or not at all. `add` writes the bytes
/// of each output to a temporary file, `commit` renames all of them. Without a
/// successful commit nothing changes, except that writes to streams cannot be
/// undone: if a stream fails, earlier streams keep their bytes.
class OutputSet {
public:
  OutputSet() = default;
  OutputSet(const OutputSet &) = delete;
  OutputSet &operator=(const OutputSet &) = delete;
  /// Removes temporary files that were not committed.
  ~OutputSet();

  /// Stages an output; the same file twice is an error.
  Error add(const std::string &path, std::string_view bytes);

  /// Stores everything that was added. Call it once.
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
    /// The real path: `path` with its symbolic links followed.
    std::string target;
    /// The temporary file with the new contents; empty once it is renamed.
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
