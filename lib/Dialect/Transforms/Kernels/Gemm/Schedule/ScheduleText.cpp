//===- ScheduleText.cpp - The text of schedules ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To add a field, add a row; to add a schedule attribute, add a table.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/ScheduleText.h"

#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static FieldNumbers toNumbers(int64_t value) { return {value}; }
static FieldNumbers toNumbers(ArrayRef<int64_t> value) {
  return FieldNumbers(value);
}
static FieldNumbers toNumbers(ClusterSize value) { return {value.m, value.n}; }
static FieldNumbers toNumbers(KernelKind value) {
  return {static_cast<int64_t>(value)};
}

/// The names of the values of `T`; empty for integers.
template <typename T>
static ArrayRef<StringRef> getNames() {
  return {};
}
template <>
ArrayRef<StringRef> getNames<KernelKind>() {
  static const auto names = [] {
    SmallVector<StringRef> all;
    for (unsigned i = 0; i <= getMaxEnumValForKernelKind(); ++i)
      all.push_back(stringifyKernelKind(static_cast<KernelKind>(i)));
    return all;
  }();
  return names;
}

template <typename AttrT, typename T>
static ScheduleField makeField(StringRef form, T (AttrT::*get)() const,
                               std::optional<T> usual = std::nullopt) {
  return {form, std::is_same_v<T, bool>, getNames<T>(),
          usual ? std::optional(toNumbers(*usual)) : std::nullopt,
          [get](ScheduleInterface schedule) {
            return toNumbers((cast<AttrT>(schedule).*get)());
          }};
}

const ScheduleText &blockscale::getMultistageScheduleText() {
  using Attr = MultistageScheduleAttr;
  static const ScheduleText text(
      {makeField("tile=MxNxK", &Attr::getTile),
       makeField("warps=MxN", &Attr::getWarps),
       makeField("stages=S", &Attr::getStages),
       makeField("split_k=N", &Attr::getSplitK, {1})},
      [](auto emitError, auto *context, auto of) -> ScheduleInterface {
        return Attr::getChecked(emitError, context, ArrayRef(of[0]),
                                ArrayRef(of[1]), of[2][0], of[3][0]);
      });
  return text;
}

const ScheduleText &blockscale::getWarpSpecializedScheduleText() {
  using Attr = WarpSpecializedScheduleAttr;
  static const ScheduleText text(
      {makeField("tile=MxNxK", &Attr::getTile),
       makeField("stages=S", &Attr::getStages),
       makeField("accumulators=A", &Attr::getAccumulators),
       makeField("persistent=P", &Attr::getPersistent),
       makeField("raster_group=G", &Attr::getRasterGroup, {kTileGroup}),
       makeField("swap_ab=E", &Attr::getSwapAb, {false}),
       makeField("split_k=N", &Attr::getSplitK, {1}),
       makeField("cluster=MxN", &Attr::getCluster, {ClusterSize()}),
       makeField("two_cta=P", &Attr::getTwoCta, {false}),
       makeField("k=K", &Attr::getInstructionK, {0}),
       makeField("kernel=KERNEL", &Attr::getKernel, {KernelKind::Dense}),
       makeField("blocks_per_sm=B", &Attr::getBlocksPerSm, {1})},
      [](auto emitError, auto *context, auto of) -> ScheduleInterface {
        return Attr::getChecked(
            emitError, context, ArrayRef(of[0]), of[1][0], of[2][0],
            of[3][0] != 0, of[4][0], of[5][0] != 0, of[6][0],
            ClusterSize{of[7][0], of[7][1]}, of[8][0] != 0, of[9][0],
            static_cast<KernelKind>(of[10][0]), of[11][0]);
      });
  return text;
}

static std::array<const ScheduleText *, 2> getAllTexts() {
  return {&getMultistageScheduleText(), &getWarpSpecializedScheduleText()};
}

//===----------------------------------------------------------------------===//
// Interpreter
//===----------------------------------------------------------------------===//

ScheduleText::ScheduleText(std::vector<ScheduleField> all, MakeFn make)
    : fields(std::move(all)), make(make) {
  for (const ScheduleField &field : fields)
    form += llvm::formatv(field.usual ? "[,{0}]" : ",{0}", field.form);
  form.erase(0, 1);
}

/// Consumes `name=AxB...` at the start of `text`, and the comma behind it if
/// there is one.
static bool takeField(StringRef &text, const ScheduleField &field,
                      FieldNumbers &numbers) {
  if (!text.consume_front(field.getName()) || !text.consume_front("="))
    return false;
  numbers.resize(field.getCount());
  if (!field.names.empty()) {
    auto [name, rest] = text.split(',');
    const auto *found = llvm::find(field.names, name);
    numbers[0] = found - field.names.begin();
    bool isWhole = rest.empty() == !text.contains(',');
    text = rest;
    return found != field.names.end() && isWhole;
  }
  for (auto [i, number] : llvm::enumerate(numbers))
    if ((i != 0 && !text.consume_front("x")) || text.starts_with("-") ||
        text.consumeInteger(10, number))
      return false;
  return text.empty() || (text.consume_front(",") && !text.empty());
}

std::optional<std::vector<FieldNumbers>>
ScheduleText::takeFields(StringRef text) const {
  std::vector<FieldNumbers> all;
  for (const ScheduleField &field : fields) {
    FieldNumbers &numbers = all.emplace_back();
    if (field.usual && !text.starts_with((field.getName() + "=").str()))
      numbers = *field.usual;
    else if (!takeField(text, field, numbers))
      return std::nullopt;
  }
  return text.empty() ? std::optional(all) : std::nullopt;
}

ScheduleInterface ScheduleText::parse(MLIRContext *context, StringRef text,
                                      EmitErrorFn emitError) const {
  std::vector<FieldNumbers> all = *takeFields(text);
  for (auto [field, numbers] : llvm::zip_equal(fields, all))
    if (field.isFlag && numbers[0] > 1) {
      emitError() << "expected " << field.getName() << " to be 0 or 1, got "
                  << numbers[0];
      return {};
    }
  return make(emitError, context, all);
}

std::string ScheduleText::print(ScheduleInterface schedule) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const ScheduleField &field : fields)
    if (FieldNumbers numbers = field.get(schedule); field.usual != numbers) {
      os << (text.empty() ? "" : ",") << field.getName() << '=';
      if (field.names.empty())
        llvm::interleave(numbers, os, "x");
      else
        os << field.names[numbers[0]];
    }
  return text;
}

const ScheduleText *blockscale::findScheduleText(StringRef text) {
  for (const ScheduleText *each : getAllTexts())
    if (each->hasForm(text))
      return each;
  return nullptr;
}

std::string blockscale::describeRenamedFields(StringRef text) {
  static constexpr std::pair<StringRef, StringRef> kRenamed[] = {
      {"exchanged", "swap_ab"},
      {"splits", "split_k"},
      {"group", "raster_group"},
      {"pair", "two_cta"}};
  std::string renamed;
  for (StringRef part : llvm::split(text, ','))
    for (auto [old, name] : kRenamed)
      if (part.split('=').first == old)
        renamed += llvm::formatv("; '{0}' is called '{1}'", old, name);
  return renamed;
}

std::string blockscale::joinForms(ArrayRef<const ScheduleText *> texts,
                                  StringRef separator) {
  auto getForm = [](const ScheduleText *text) { return text->getForm(); };
  return llvm::join(llvm::map_range(texts, getForm), separator);
}

bool blockscale::isScheduleText(StringRef text) {
  return findScheduleText(text) != nullptr;
}

std::string blockscale::getScheduleText(ScheduleInterface schedule) {
  return isa<WarpSpecializedScheduleAttr>(Attribute(schedule))
             ? getWarpSpecializedScheduleText().print(schedule)
             : getMultistageScheduleText().print(schedule);
}

std::string blockscale::describeScheduleForms() {
  return joinForms(getAllTexts(), " or ");
}
