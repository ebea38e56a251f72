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

/// The header of images that start at `offset`, which becomes the size of the
/// file.
static std::string makeHeader(const Bundle &bundle, uint64_t &offset) {
  ordered_json entries = ordered_json::array();
  for (const BundleEntry &entry : bundle.entries) {
    ordered_json images = ordered_json::array();
    for (const BundleImage &image : entry.images) {
      images.push_back({{"kind", bundleKinds[static_cast<size_t>(image.kind)]},
                        {"ptx_version", image.ptxVersion},
                        {"offset", offset},
                        {"bytes", image.stored.size()},
                        {"size", image.size},
                        {"compression", bundleCompressions[image.isCompressed]},
                        {"crc32", computeCrc32(image.stored)}});
      offset += alignTo(image.stored.size());
    }
    ordered_json fields = {{"function", entry.function},
                           {"types", entry.types},
                           {"launch", makeLaunchInfo(entry.info)},
                           {"images", images}};
    if (entry.mostRows)
      fields["most_rows"] = *entry.mostRows;
    entries.push_back(std::move(fields));
  }
  ordered_json root = {{"version", bundleVersion},
                       {"producer", "blockscale " BLOCKSCALE_VERSION},
                       {"bytes", offset},
                       {"entries", entries}};
  return root.dump(/*indent=*/-1, /*indent_char=*/' ', /*ensure_ascii=*/false,
                   json::error_handler_t::replace);
}

std::string blockscale::serializeBundle(const Bundle &bundle) {
  std::string header;
  uint64_t start = 0;
  // Larger offsets make the header longer, a few times at most.
  while (start != alignTo(bundlePreludeSize + header.size())) {
    start = alignTo(bundlePreludeSize + header.size());
    uint64_t offset = start;
    header = makeHeader(bundle, offset);
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
