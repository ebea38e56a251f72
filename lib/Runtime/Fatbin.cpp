//===- Fatbin.cpp - PTX in fatbins and ELF files --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fatbin has a header, and entries with their own headers; all numbers are
// little-endian. Offsets and sizes come from an untrusted file, so each is
// checked before it is used.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Fatbin.h"

#include "blockscale/Runtime/InputFile.h"
#include "blockscale/Runtime/PtxSummary.h"

#include <cstring>
#include <vector>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// A number at an offset; 0 beyond the end.
template <typename T>
static T readNumber(std::string_view bytes, uint64_t offset) {
  T value = 0;
  if (offset <= bytes.size() && sizeof(T) <= bytes.size() - offset)
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Bytes from an offset on; fewer at the end.
static std::string_view slice(std::string_view bytes, uint64_t offset,
                              uint64_t size) {
  return offset <= bytes.size() ? bytes.substr(offset, size)
                                : std::string_view();
}

//===----------------------------------------------------------------------===//
// ELF files
//===----------------------------------------------------------------------===//

/// The bytes of a section of an ELF file of 64 bits; empty if it has none.
static std::string_view findSection(std::string_view image,
                                    std::string_view name) {
  constexpr std::string_view magic = "\x7f"
                                     "ELF\x02\x01";
  if (image.substr(0, magic.size()) != magic)
    return {};
  auto table = readNumber<uint64_t>(image, 0x28);
  auto entrySize = readNumber<uint16_t>(image, 0x3A);
  auto count = readNumber<uint16_t>(image, 0x3C);
  auto namesIndex = readNumber<uint16_t>(image, 0x3E);
  auto getSection = [&](unsigned index) {
    return slice(image, table + uint64_t(index) * entrySize, entrySize);
  };
  auto getBytes = [&](std::string_view section) {
    return slice(image, readNumber<uint64_t>(section, 0x18),
                 readNumber<uint64_t>(section, 0x20));
  };
  std::string_view names = getBytes(getSection(namesIndex));
  for (unsigned i = 0; i != count; ++i) {
    std::string_view section = getSection(i);
    std::string_view found =
        slice(names, readNumber<uint32_t>(section, 0), names.size());
    if (found.substr(0, found.find('\0')) == name)
      return getBytes(section);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

namespace {
enum class Compression { None, Lz4, Zstd };

/// A PTX text, as it is in the file.
struct PtxEntryOfFatbin {
  /// The index of the fatbin in the file.
  size_t container;
  /// 90 is sm_90.
  uint32_t chip;
  Compression compression;
  std::string_view bytes;
  /// The size of the text, if it is compressed.
  uint64_t size;
};
} // namespace

static constexpr uint32_t fatbinMagic = 0xBA55ED50;
static constexpr uint16_t ptxKind = 1;
static constexpr uint64_t lz4Flag = 0x2000, zstdFlag = 0x8000;
static constexpr uint64_t headerSize = 16, entryHeaderSize = 64;

static Error truncated(const std::string &what) {
  return Error("expected " + what + " of a fatbin, got the end of the file");
}

/// Adds the entries of one fatbin.
static Error addEntries(std::string_view fatbin, size_t container,
                        std::vector<PtxEntryOfFatbin> &entries) {
  while (!fatbin.empty()) {
    if (fatbin.size() < entryHeaderSize)
      return truncated("the header of an entry");
    uint64_t header = readNumber<uint32_t>(fatbin, 4);
    uint64_t size = readNumber<uint64_t>(fatbin, 8);
    if (header < entryHeaderSize || header > fatbin.size() ||
        size > fatbin.size() - header)
      return truncated("the bytes of an entry");
    uint64_t flags = readNumber<uint64_t>(fatbin, 40);
    PtxEntryOfFatbin entry = {};
    entry.container = container;
    entry.chip = readNumber<uint32_t>(fatbin, 28);
    entry.compression = flags & lz4Flag    ? Compression::Lz4
                        : flags & zstdFlag ? Compression::Zstd
                                           : Compression::None;
    // Padding follows the compressed bytes.
    uint64_t compressed = readNumber<uint32_t>(fatbin, 16);
    bool isCompressed = entry.compression != Compression::None;
    entry.bytes =
        slice(fatbin, header, isCompressed ? std::min(compressed, size) : size);
    entry.size = readNumber<uint64_t>(fatbin, 56);
    if (readNumber<uint16_t>(fatbin, 0) == ptxKind)
      entries.push_back(entry);
    fatbin.remove_prefix(header + size);
  }
  return Error::success();
}

/// The PTX texts of consecutive fatbins, with padding in between.
static Error findEntries(std::string_view bytes, size_t &container,
                         std::vector<PtxEntryOfFatbin> &entries) {
  while (!bytes.empty()) {
    if (bytes.front() == '\0') {
      bytes.remove_prefix(1);
      continue;
    }
    if (readNumber<uint32_t>(bytes, 0) != fatbinMagic)
      return Error("expected the header of a fatbin, got something else");
    uint64_t header = readNumber<uint16_t>(bytes, 6);
    uint64_t size = readNumber<uint64_t>(bytes, 8);
    if (header < headerSize || header > bytes.size() ||
        size > bytes.size() - header)
      return truncated("the entries");
    if (Error error =
            addEntries(bytes.substr(header, size), container++, entries))
      return error;
    bytes.remove_prefix(header + size);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// Decompresses an LZ4 block: literal bytes, and copies of earlier ones.
static Result<std::string> decompressLz4(std::string_view bytes,
                                         uint64_t size) {
  std::string text;
  size_t at = 0;
  auto isGood = true;
  auto takeByte = [&]() -> uint8_t {
    isGood &= at < bytes.size();
    return isGood ? bytes[at++] : 0;
  };
  // A length of 15 continues in further bytes.
  auto takeLength = [&](uint64_t length) {
    if (length != 15)
      return length;
    uint8_t more;
    do {
      more = takeByte();
      length += more;
    } while (isGood && more == 255);
    return length;
  };
  while (isGood && text.size() < size) {
    uint8_t token = takeByte();
    uint64_t literals = takeLength(token >> 4);
    isGood &= literals <= bytes.size() - at && literals <= size - text.size();
    if (!isGood)
      break;
    text.append(bytes, at, literals);
    at += literals;
    if (text.size() == size)
      break;
    uint64_t distance = takeByte();
    distance |= uint64_t(takeByte()) << 8;
    constexpr uint64_t leastCopy = 4;
    uint64_t length = takeLength(token & 15) + leastCopy;
    isGood &= distance != 0 && distance <= text.size() &&
              length <= size - text.size();
    for (uint64_t i = 0; isGood && i != length; ++i)
      text += text[text.size() - distance];
  }
  if (!isGood || text.size() != size)
    return Error("expected " + std::to_string(size) +
                 " bytes of compressed PTX, got invalid data");
  return text;
}

static Result<std::string> getText(const PtxEntryOfFatbin &entry,
                                   const Decompress &decompressZstd) {
  // An untrusted size could be anything.
  if (entry.compression != Compression::None && entry.size > maxInputSize)
    return Error("expected at most " + std::to_string(maxInputSize) +
                 " bytes of PTX, got " + std::to_string(entry.size));
  Result<std::string> text = std::string(entry.bytes);
  if (entry.compression == Compression::Lz4)
    text = decompressLz4(entry.bytes, entry.size);
  if (entry.compression == Compression::Zstd)
    text = decompressZstd
               ? decompressZstd(entry.bytes, entry.size)
               : Result<std::string>(
                     Error("expected PTX that is not compressed (zstd): nvcc "
                           "--no-compress writes it"));
  // The text ends in zeros.
  if (text)
    text->resize(std::min(text->size(), text->find('\0')));
  return text;
}

/// The files in an archive (a static library).
static std::vector<std::string_view> getMembers(std::string_view image) {
  constexpr std::string_view magic = "!<arch>\n";
  constexpr size_t headerSize = 60, sizeOffset = 48, sizeDigits = 10;
  std::vector<std::string_view> members;
  if (image.substr(0, magic.size()) != magic)
    return members;
  for (size_t at = magic.size();
       at < image.size() && image.size() - at > headerSize;) {
    size_t size = 0;
    for (char digit : image.substr(at + sizeOffset, sizeDigits))
      if (digit >= '0' && digit <= '9')
        size = size * 10 + (digit - '0');
    at += headerSize;
    members.push_back(slice(image, at, size));
    // Members start at even offsets.
    at += size + size % 2;
  }
  return members;
}

/// The bytes of all fatbins; those of a section or a file are in one piece.
static std::vector<std::string_view> findFatbins(std::string_view image) {
  if (readNumber<uint32_t>(image, 0) == fatbinMagic)
    return {image};
  std::vector<std::string_view> files = getMembers(image), fatbins;
  if (files.empty())
    files.push_back(image);
  // nvcc -rdc=true writes the second one.
  for (std::string_view file : files)
    for (const char *name : {".nv_fatbin", "__nv_relfatbin"})
      if (std::string_view bytes = findSection(file, name); !bytes.empty())
        fatbins.push_back(bytes);
  return fatbins;
}

bool blockscale::hasFatbin(std::string_view image) {
  return !findFatbins(image).empty();
}

Result<std::string> blockscale::readFatbin(std::string_view image,
                                           std::string_view target,
                                           std::string_view entry,
                                           const Decompress &decompressZstd) {
  std::vector<PtxEntryOfFatbin> entries;
  size_t numContainers = 0;
  for (std::string_view fatbins : findFatbins(image))
    if (Error error = findEntries(fatbins, numContainers, entries))
      return error;
  // The texts for the requested or the newest chip, by fatbin.
  struct Candidate {
    uint32_t chip;
    std::string text, target;
  };
  std::vector<Candidate> candidates;
  std::string targets;
  size_t container = 0;
  for (const PtxEntryOfFatbin &each : entries) {
    Result<std::string> text = getText(each, decompressZstd);
    if (!text)
      return text.error();
    std::string own = summarizePtx(*text).target;
    targets += " " + own;
    if (!target.empty() && own != target)
      continue;
    bool isSame = !candidates.empty() && each.container == container;
    container = each.container;
    if (!isSame)
      candidates.push_back({0, "", ""});
    if (each.chip >= candidates.back().chip)
      candidates.back() = {each.chip, std::move(*text), own};
  }
  if (entries.empty())
    return Error("expected a fatbin with PTX, got one with machine code alone: "
                 "nvcc -gencode arch=compute_XX,code=compute_XX adds it");
  if (candidates.empty())
    return Error("expected PTX for " + std::string(target) + ", got PTX for" +
                 targets);
  if (candidates.size() == 1)
    return std::move(candidates.front().text);
  std::string names;
  for (Candidate &candidate : candidates)
    for (const PtxEntry &kernel : summarizePtx(candidate.text).entries) {
      if (kernel.name == entry)
        return std::move(candidate.text);
      names += " " + shortenForMessage(kernel.name);
    }
  return Error((entry.empty()
                    ? "expected --entry, because there are "
                    : "expected --entry to name a kernel, of which there "
                      "are in ") +
               std::to_string(candidates.size()) + " fatbins:" + names);
}
