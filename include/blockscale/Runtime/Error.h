//===- Error.h - Errors without exceptions ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime library reports errors as text: the programs that use it are
// built without exceptions, and blockscale-launch links neither MLIR nor LLVM.
// Messages are lower case, without a full stop, and say what was expected and
// what was given.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_ERROR_H
#define BLOCKSCALE_RUNTIME_ERROR_H

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mlir::blockscale {

/// Success, or a message. Converts to true on failure, like `llvm::Error`.
class [[nodiscard]] Error {
public:
  static Error success() { return Error(); }

  /// A failure; `message` must not be empty.
  explicit Error(std::string message) : text(std::move(message)) {}

  explicit operator bool() const { return !text.empty(); }
  const std::string &message() const { return text; }

private:
  Error() = default;
  std::string text;
};

/// A value, or the message that says why there is none. Converts to true on
/// success, like `llvm::Expected`.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)), failure(Error::success()) {}
  Result(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

  /// The failure; success when there is a value.
  const Error &error() const { return failure; }
  const std::string &message() const { return failure.message(); }

private:
  std::optional<T> value;
  Error failure;
};

/// The form of every message about a file: `'PATH': MESSAGE`.
Error pathError(std::string_view path, std::string_view message);

/// The system's text for an errno value, in the style of messages.
std::string systemErrorText(int errorNumber);

/// `text` safe to print: bytes other than printable ASCII are escaped as \xNN,
/// and a text longer than 83 bytes is cut to its first 60, "..." and its last
/// 20. Mangled names of kernels may have a thousand characters.
std::string shortenForMessage(std::string_view text);

/// The same in single quotes.
std::string quoteForMessage(std::string_view text);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_ERROR_H
