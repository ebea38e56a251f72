//===- Card.cpp - The card that programs see ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes of multiprocessors are those of the CUDA C++ programming guide,
// "Compute Capabilities".
//
//===----------------------------------------------------------------------===//

#include "Card.h"

#include <cstdlib>

using namespace capture;

static constexpr Card cards[] = {
    {80, 164, 2048, 32},  {86, 100, 1536, 16},  {87, 164, 1536, 16},
    {89, 100, 1536, 24},  {90, 228, 2048, 32},  {100, 228, 2048, 32},
    {103, 228, 2048, 32}, {110, 228, 1536, 24}, {120, 100, 1536, 24},
    {121, 100, 1536, 24},
};

static std::string &getChipText() {
  static std::string chip = [] {
    const char *setting = std::getenv("BLOCKSCALE_CAPTURE_CHIP");
    return std::string(setting ? setting : "");
  }();
  return chip;
}

const std::string &capture::getChip() { return getChipText(); }

void capture::proposeChip(const std::string &chip) {
  if (getChipText().empty())
    getChipText() = chip;
}

const Card &capture::getCard() {
  const std::string &chip = getChip();
  unsigned capability = 90;
  if (size_t digits = chip.find_first_of("0123456789"); digits != chip.npos)
    capability = std::strtoul(chip.c_str() + digits, nullptr, 10);
  for (const Card &card : cards)
    if (card.capability == capability)
      return card;
  return cards[4];
}

unsigned capture::countMultiprocessors() {
  const char *setting = std::getenv("BLOCKSCALE_CAPTURE_MULTIPROCESSORS");
  unsigned number = setting ? std::strtoul(setting, nullptr, 10) : 0;
  return number ? number : 8;
}
