//===- BundleChoice.cpp - The code for a card -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX for sm_90a runs on compute capability 9.0 only, PTX for sm_100f on this
// and later chips of the family, PTX for sm_80 on all later chips. Machine code
// runs on its own chip only.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Bundle.h"
#include "blockscale/Runtime/PtxSummary.h"

#include <algorithm>
#include <tuple>

using namespace mlir;
using namespace mlir::blockscale;

static bool canRun(const BundleEntry &entry, const BundleImage &image,
                   unsigned capability) {
  unsigned number = ChipName(entry.info.target).number;
  if (number == 0)
    return false;
  return image.kind == BundleImage::Kind::Cubin
             ? number == capability
             : isTargetOfCard(entry.info.target, capability);
}

static bool isWorse(const ChosenImage &a, const ChosenImage &b) {
  auto rank = [](const ChosenImage &chosen) {
    ChipName chip(chosen.entry->info.target);
    return std::tuple(chip.number, chip.letter,
                      chosen.image->kind == BundleImage::Kind::Cubin);
  };
  return rank(a) < rank(b);
}

/// The values of a field of all entries, without duplicates.
template <typename Get>
static std::vector<std::string> listOnce(const std::vector<ChosenImage> &images,
                                         Get get) {
  std::vector<std::string> names;
  for (const ChosenImage &image : images)
    if (std::find(names.begin(), names.end(), get(image)) == names.end())
      names.push_back(get(image));
  return names;
}

static std::string join(const std::vector<std::string> &names) {
  std::string list;
  for (const std::string &name : names)
    list += " " + shortenForMessage(name);
  return list;
}

static std::string getFunction(const ChosenImage &chosen) {
  return chosen.entry->function;
}

static std::string getTarget(const ChosenImage &chosen) {
  return chosen.entry->info.target;
}

Result<ChosenImage> blockscale::chooseImage(const Bundle &bundle,
                                            const BundleQuery &query,
                                            bool &isAmbiguous) {
  isAmbiguous = false;
  std::vector<ChosenImage> images;
  for (const BundleEntry &entry : bundle.entries)
    for (const BundleImage &image : entry.images)
      images.push_back({&entry, &image});
  // Keeps the entries that match; false if there are none.
  std::vector<ChosenImage> before;
  auto keep = [&](auto matches) {
    before = images;
    images.erase(
        std::remove_if(images.begin(), images.end(),
                       [&](const ChosenImage &each) { return !matches(each); }),
        images.end());
    return !images.empty();
  };
  std::vector<std::string> functions = listOnce(images, getFunction);
  std::string function =
      query.function.empty() ? functions.front() : query.function;
  isAmbiguous = query.function.empty() && functions.size() > 1;
  if (isAmbiguous)
    return Error("expected --entry, because there are " +
                 std::to_string(functions.size()) +
                 " functions:" + join(functions));
  std::string where = "function " + quoteForMessage(function);
  if (!keep([&](const ChosenImage &each) {
        return getFunction(each) == function;
      }))
    return Error("expected one of the functions" + join(functions) + ", got " +
                 quoteForMessage(function));
  if (!keep([&](const ChosenImage &each) {
        return query.target.empty() || getTarget(each) == query.target;
      }))
    return Error(where + ": expected one of the targets" +
                 join(listOnce(before, getTarget)) + ", got " +
                 quoteForMessage(query.target));
  if (!keep([&](const ChosenImage &each) {
        return query.takesCubins || each.image->kind == BundleImage::Kind::Ptx;
      }))
    return Error(where + ": expected PTX, got cubins");
  if (query.capability && !keep([&](const ChosenImage &each) {
        return canRun(*each.entry, *each.image, *query.capability);
      }))
    return Error(where + ": expected code that runs on the card's sm_" +
                 std::to_string(*query.capability) + ", got code for" +
                 join(listOnce(before, getTarget)));
  std::vector<std::string> targets = listOnce(images, getTarget);
  isAmbiguous = !query.capability && targets.size() > 1;
  if (isAmbiguous)
    return Error("expected --target, because " + where + " is there for " +
                 std::to_string(targets.size()) + " chips:" + join(targets));
  return *std::max_element(images.begin(), images.end(), isWorse);
}
