//===- Bundle.h - Code of functions for several chips -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bundle is one file with the code of several functions for several chips,
// and how they are launched: what programs that only run kernels need.
// docs/Bundle.md describes it byte by byte; the reader in
// python/blockscale/runtime is written from that page, too.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_BUNDLE_H
#define BLOCKSCALE_RUNTIME_BUNDLE_H

#include "blockscale/Runtime/LaunchInfo.h"

namespace mlir::blockscale {

/// Code of all kernels of an entry.
struct BundleImage {
  enum class Kind : uint8_t { Ptx, Cubin };

  Kind kind = Kind::Ptx;
  /// The version of the PTX, or of the PTX that a cubin is made from: "8.7".
  std::string ptxVersion;
  /// As in the file: compressed by zlib, or the image itself.
  std::string stored;
  bool isCompressed = false;
  /// Bytes of the image.
  uint64_t size = 0;
};

/// A function for one chip, `info.target`.
struct BundleEntry {
  std::string function;
  /// MLIR's names of the element types of arguments and results; as many as
  /// `info` has operands.
  std::vector<std::string> types;
  /// If a bundle has several functions for one product, this is the fastest one
  /// for results of up to so many rows; nullopt for any number.
  std::optional<int64_t> mostRows;
  LaunchInfo info;
  /// At most one of each kind.
  std::vector<BundleImage> images;
};

/// At least one entry, and at most one for a function and a chip.
struct Bundle {
  std::vector<BundleEntry> entries;
};

/// The limit of the size of images.
inline constexpr uint64_t maxBundleImageSize = uint64_t(1) << 28;

/// The bytes of a file.
std::string serializeBundle(const Bundle &bundle);

/// Whether bytes start like a bundle.
bool isBundle(std::string_view bytes);

/// Reads the bytes of an untrusted file. It is an error if the checksums do not
/// match.
Result<Bundle> parseBundle(std::string_view bytes);

/// PTX text or a cubin.
Result<std::string> readImage(const BundleImage &image);

/// An image of a bundle, which must outlive it.
struct ChosenImage {
  const BundleEntry *entry;
  const BundleImage *image;
};

/// Which entries and images to consider.
struct BundleQuery {
  /// Empty for the only function.
  std::string function;
  /// A chip, such as "sm_90a"; empty for any.
  std::string target;
  /// The card's compute capability (90 is 9.0): code that cannot run there is
  /// left out; nullopt for no card.
  std::optional<unsigned> capability;
  bool takesCubins = false;
};

/// The best of these images: for the newest chip, then for the target with the
/// most instructions of that chip, and a cubin before PTX. It is an error, with
/// `isAmbiguous`, if there are several functions and none is named, or several
/// chips and no card.
Result<ChosenImage> chooseImage(const Bundle &bundle, const BundleQuery &query,
                                bool &isAmbiguous);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_BUNDLE_H
