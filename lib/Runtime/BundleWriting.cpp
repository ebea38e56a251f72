//===- BundleWriting.cpp - Bundles to files -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The header contains the offsets of images, which depend on its own length.
//
//===----------------------------------------------------------------------===//

#include "BundleFormat.h"
#include "LaunchJson.h"
#include "blockscale/Runtime/Bundle.h"

using namespace mlir;
using namespace mlir::blockscale;
using nlohmann::json;
using nlohmann::ordered_json;

static uint64_t alignTo(uint64_t size) {
  return (size + bundleAlignment - 1) / bundleAlignment * bundleAlignment;
}

static void appendNumber(std::string &bytes, uint64_t number, unsigned size) {
  for (unsigned i = 0; i != size; ++i)
    bytes += static_cast<char>(number >> 8 * i);
}

/// The header, without the offsets.
static ordered_json makeHeader(const Bundle &bundle) {
  ordered_json entries = ordered_json::array();
  for (const BundleEntry &entry : bundle.entries) {
    ordered_json images = ordered_json::array();
    for (const BundleImage &image : entry.images) {
      images.push_back({{"kind", bundleKinds[static_cast<size_t>(image.kind)]},
                        {"ptx_version", image.ptxVersion},
                        {"offset", 0},
                        {"bytes", image.stored.size()},
                        {"size", image.size},
                        {"compression", bundleCompressions[image.isCompressed]},
                        {"crc32", computeCrc32(image.stored)}});
    }
    ordered_json fields = makeObject(5);
    fields["function"] = entry.function;
    fields["types"] = entry.types;
    fields["launch"] = makeLaunchInfo(entry.info);
    fields["images"] = std::move(images);
    if (entry.mostRows)
      fields["most_rows"] = *entry.mostRows;
    entries.push_back(std::move(fields));
  }
  ordered_json root = makeObject(4);
  root["version"] = bundleVersion;
  root["producer"] = "blockscale " BLOCKSCALE_VERSION;
  root["bytes"] = 0;
  root["entries"] = std::move(entries);
  return root;
}

/// The text of `header` where images start at `offset`.
static std::string placeImages(const Bundle &bundle, uint64_t offset,
                               ordered_json &header) {
  for (size_t i = 0; i != bundle.entries.size(); ++i) {
    ordered_json &images = header["entries"][i]["images"];
    for (size_t k = 0; k != images.size(); ++k) {
      images[k]["offset"] = offset;
      offset += alignTo(bundle.entries[i].images[k].stored.size());
    }
  }
  header["bytes"] = offset;
  return header.dump(/*indent=*/-1, /*indent_char=*/' ', /*ensure_ascii=*/false,
                     json::error_handler_t::replace);
}

std::string blockscale::serializeBundle(const Bundle &bundle) {
  ordered_json fields = makeHeader(bundle);
  std::string header;
  uint64_t start = 0;
  // Larger offsets make the header longer, a few times at most.
  while (start != alignTo(bundlePreludeSize + header.size())) {
    start = alignTo(bundlePreludeSize + header.size());
    header = placeImages(bundle, start, fields);
  }
  std::string bytes(bundleMagic);
  appendNumber(bytes, header.size(), 8);
  appendNumber(bytes, computeCrc32(header), 4);
  appendNumber(bytes, 0, 4);
  bytes += header;
  bytes.resize(alignTo(bytes.size()));
  for (const BundleEntry &entry : bundle.entries)
    for (const BundleImage &image : entry.images) {
      bytes += image.stored;
      bytes.resize(alignTo(bytes.size()));
    }
  return bytes;
}
