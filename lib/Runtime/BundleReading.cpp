//===- BundleReading.cpp - Bundles from files -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Truncated or damaged files must not give wrong results, so every byte that is
// used is covered by a checksum.
//
//===----------------------------------------------------------------------===//

#include "BundleFormat.h"
#include "LaunchJson.h"
#include "blockscale/Runtime/Bundle.h"

using namespace mlir;
using namespace mlir::blockscale;
using nlohmann::json;

static uint64_t takeNumber(std::string_view bytes, size_t at, unsigned size) {
  uint64_t number = 0;
  for (unsigned i = size; i-- != 0;)
    number = number << 8 | static_cast<uint8_t>(bytes[at + i]);
  return number;
}

static Error truncated(uint64_t expected, bool isLeast,
                       std::string_view bytes) {
  return Error(std::string("truncated bundle: expected ") +
               (isLeast ? "at least " : "") + std::to_string(expected) +
               " bytes, got " + std::to_string(bytes.size()));
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// Reads one of several names, as its index.
template <size_t size>
static Error readChoice(const JsonNode &node,
                        const std::string_view (&names)[size], size_t &index) {
  std::string list;
  for (index = 0; index != size; ++index) {
    if (node.getText() == names[index])
      return Error::success();
    list.append(index ? " " : "").append(names[index]);
  }
  return expected(node, "one of " + list);
}

static Error readImage(const JsonNode &node, std::string_view file,
                       BundleImage &image) {
  if (Error error = checkFields(node, {"kind", "ptx_version", "offset", "bytes",
                                       "size", "compression", "crc32"}))
    return error;
  size_t kind, compression;
  if (Error error = readChoice(node.getField("kind"), bundleKinds, kind))
    return error;
  image.kind = static_cast<BundleImage::Kind>(kind);
  if (Error error = readName(node.getField("ptx_version"), image.ptxVersion))
    return error;
  if (Error error = readChoice(node.getField("compression"), bundleCompressions,
                               compression))
    return error;
  image.isCompressed = compression != 0;
  uint64_t offset, bytes, checksum;
  const struct {
    const char *name;
    uint64_t &number;
    int64_t least, most;
  } numbers[] = {{"offset", offset, 0, maxBundleNumber},
                 {"bytes", bytes, 0, maxBundleNumber},
                 {"size", image.size, 1, int64_t(maxBundleImageSize)},
                 {"crc32", checksum, 0, UINT32_MAX}};
  for (const auto &row : numbers)
    if (Error error = readInteger(node.getField(row.name), row.least, row.most,
                                  row.number))
      return error;
  if (offset % bundleAlignment != 0)
    return expected(node.getField("offset"),
                    "a multiple of " + std::to_string(bundleAlignment));
  if (offset + bytes > file.size())
    return expected(node.getField("offset"),
                    "an image of " + std::to_string(bytes) +
                        " bytes inside of the file's " +
                        std::to_string(file.size()));
  if (!image.isCompressed && bytes != image.size)
    return expected(node.getField("bytes"), std::to_string(image.size) +
                                                ", as there is no compression");
  image.stored = file.substr(offset, bytes);
  if (computeCrc32(image.stored) != checksum)
    return Error(node.where + ": expected the image's checksum, got another: "
                              "the file is damaged");
  return Error::success();
}

static Error readEntry(const JsonNode &node, std::string_view file,
                       BundleEntry &entry) {
  if (Error error = checkFields(node, {"function", "types", "launch", "images"},
                                /*optional=*/{"most_rows"}))
    return error;
  if (node.has("most_rows"))
    if (Error error = readInteger(node.getField("most_rows"), 1,
                                  maxBundleNumber, entry.mostRows.emplace()))
      return error;
  if (Error error = readName(node.getField("function"), entry.function))
    return error;
  if (Error error = readLaunchInfo(node.getField("launch"), entry.info))
    return error;
  JsonNode types = node.getField("types");
  if (Error error = checkArray(types, entry.info.operands.size()))
    return error;
  for (size_t i = 0; i != types.value.size(); ++i)
    if (Error error = readName(types.getElement(i), entry.types.emplace_back()))
      return error;
  JsonNode images = node.getField("images");
  if (!images.value.is_array() || images.value.empty())
    return expected(images, "an array of at least 1");
  for (size_t i = 0; i != images.value.size(); ++i) {
    BundleImage image;
    if (Error error = readImage(images.getElement(i), file, image))
      return error;
    for (const BundleImage &other : entry.images)
      if (other.kind == image.kind)
        return expected(images, "at most one image of a kind");
    entry.images.push_back(std::move(image));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The whole file
//===----------------------------------------------------------------------===//

bool blockscale::isBundle(std::string_view bytes) {
  return bytes.substr(0, bundleMagic.size()) == bundleMagic;
}

static Error readRoot(const JsonNode &root, std::string_view file,
                      Bundle &bundle) {
  // Nothing else is known about other versions.
  if (!root.has("version"))
    return expected(root, "an object with a field 'version'");
  uint64_t version, bytes;
  if (Error error =
          readInteger(root.getField("version"), 1, maxBundleNumber, version))
    return error;
  if (version != bundleVersion)
    return Error("expected a bundle of version " +
                 std::to_string(bundleVersion) + ", got one of version " +
                 std::to_string(version));
  if (Error error =
          checkFields(root, {"version", "producer", "bytes", "entries"}))
    return error;
  std::string producer;
  if (Error error = readName(root.getField("producer"), producer))
    return error;
  if (Error error =
          readInteger(root.getField("bytes"), 0, maxBundleNumber, bytes))
    return error;
  if (bytes > file.size())
    return truncated(bytes, /*isLeast=*/false, file);
  if (bytes != file.size())
    return Error("damaged bundle: expected " + std::to_string(bytes) +
                 " bytes, got " + std::to_string(file.size()));
  JsonNode entries = root.getField("entries");
  if (!entries.value.is_array() || entries.value.empty())
    return expected(entries, "an array of at least 1");
  for (size_t i = 0; i != entries.value.size(); ++i) {
    BundleEntry entry;
    if (Error error = readEntry(entries.getElement(i), file, entry))
      return error;
    for (const BundleEntry &other : bundle.entries)
      if (other.function == entry.function &&
          other.info.target == entry.info.target)
        return expected(entries, "one entry for function " +
                                     quoteForMessage(entry.function) + " and " +
                                     entry.info.target);
    bundle.entries.push_back(std::move(entry));
  }
  return Error::success();
}

Result<Bundle> blockscale::parseBundle(std::string_view bytes) {
  if (!isBundle(bytes))
    return Error("expected a bundle, got another file");
  if (bytes.size() < bundlePreludeSize)
    return truncated(bundlePreludeSize, /*isLeast=*/true, bytes);
  uint64_t size = takeNumber(bytes, bundleMagic.size(), 8);
  if (size > bytes.size() - bundlePreludeSize)
    return Error("truncated bundle: expected a header of " +
                 std::to_string(size) + " bytes, got a file of " +
                 std::to_string(bytes.size()));
  std::string_view header = bytes.substr(bundlePreludeSize, size);
  if (takeNumber(bytes, 16, 4) != computeCrc32(header) ||
      takeNumber(bytes, 20, 4) != 0)
    return Error("expected the header's checksum, got another: the file is "
                 "damaged");
  if (Error error = checkJsonText(header))
    return error;
  json document = json::parse(header.begin(), header.end(), /*cb=*/nullptr,
                              /*allow_exceptions=*/false);
  Bundle bundle;
  if (Error error = readRoot({document, "$"}, bytes, bundle))
    return error;
  return bundle;
}

Result<std::string> blockscale::readImage(const BundleImage &image) {
  if (!image.isCompressed)
    return image.stored;
  std::string text(image.size, '\0');
  uLongf size = image.size;
  uLong stored = image.stored.size();
  int status = uncompress2(reinterpret_cast<Bytef *>(text.data()), &size,
                           reinterpret_cast<const Bytef *>(image.stored.data()),
                           &stored);
  // The stored bytes must be used up and fill the image.
  if (status == Z_OK && size == text.size() && stored == image.stored.size())
    return text;
  return Error("expected " + std::to_string(image.size) +
               " bytes as zlib compresses them, got other data");
}
