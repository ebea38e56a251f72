//===- Chips.cpp - The chip table -----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Chips.h"

using namespace mlir;
using namespace mlir::blockscale;

// clang-format off
const std::vector<Chip> &blockscale::getChips() {
  // The shared memory of sm_110 and sm_121 is from documentation only.
  static const std::vector<Chip> chips = {
      {"cpu",       0, Path::None,     0,   0},
      {"sm_80",    80, Path::None,    70, 163},
      {"sm_86",    86, Path::None,    71,  99},
      {"sm_87",    87, Path::None,    74, 163},
      {"sm_89",    89, Path::None,    78,  99},
      {"sm_90",    90, Path::None,    78, 227},
      {"sm_90a",   90, Path::None,    80, 227},
      {"sm_100a", 100, Path::Tcgen05, 86, 227},
      {"sm_100f", 100, Path::Tcgen05, 88, 227},
      {"sm_103a", 103, Path::Tcgen05, 88, 227},
      {"sm_103f", 103, Path::Tcgen05, 88, 227},
      {"sm_110a", 110, Path::Tcgen05, 90, 227},
      {"sm_110f", 110, Path::Tcgen05, 90, 227},
      {"sm_120a", 120, Path::MmaSync, 87,  99},
      {"sm_120f", 120, Path::MmaSync, 88,  99},
      {"sm_121a", 121, Path::MmaSync, 88,  99},
      {"sm_121f", 121, Path::MmaSync, 88,  99},
  };
  return chips;
}
// clang-format on

std::string_view blockscale::stringifyPath(Path path) {
  static constexpr std::string_view names[kNumPaths] = {"decompose", "mma_sync",
                                                        "tcgen05"};
  return names[static_cast<unsigned>(path)];
}

bool blockscale::hasLowering(Path path) { return path == Path::MmaSync; }

bool blockscale::wantsSwizzledScales(Path path) { return path != Path::None; }

const Chip *blockscale::lookupChip(std::string_view name) {
  for (const Chip &chip : getChips())
    if (chip.name == name)
      return &chip;
  return nullptr;
}

std::string blockscale::describeUnknownChip(std::string_view name) {
  std::string message = "unknown target '" + std::string(name) + "'";

  // `sm_120` names a family of which only lettered targets have the
  // instructions.
  std::string lettered;
  for (const Chip &chip : getChips())
    if (chip.name.size() == name.size() + 1 &&
        chip.name.substr(0, name.size()) == name &&
        (chip.name.back() == 'a' || chip.name.back() == 'f'))
      lettered += (lettered.empty() ? "" : " or ") + std::string(chip.name);
  if (!lettered.empty())
    return message + ": block-scaled instructions need the letter, expected " +
           lettered;

  message += ", expected one of";
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
