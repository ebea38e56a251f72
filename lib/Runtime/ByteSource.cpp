//===- ByteSource.cpp - Sequential input ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The .npy reader reads files, pipes and texts in memory through one interface.
// It checks sizes before it reads, if the source knows its length.
//
//===----------------------------------------------------------------------===//

#include "ByteSource.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::blockscale;

Result<size_t> MemorySource::read(void *to, size_t size) {
  size = std::min(size, bytes.size());
  if (size != 0)
    std::memcpy(to, bytes.data(), size);
  bytes.remove_prefix(size);
  return size;
}

FileSource::~FileSource() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Error FileSource::open(const std::string &path) {
  descriptor = path == "-" ? ::dup(STDIN_FILENO)
                           : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0)
    return Error(systemErrorText(errno));
  if (S_ISREG(status.st_mode))
    bytesLeft = static_cast<uint64_t>(status.st_size);
  return Error::success();
}

Result<size_t> FileSource::read(void *to, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t got =
        ::read(descriptor, static_cast<char *>(to) + done, size - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return Error(systemErrorText(errno));
    if (got == 0)
      break;
    done += static_cast<size_t>(got);
  }
  if (bytesLeft)
    *bytesLeft -= std::min<uint64_t>(*bytesLeft, done);
  return done;
}
