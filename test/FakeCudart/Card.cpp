//===- Card.cpp - The card that programs see ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes of SMs are those of the CUDA C++ programming guide,
// "Compute Capabilities".
//
//===----------------------------------------------------------------------===//

#include "Card.h"

#include <charconv>
#include <cstdio>
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

std::optional<unsigned> capture::rankChip(std::string_view chip) {
  constexpr std::string_view prefix = "sm_", letters = "fa";
  if (chip.substr(0, prefix.size()) != prefix)
    return std::nullopt;
  unsigned capability;
  auto [rest, code] = std::from_chars(chip.data() + prefix.size(),
                                      chip.data() + chip.size(), capability);
  std::string_view letter = chip.substr(rest - chip.data());
  if (code != std::errc() || letter.size() > 1)
    return std::nullopt;
  if (letter.empty())
    return capability * 10;
  size_t index = letters.find(letter);
  if (index == letters.npos)
    return std::nullopt;
  return capability * 10 + 1 + index;
}

[[noreturn]] static void rejectChip(const std::string &chip) {
  std::string text = "expected a chip of";
  for (const Card &card : cards)
    text += " sm_" + std::to_string(card.capability);
  std::fprintf(stderr, "error: %s, got %s\n", text.c_str(),
               chip.empty()
                   ? "none: neither BLOCKSCALE_CAPTURE_CHIP nor PTX in "
                     "the program"
                   : ("'" + chip + "'").c_str());
  std::exit(1);
}

const Card &capture::getCard() {
  const std::string &chip = getChip();
  if (std::optional<unsigned> rank = rankChip(chip))
    for (const Card &card : cards)
      if (card.capability == *rank / 10)
        return card;
  rejectChip(chip);
}

unsigned capture::countSms() {
  const char *setting = std::getenv("BLOCKSCALE_CAPTURE_MULTIPROCESSORS");
  unsigned number = setting ? std::strtoul(setting, nullptr, 10) : 0;
  return number ? number : 8;
}
