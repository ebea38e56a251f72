//===- ByteSource.h - Sequential input --------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_BYTESOURCE_H
#define BLOCKSCALE_LIB_RUNTIME_BYTESOURCE_H

#include "blockscale/Runtime/Error.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mlir::blockscale {

/// Bytes that are read once, from front to back.
class ByteSource {
public:
  virtual ~ByteSource() = default;

  /// Reads `size` bytes, fewer only at the end.
  virtual Result<size_t> read(void *to, size_t size) = 0;

  /// How many bytes are left, if that is known before they are read.
  virtual std::optional<uint64_t> remaining() const = 0;
};

class MemorySource final : public ByteSource {
public:
  explicit MemorySource(std::string_view bytes) : bytes(bytes) {}

  Result<size_t> read(void *to, size_t size) override;
  std::optional<uint64_t> remaining() const override { return bytes.size(); }

private:
  std::string_view bytes;
};

/// A file by its path. Messages do not name it; the user of the source does.
class FileSource final : public ByteSource {
public:
  FileSource() = default;
  FileSource(const FileSource &) = delete;
  FileSource &operator=(const FileSource &) = delete;
  ~FileSource() override;

  Error open(const std::string &path);
  Result<size_t> read(void *to, size_t size) override;
  std::optional<uint64_t> remaining() const override { return bytesLeft; }

private:
  int descriptor = -1;
  /// Known for regular files only.
  std::optional<uint64_t> bytesLeft;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_BYTESOURCE_H
