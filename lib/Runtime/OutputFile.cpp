//===- OutputFile.cpp - Whole files or none -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files appear complete or not at all, since somebody may read a result while
// it is written, and a disk may be full.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/OutputFile.h"
#include "OutputPath.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::blockscale;

static Error systemError(const std::string &path, int errorNumber) {
  return pathError(path, systemErrorText(errorNumber));
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

/// Writes all bytes; returns an errno value, 0 for success.
static int writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    if (written == 0)
      return EIO;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

/// Writes all bytes and closes; returns the first error. A full disk may be
/// reported by close only.
static int writeAndClose(int descriptor, std::string_view bytes) {
  int failure = writeAll(descriptor, bytes);
  // After EINTR the descriptor is closed on Linux, and all bytes were taken.
  if (::close(descriptor) != 0 && errno != EINTR && failure == 0)
    failure = errno;
  return failure;
}

/// Makes a name in the target's directory, so that a rename suffices, and
/// passes it to `create` until the name is free. Returns the last result of
/// `create`, with its errno.
template <typename Create>
static int createBeside(const std::string &target, std::string &name,
                        Create create) {
  static constexpr int maxAttempts = 10000;
  std::string prefix = target.substr(0, target.rfind('/') + 1) +
                       ".blockscale-" + std::to_string(::getpid()) + "-";
  int result = -1;
  for (int i = 0; i < maxAttempts; ++i) {
    name = prefix + std::to_string(i) + ".tmp";
    result = create(name.c_str());
    if (result >= 0 || errno != EEXIST)
      break;
  }
  return result;
}

/// Removes a file if there is one, and forgets its name.
static void removeFile(std::string &name) {
  if (!name.empty())
    ::unlink(name.c_str());
  name.clear();
}

//===----------------------------------------------------------------------===//
// OutputSet
//===----------------------------------------------------------------------===//

OutputSet::~OutputSet() {
  for (File &file : files) {
    removeFile(file.temporary);
    removeFile(file.backup);
  }
}

Error OutputSet::add(const std::string &path, std::string_view bytes) {
  Result<OutputPath> resolved = resolveOutputPath(path);
  if (!resolved)
    return pathError(path, resolved.message());
  if (resolved->kind == OutputPath::Kind::File)
    return stageFile(path, resolved->target, bytes);
  streams.push_back({path, resolved->descriptor, std::string(bytes)});
  return Error::success();
}

/// Whether two paths name one file, which may not exist yet.
static bool isSameFile(const std::string &a, const std::string &b) {
  struct stat statusA, statusB;
  if (::stat(a.c_str(), &statusA) == 0 && ::stat(b.c_str(), &statusB) == 0)
    return statusA.st_dev == statusB.st_dev && statusA.st_ino == statusB.st_ino;
  size_t nameA = a.rfind('/') + 1, nameB = b.rfind('/') + 1;
  if (a.substr(nameA) != b.substr(nameB))
    return false;
  std::string directoryA = nameA == 0 ? "." : a.substr(0, nameA);
  std::string directoryB = nameB == 0 ? "." : b.substr(0, nameB);
  return ::stat(directoryA.c_str(), &statusA) == 0 &&
         ::stat(directoryB.c_str(), &statusB) == 0 &&
         statusA.st_dev == statusB.st_dev && statusA.st_ino == statusB.st_ino;
}

/// Gives a new file the permissions of the one that it replaces, and its owner
/// if the process may change owners. Returns an errno value.
static int copyPermissions(int descriptor, const struct stat &old) {
  [[maybe_unused]] int ignored = ::fchown(descriptor, old.st_uid, old.st_gid);
  return ::fchmod(descriptor, old.st_mode & 0777) == 0 ? 0 : errno;
}

Error OutputSet::stageFile(const std::string &path, const std::string &target,
                           std::string_view bytes) {
  for (const File &file : files)
    if (isSameFile(file.target, target))
      return pathError(path,
                       "expected an output of its own, got the file of '" +
                           file.path + "'");
  struct stat status;
  bool replaces = ::stat(target.c_str(), &status) == 0;
  // Check, because a rename would also replace a write-protected file.
  if (replaces && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)
    return systemError(path, errno);

  std::string temporary;
  int descriptor = createBeside(target, temporary, [](const char *name) {
    // All permissions, minus those in the umask of the process.
    return ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  });
  if (descriptor < 0)
    return systemError(path, errno);
  int failure = replaces ? copyPermissions(descriptor, status) : 0;
  int writeFailure = writeAndClose(descriptor, bytes);
  failure = failure == 0 ? writeFailure : failure;
  if (failure != 0) {
    removeFile(temporary);
    return systemError(path, failure);
  }
  files.push_back({path, target, temporary, /*backup=*/"", replaces});
  return Error::success();
}

static Error writeStream(const std::string &path, int descriptor,
                         std::string_view bytes) {
  int failure;
  if (descriptor >= 0) {
    // Keep the order with earlier output of the program.
    std::fflush(nullptr);
    failure = writeAll(descriptor, bytes);
  } else {
    descriptor = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
    failure = descriptor < 0 ? errno : writeAndClose(descriptor, bytes);
  }
  return failure == 0 ? Error::success() : systemError(path, failure);
}

Error OutputSet::commit() {
  // Streams first: while they can fail, no file has been touched.
  for (const Stream &stream : streams)
    if (Error error = writeStream(stream.path, stream.descriptor, stream.bytes))
      return error;
  return replaceFiles();
}

Error OutputSet::replaceFiles() {
  // A file system may lack hard links. Then there is no backup, which is
  // reported only if a rename fails after another one succeeded.
  if (files.size() > 1)
    for (File &file : files) {
      auto linkTo = [&](const char *name) {
        return ::link(file.target.c_str(), name);
      };
      if (file.replaces && createBeside(file.target, file.backup, linkTo) != 0)
        file.backup.clear();
    }
  for (File &file : files) {
    if (::rename(file.temporary.c_str(), file.target.c_str()) != 0) {
      Error error = systemError(file.path, errno);
      return Error(error.message() + restoreFiles());
    }
    file.temporary.clear();
  }
  for (File &file : files)
    removeFile(file.backup);
  return Error::success();
}

/// Undoes the renames. Returns a text to append to the message.
std::string OutputSet::restoreFiles() {
  std::string lost;
  for (File &file : files) {
    if (!file.temporary.empty())
      continue;
    if (!file.replaces)
      ::unlink(file.target.c_str());
    else if (!file.backup.empty() &&
             ::rename(file.backup.c_str(), file.target.c_str()) == 0)
      file.backup.clear();
    else
      lost += "; '" + file.path + "' has been replaced already";
  }
  return lost;
}

bool blockscale::isSameOutput(const std::string &a, const std::string &b) {
  Result<OutputPath> pathA = resolveOutputPath(a), pathB = resolveOutputPath(b);
  if (!pathA || !pathB || pathA->kind != pathB->kind ||
      pathA->descriptor != pathB->descriptor)
    return false;
  if (pathA->kind == OutputPath::Kind::File)
    return isSameFile(pathA->target, pathB->target);
  struct stat status;
  bool isPipe = ::stat(a.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
  return pathA->descriptor >= 0 || (isPipe && isSameFile(a, b));
}

Error blockscale::writeOutput(const std::string &path, std::string_view bytes) {
  Result<OutputPath> resolved = resolveOutputPath(path);
  if (!resolved)
    return pathError(path, resolved.message());
  // Write a stream directly; a set would copy the bytes.
  if (resolved->kind == OutputPath::Kind::Stream)
    return writeStream(path, resolved->descriptor, bytes);
  OutputSet outputs;
  if (Error error = outputs.add(path, bytes))
    return error;
  return outputs.commit();
}
