//===- OutputPath.cpp - What an output path names -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds out if a path is a file, a link, a pipe or an open descriptor, since
// only a file can be replaced by renaming.
//
//===----------------------------------------------------------------------===//

#include "OutputPath.h"

#include <cerrno>
#include <charconv>
#include <climits>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::blockscale;

/// The folders whose entries are this process's descriptors. Opening such an
/// entry is not the same as using the descriptor: a file would be written from
/// its start, over earlier output of the program.
static constexpr std::string_view descriptorFolders[] = {"/dev/fd/",
                                                         "/proc/self/fd/"};

/// The descriptor that a path names, or -1.
static int parseDescriptorPath(std::string_view path) {
  for (std::string_view folder : descriptorFolders) {
    if (path.substr(0, folder.size()) != folder)
      continue;
    int descriptor = -1;
    const char *first = path.data() + folder.size();
    const char *last = path.data() + path.size();
    auto [end, status] = std::from_chars(first, last, descriptor);
    if (status == std::errc() && end == last && descriptor >= 0)
      return descriptor;
  }
  return -1;
}

/// Follows one symbolic link. Returns an errno value, 0 for success.
static int followLink(std::string &path) {
  char contents[PATH_MAX];
  ssize_t size = ::readlink(path.c_str(), contents, sizeof(contents));
  if (size < 0)
    return errno;
  if (static_cast<size_t>(size) == sizeof(contents))
    return ENAMETOOLONG;
  std::string_view link(contents, static_cast<size_t>(size));
  // A relative link starts in the folder of the link.
  size_t keep = !link.empty() && link[0] == '/' ? 0 : path.rfind('/') + 1;
  path.resize(keep);
  path.append(link);
  return 0;
}

Result<OutputPath> blockscale::resolveOutputPath(const std::string &path) {
  if (path.empty())
    return Error("expected the name of an output file, got an empty one");
  if (path == "-")
    return OutputPath{OutputPath::Kind::Stream, STDOUT_FILENO, ""};

  constexpr int maxLinks = 40; // The limit of Linux.
  std::string target = path;
  for (int i = 0; i <= maxLinks; ++i) {
    int descriptor = parseDescriptorPath(target);
    if (descriptor >= 0)
      return OutputPath{OutputPath::Kind::Stream, descriptor, ""};
    struct stat status;
    if (::lstat(target.c_str(), &status) != 0) {
      if (errno != ENOENT)
        return Error(systemErrorText(errno));
      // A new file; with a slash at its end it would be a directory.
      if (target.back() == '/')
        return Error(systemErrorText(EISDIR));
      return OutputPath{OutputPath::Kind::File, -1, target};
    }
    if (S_ISDIR(status.st_mode))
      return Error(systemErrorText(EISDIR));
    if (S_ISREG(status.st_mode))
      return OutputPath{OutputPath::Kind::File, -1, target};
    if (!S_ISLNK(status.st_mode))
      return OutputPath{OutputPath::Kind::Stream, -1, ""};
    if (int failure = followLink(target))
      return Error(systemErrorText(failure));
  }
  return Error(systemErrorText(ELOOP));
}
