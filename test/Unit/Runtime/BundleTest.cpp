//===- BundleTest.cpp - Tests of bundles ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Bundle.h"

#include <gtest/gtest.h>

using namespace mlir::blockscale;

static BundleImage makeImage(BundleImage::Kind kind, std::string bytes) {
  BundleImage image;
  image.kind = kind;
  image.ptxVersion = "8.7";
  image.size = bytes.size();
  image.stored = std::move(bytes);
  return image;
}

/// A function of one kernel. Chips have their names in their images.
static BundleEntry makeEntry(std::string function, std::string target,
                             bool hasPtx = true, bool hasCubin = false) {
  BundleEntry entry;
  entry.function = std::move(function);
  entry.types = {"f8E4M3FN"};
  entry.info.target = target;
  entry.info.kernels.resize(1);
  entry.info.kernels[0].name = "k";
  entry.info.kernels[0].params = {LaunchParam::argument(0)};
  entry.info.operands = {{DType::U1, {LaunchExpr(7)}, 1, 1}};
  if (hasPtx)
    entry.images.push_back(makeImage(BundleImage::Kind::Ptx, target + " ptx"));
  if (hasCubin)
    entry.images.push_back(
        makeImage(BundleImage::Kind::Cubin, target + " cubin"));
  return entry;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST(BundleTest, ReadsWhatItWrites) {
  Bundle bundle;
  bundle.entries = {makeEntry("f", "sm_90a", true, true),
                    makeEntry("g", "sm_80")};
  bundle.entries[1].mostRows = 16;
  Result<Bundle> read = parseBundle(serializeBundle(bundle));
  ASSERT_TRUE(read) << read.message();
  ASSERT_EQ(read->entries.size(), 2u);
  const BundleEntry &entry = read->entries[0];
  EXPECT_EQ(entry.function, "f");
  EXPECT_EQ(entry.types, std::vector<std::string>{"f8E4M3FN"});
  EXPECT_EQ(serializeLaunchInfo(entry.info),
            serializeLaunchInfo(bundle.entries[0].info));
  ASSERT_EQ(entry.images.size(), 2u);
  EXPECT_EQ(entry.images[0].kind, BundleImage::Kind::Ptx);
  EXPECT_EQ(entry.images[0].ptxVersion, "8.7");
  EXPECT_EQ(*readImage(entry.images[0]), "sm_90a ptx");
  EXPECT_EQ(entry.images[1].kind, BundleImage::Kind::Cubin);
  EXPECT_EQ(*readImage(entry.images[1]), "sm_90a cubin");
  EXPECT_EQ(read->entries[1].function, "g");
  EXPECT_EQ(entry.mostRows, std::nullopt);
  EXPECT_EQ(read->entries[1].mostRows, 16);
}

TEST(BundleTest, RefusesNoRows) {
  BundleEntry entry = makeEntry("f", "sm_90a");
  entry.mostRows = 0;
  Result<Bundle> read = parseBundle(serializeBundle({{entry}}));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.message(),
            "$.entries[0].most_rows: expected an integer from 1 "
            "to 9007199254740992, got 0");
}

TEST(BundleTest, RefusesEveryTruncation) {
  std::string bytes = serializeBundle({{makeEntry("f", "sm_90a", true, true)}});
  for (size_t size = 0; size != bytes.size(); ++size)
    EXPECT_FALSE(parseBundle(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(parseBundle(bytes + '\0'));
}

TEST(BundleTest, RefusesEveryChangedByte) {
  std::string bytes = serializeBundle({{makeEntry("f", "sm_90a", true, true)}});
  unsigned numAccepted = 0;
  for (size_t i = 0; i != bytes.size(); ++i)
    for (char change : {'\x01', '\x80'}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ change);
      numAccepted += parseBundle(changed) ? 1 : 0;
    }
  // What fills up to a multiple of 16, three times, is never read.
  EXPECT_LE(numAccepted, 2u * 3 * 15);
}

TEST(BundleTest, SaysWhatIsWrong) {
  std::string bytes = serializeBundle({{makeEntry("f", "sm_90a")}});
  EXPECT_EQ(parseBundle("text").message(),
            "expected a bundle, got another file");
  EXPECT_EQ(parseBundle(bytes.substr(0, 10)).message(),
            "truncated bundle: expected at least 24 bytes, got 10");
  EXPECT_EQ(parseBundle(bytes.substr(0, bytes.size() - 16)).message(),
            "truncated bundle: expected " + std::to_string(bytes.size()) +
                " bytes, got " + std::to_string(bytes.size() - 16));
  EXPECT_EQ(parseBundle(bytes + "more").message(),
            "damaged bundle: expected " + std::to_string(bytes.size()) +
                " bytes, got " + std::to_string(bytes.size() + 4));
  std::string damaged = bytes;
  damaged[30] ^= 1;
  EXPECT_EQ(parseBundle(damaged).message(),
            "expected the header's checksum, got another: the file is damaged");
  damaged = bytes;
  damaged[bytes.size() - 16] ^= 1;
  EXPECT_EQ(parseBundle(damaged).message(),
            "$.entries[0].images[0]: expected the image's checksum, got "
            "another: the file is damaged");
  std::string twice =
      serializeBundle({{makeEntry("f", "sm_90a"), makeEntry("f", "sm_90a")}});
  EXPECT_EQ(parseBundle(twice).message(),
            "$.entries: expected one entry for function 'f' and sm_90a, got an "
            "array of 2");
}

//===----------------------------------------------------------------------===//
// Compressed images
//===----------------------------------------------------------------------===//

static Result<std::string> decompress(std::string_view data, uint64_t size) {
  BundleImage image;
  image.stored = data;
  image.isCompressed = true;
  image.size = size;
  return readImage(image);
}

// What zlib makes of texts, in each of its three forms.
static const std::string fixedData("\x78\x01\x4b\x4c\x4a\x4e\x44\x42\x00\x2d"
                                   "\xf5\x05\xbf",
                                   13);
static const std::string storedData("\x78\x01\x01\x03\x00\xfc\xff\x61\x62\x63"
                                    "\x02\x4d\x01\x27",
                                    14);
static const std::string dynamicData(
    "\x78\xda\xd5\xca\xc1\x11\x00\x30\x08\x02\xb0\x59\xf1\x50\x41\xf6"
    "\xff\x77\x8e\xe6\x1d\x68\x8f\xa8\xce\x85\x48\xa9\xdb\x2c\x8a\x9c"
    "\xd8\xd0\x2c\xfe\x08\x0f\x49\x19\x4f\xae",
    42);

TEST(BundleTest, Decompresses) {
  EXPECT_EQ(*decompress(fixedData, 15), "abcabcabcabcabc");
  EXPECT_EQ(*decompress(storedData, 3), "abc");
  std::string text;
  for (int i = 0; i != 200; ++i)
    text += static_cast<char>((i * i * 7 + i / 3) % 11 + 97);
  EXPECT_EQ(*decompress(dynamicData, 200), text);
}

TEST(BundleTest, RefusesOtherData) {
  const std::pair<const std::string &, uint64_t> cases[] = {
      {fixedData, 15}, {storedData, 3}, {dynamicData, 200}};
  for (const auto &[data, size] : cases) {
    EXPECT_FALSE(decompress(data, size - 1));
    EXPECT_FALSE(decompress(data, size + 1));
    EXPECT_FALSE(decompress(data + '\0', size));
    for (size_t i = 0; i != data.size(); ++i) {
      EXPECT_FALSE(decompress(data.substr(0, i), size)) << i;
      for (unsigned bit = 0; bit != 8; ++bit) {
        std::string changed = data;
        changed[i] = static_cast<char>(changed[i] ^ 1 << bit);
        // Some bits fill bytes, and some say how hard zlib tried.
        if (Result<std::string> text = decompress(changed, size)) {
          EXPECT_EQ(*text, *decompress(data, size)) << i << " " << bit;
        }
      }
    }
  }
  EXPECT_EQ(decompress("", 3).message(),
            "expected 3 bytes as zlib compresses them, got other data");
}

//===----------------------------------------------------------------------===//
// The code for a card
//===----------------------------------------------------------------------===//

/// "sm_90a cubin", or the message.
static std::string choose(const Bundle &bundle, std::optional<unsigned> card,
                          std::string target = "", bool takesCubins = true,
                          std::string function = "") {
  bool isAmbiguous;
  Result<ChosenImage> chosen = chooseImage(
      bundle, {std::move(function), std::move(target), card, takesCubins},
      isAmbiguous);
  return (isAmbiguous ? "ambiguous: " : "") +
         (chosen ? chosen->image->stored : chosen.message());
}

TEST(BundleTest, ChoosesForACard) {
  auto of = [](std::initializer_list<std::string> targets) {
    Bundle bundle;
    for (const std::string &target : targets)
      bundle.entries.push_back(makeEntry("f", target));
    return bundle;
  };
  EXPECT_EQ(choose(of({"sm_80", "sm_90a", "sm_100a"}), 90), "sm_90a ptx");
  EXPECT_EQ(choose(of({"sm_90", "sm_90a"}), 90), "sm_90a ptx");
  EXPECT_EQ(choose(of({"sm_90a", "sm_90"}), 90), "sm_90a ptx");
  EXPECT_EQ(choose(of({"sm_80", "sm_86", "sm_90a"}), 89), "sm_86 ptx");
  EXPECT_EQ(choose(of({"sm_100a", "sm_100f", "sm_90"}), 103), "sm_100f ptx");
  EXPECT_EQ(choose(of({"sm_100f", "sm_100a"}), 100), "sm_100a ptx");
  EXPECT_EQ(choose(of({"sm_100f", "sm_80"}), 110), "sm_80 ptx");
  EXPECT_EQ(choose(of({"sm_103", "sm_100f"}), 103), "sm_103 ptx");
  EXPECT_EQ(choose(of({"sm_103f", "sm_100a"}), 100), "sm_100a ptx");
  EXPECT_EQ(choose(of({"sm_100a", "gfx90"}), 103),
            "function 'f': expected code that runs on the card's sm_103, got "
            "code for sm_100a gfx90");
  EXPECT_EQ(choose(of({"sm_90x"}), 90),
            "function 'f': expected code that runs on the card's sm_90, got "
            "code for sm_90x");
  EXPECT_EQ(choose(of({"sm_80", "sm_90a"}), 90, "sm_80"), "sm_80 ptx");
  EXPECT_EQ(choose(of({"sm_80", "sm_90a"}), 90, "sm_86"),
            "function 'f': expected one of the targets sm_80 sm_90a, got "
            "'sm_86'");
}

TEST(BundleTest, ChoosesCubins) {
  Bundle bundle;
  bundle.entries = {makeEntry("f", "sm_80", true, true),
                    makeEntry("f", "sm_90a", true, true)};
  EXPECT_EQ(choose(bundle, 90), "sm_90a cubin");
  EXPECT_EQ(choose(bundle, 80), "sm_80 cubin");
  EXPECT_EQ(choose(bundle, 86), "sm_80 ptx");
  EXPECT_EQ(choose(bundle, 90, "sm_80"), "sm_80 ptx");
  EXPECT_EQ(choose(bundle, 90, "", /*takesCubins=*/false), "sm_90a ptx");
  Bundle cubins;
  cubins.entries = {makeEntry("f", "sm_80", false, true)};
  EXPECT_EQ(choose(cubins, std::nullopt, "", /*takesCubins=*/false),
            "function 'f': expected PTX, got cubins");
}

TEST(BundleTest, ChoosesWithoutACard) {
  Bundle bundle;
  bundle.entries = {makeEntry("f", "sm_80"), makeEntry("f", "sm_90a")};
  EXPECT_EQ(choose(bundle, std::nullopt, "sm_80"), "sm_80 ptx");
  EXPECT_EQ(choose(bundle, std::nullopt),
            "ambiguous: expected --target, because function 'f' is there for 2 "
            "chips: sm_80 sm_90a");
  bundle.entries.push_back(makeEntry("g", "sm_100a"));
  EXPECT_EQ(choose(bundle, std::nullopt),
            "ambiguous: expected --entry, because there are 2 functions: f g");
  EXPECT_EQ(choose(bundle, std::nullopt, "", true, "g"), "sm_100a ptx");
  EXPECT_EQ(choose(bundle, std::nullopt, "", true, "h"),
            "expected one of the functions f g, got 'h'");
}
