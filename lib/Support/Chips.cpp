//===- Chips.cpp - The chip table -----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of chips; no other file names a chip.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Chips.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;

// clang-format off
const std::vector<Chip> &blockscale::getChips() {
  static const std::vector<Path>
      plain = {Path::Decompose}, convert = {Path::DequantMma, Path::Decompose},
      wgmma = {Path::Wgmma, Path::DequantMma, Path::Decompose},
      mmaSync = {Path::MmaSync, Path::DequantMma, Path::Decompose},
      tcgen05 = {Path::Tcgen05, Path::DequantMma, Path::Decompose};
  // The shared memory of sm_110 and sm_121 is from documentation only.
  static const std::vector<Chip> chips = {
      {"cpu",       0, plain,    0,   0},
      {"sm_80",    80, convert, 70, 163},
      {"sm_86",    86, convert, 71,  99},
      {"sm_87",    87, convert, 74, 163},
      {"sm_89",    89, convert, 78,  99},
      {"sm_90",    90, convert, 78, 227},
      {"sm_90a",   90, wgmma,   80, 227},
      {"sm_100a", 100, tcgen05, 86, 227},
      {"sm_100f", 100, tcgen05, 88, 227},
      {"sm_103a", 103, tcgen05, 88, 227},
      {"sm_103f", 103, tcgen05, 88, 227},
      {"sm_110a", 110, tcgen05, 90, 227},
      {"sm_110f", 110, tcgen05, 90, 227},
      {"sm_120a", 120, mmaSync, 87,  99},
      {"sm_120f", 120, mmaSync, 88,  99},
      {"sm_121a", 121, mmaSync, 88,  99},
      {"sm_121f", 121, mmaSync, 88,  99},
  };
  return chips;
}
// clang-format on

bool Chip::has(Path path) const {
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

std::optional<Path> Chip::findPath(Dequantization dequantization) const {
  auto found = std::find_if(paths.begin(), paths.end(), [&](Path path) {
    return getPathInfo(path).dequantization == dequantization;
  });
  return found == paths.end() ? std::nullopt : std::optional<Path>(*found);
}

static constexpr unsigned kHopper = 90;

bool blockscale::hasBulkCopies(const Chip &chip) {
  return chip.capability >= kHopper;
}

bool blockscale::hasDependentLaunches(const Chip &chip) {
  return chip.capability >= kHopper;
}

std::optional<unsigned> blockscale::getConversionPtx(const Chip &chip,
                                                     Format element) {
  struct Conversion {
    unsigned lowestBits, highestBits;
    unsigned firstCapability;
    /// The PTX version, or the first one of the chip if that is later.
    unsigned ptx;
  };
  constexpr unsigned kAda = 89, kBlackwell = 100;
  static constexpr Conversion conversions[] = {
      {8, 8, kHopper, 78}, {8, 8, kAda, 81}, {4, 6, kBlackwell, 86}};
  unsigned bits = getFormatInfo(element).bits;
  for (const Conversion &row : conversions)
    if (bits >= row.lowestBits && bits <= row.highestBits &&
        chip.capability >= row.firstCapability)
      return std::max(row.ptx, chip.lowestPtx);
  return std::nullopt;
}

const Chip *blockscale::lookupChip(std::string_view name) {
  for (const Chip &chip : getChips())
    if (chip.name == name)
      return &chip;
  return nullptr;
}

/// `name` in the form of the table: SM_120A, sm120a, compute_120a and 120a
/// become sm_120a.
static std::string normalizeName(std::string_view name) {
  std::string lower;
  for (char c : name)
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
  for (std::string_view prefix : {"compute_", "sm_", "sm-", "sm"})
    if (lower.compare(0, prefix.size(), prefix) == 0)
      return "sm_" + lower.substr(prefix.size());
  bool isNumber = !lower.empty() && lower[0] >= '0' && lower[0] <= '9';
  return isNumber ? "sm_" + lower : lower;
}

std::string blockscale::describeUnknownChip(std::string_view given) {
  std::string name = normalizeName(given);
  std::string message = "unknown target '" + std::string(given) + "'";
  if (lookupChip(name))
    message += " (did you mean " + name + "?)";

  // `sm_120` is a family; only its targets with a letter have the instructions.
  std::string lettered;
  for (const Chip &chip : getChips())
    if (chip.name.size() == name.size() + 1 &&
        chip.name.compare(0, name.size(), name) == 0 &&
        (chip.name.back() == 'a' || chip.name.back() == 'f'))
      lettered += (lettered.empty() ? "" : " or ") + std::string(chip.name);
  if (!lettered.empty())
    return message + ": block-scaled instructions need the letter, expected " +
           lettered;

  message = given.empty() ? "no target given, expected one of"
                          : message + ", expected one of";
  for (const Chip &chip : getChips())
    message += ' ' + std::string(chip.name);
  return message;
}

bool blockscale::isKnownPtxVersion(unsigned version) {
  return (version >= 70 && version <= 78) || (version >= 80 && version <= 88) ||
         version == 90;
}

std::string blockscale::formatPtxVersion(unsigned version) {
  return std::to_string(version / 10) + '.' + std::to_string(version % 10);
}
