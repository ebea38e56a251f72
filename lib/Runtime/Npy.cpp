//===- Npy.cpp - Arrays and .npy files ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads untrusted files: sizes are checked before memory is allocated, and
// everything that does not fit is an error.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Npy.h"
#include "ByteSource.h"
#include "NpyHeader.h"

#include <algorithm>
#include <cstdlib>

using namespace mlir;
using namespace mlir::blockscale;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "array data is used in place and must have the byte order of the host"
#endif

static constexpr std::string_view magic("\x93NUMPY", 6);

/// A version of the format is a number and the width of the header's length.
struct NpyVersion {
  uint8_t major;
  uint8_t minor;
  unsigned lengthBytes;
};
static constexpr NpyVersion npyVersions[] = {{1, 0, 2}, {2, 0, 4}, {3, 0, 4}};

//===----------------------------------------------------------------------===//
// Sizes and memory
//===----------------------------------------------------------------------===//

Result<int64_t> blockscale::computeByteSize(DType dtype,
                                            const std::vector<int64_t> &shape) {
  if (shape.size() > maxRank)
    return Error("rank too high: expected at most " + std::to_string(maxRank) +
                 " dimensions, got " + std::to_string(shape.size()));
  int64_t bytes = getDTypeInfo(dtype).size;
  bool empty = false;
  for (int64_t dimension : shape) {
    if (dimension < 0)
      return Error("negative dimension: expected at least 0, got " +
                   std::to_string(dimension) + " in shape " +
                   printShape(shape));
    empty |= dimension == 0;
    if (dimension != 0 && bytes > INT64_MAX / dimension)
      return Error("overflowing shape: expected at most " +
                   std::to_string(INT64_MAX) + " bytes, got shape " +
                   printShape(shape));
    bytes *= std::max<int64_t>(dimension, 1);
  }
  return empty ? 0 : bytes;
}

/// Checks that the vector can grow to `size` bytes. Its growth can only fail
/// with an exception, so this allocates the memory first.
static Error reserveBytes(std::vector<uint8_t> &data, uint64_t size) {
  if (size <= data.capacity())
    return Error::success();
  // Volatile, so that no compiler removes the pair of calls. Not `new`, whose
  // handler a program may have set to abort.
  void *volatile probe = std::malloc(size);
  if (!probe)
    return Error("not enough memory: expected " + std::to_string(size) +
                 " bytes, got none");
  std::free(probe);
  data.reserve(size);
  return Error::success();
}

Result<NpyArray> blockscale::makeZeros(DType dtype,
                                       std::vector<int64_t> shape) {
  Result<int64_t> size = computeByteSize(dtype, shape);
  if (!size)
    return size.error();
  NpyArray array{dtype, std::move(shape), {}};
  if (Error error = reserveBytes(array.data, *size))
    return error;
  array.data.resize(*size);
  return array;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Appends `size` bytes, or all that are left, to `data`. Memory grows in
/// proportion to the bytes that are really there.
static Error readUpTo(ByteSource &source, uint64_t size,
                      std::vector<uint8_t> &data) {
  constexpr uint64_t minChunk = 1 << 16;
  uint64_t end = data.size() + size;
  if (std::optional<uint64_t> remaining = source.remaining())
    if (Error error =
            reserveBytes(data, data.size() + std::min(size, *remaining)))
      return error;
  while (data.size() < end) {
    uint64_t old = data.size();
    uint64_t spare = data.capacity() - old;
    uint64_t chunk = std::min(end - old, std::max({spare, old, minChunk}));
    if (Error error = reserveBytes(data, old + chunk))
      return error;
    data.resize(old + chunk);
    Result<size_t> got = source.read(data.data() + old, chunk);
    if (!got)
      return got.error();
    data.resize(old + *got);
    if (*got < chunk)
      break;
  }
  return Error::success();
}

static std::string printHex(const uint8_t *bytes, size_t size) {
  constexpr char hexDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += i == 0 ? "" : " ";
    text += hexDigits[bytes[i] >> 4];
    text += hexDigits[bytes[i] & 15];
  }
  return text.empty() ? "nothing" : text;
}

/// "PROBLEM: expected EXPECTED bytes, got GOT".
static Error sizeError(std::string_view problem, uint64_t expected,
                       uint64_t got) {
  return Error(std::string(problem) + ": expected " + std::to_string(expected) +
               " bytes, got " + std::to_string(got));
}

/// Reads the magic bytes and the version.
static Result<NpyVersion> readVersion(ByteSource &source) {
  std::vector<uint8_t> start;
  if (Error error = readUpTo(source, magic.size() + 2, start))
    return error;
  size_t magicSize = std::min(start.size(), magic.size());
  if (magicSize < magic.size() ||
      !std::equal(
          magic.begin(), magic.end(), start.begin(),
          [](char a, uint8_t b) { return uint8_t(a) == b; }))
    return Error("not an npy file: expected it to start with 93 4e 55 4d 50 "
                 "59, got " +
                 printHex(start.data(), magicSize));
  if (start.size() < magic.size() + 2)
    return sizeError("truncated version", 2, start.size() - magic.size());
  const uint8_t *number = start.data() + magic.size();
  for (const NpyVersion &version : npyVersions)
    if (version.major == number[0] && version.minor == number[1])
      return version;
  return Error("unsupported version: expected 1.0, 2.0 or 3.0, got " +
               std::to_string(number[0]) + "." + std::to_string(number[1]));
}

static Result<NpyHeader> readHeader(ByteSource &source, NpyVersion version) {
  std::vector<uint8_t> length;
  if (Error error = readUpTo(source, version.lengthBytes, length))
    return error;
  if (length.size() < version.lengthBytes)
    return sizeError("truncated header length", version.lengthBytes,
                     length.size());
  uint64_t size = 0;
  for (size_t i = length.size(); i-- > 0;)
    size = size << 8 | length[i];
  std::vector<uint8_t> text;
  if (Error error = readUpTo(source, size, text))
    return error;
  if (text.size() < size)
    return sizeError("header longer than the file", size, text.size());
  return parseNpyHeader(std::string_view(
      reinterpret_cast<const char *>(text.data()), text.size()));
}

/// Checks the bytes that are left in the source, if known, against the size in
/// the header.
static Error checkDataSize(uint64_t expected, uint64_t got) {
  if (got < expected)
    return sizeError("truncated data", expected, got);
  if (got > expected)
    return sizeError("trailing data", expected, got);
  return Error::success();
}

static Result<NpyArray> readArray(ByteSource &source) {
  Result<NpyVersion> version = readVersion(source);
  if (!version)
    return version.error();
  Result<NpyHeader> header = readHeader(source, *version);
  if (!header)
    return header.error();
  Result<int64_t> size = computeByteSize(header->dtype, header->shape);
  if (!size)
    return size.error();
  if (std::optional<uint64_t> remaining = source.remaining())
    if (Error error = checkDataSize(*size, *remaining))
      return error;
  NpyArray array{header->dtype, std::move(header->shape), {}};
  if (Error error = readUpTo(source, *size, array.data))
    return error;
  if (Error error = checkDataSize(*size, array.data.size()))
    return error;
  // A pipe needs one more read to show that it is at its end.
  std::vector<uint8_t> rest;
  if (Error error = readUpTo(source, 1, rest))
    return error;
  if (!rest.empty())
    return Error("trailing data: expected " + std::to_string(*size) +
                 " bytes, got more");
  return array;
}

Result<NpyArray> blockscale::parseNpy(std::string_view bytes) {
  MemorySource source(bytes);
  return readArray(source);
}

Result<NpyArray> blockscale::readNpy(const std::string &path) {
  FileSource source;
  if (Error error = source.open(path))
    return pathError(path, error.message());
  Result<NpyArray> array = readArray(source);
  if (!array)
    return pathError(path, array.message());
  return array;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string blockscale::serializeNpy(const NpyArray &array) {
  // numpy pads the header so that data can be mapped with this alignment, and
  // ends it with a newline. A header never outgrows the two bytes of its length
  // in version 1.0, because maxRank dimensions have fewer characters.
  constexpr size_t alignment = 64;
  const NpyVersion &version = npyVersions[0];
  size_t prefixSize = magic.size() + 2 + version.lengthBytes;
  std::string header = printNpyHeader(array.dtype, array.shape);
  size_t unpadded = prefixSize + header.size() + 1;
  header.append((alignment - unpadded % alignment) % alignment, ' ');
  header += '\n';

  std::string bytes;
  bytes.reserve(prefixSize + header.size() + array.data.size());
  bytes.append(magic);
  bytes += static_cast<char>(version.major);
  bytes += static_cast<char>(version.minor);
  for (unsigned i = 0; i < version.lengthBytes; ++i)
    bytes += static_cast<char>(header.size() >> 8 * i & 0xff);
  bytes.append(header);
  bytes.append(array.data.begin(), array.data.end());
  return bytes;
}
