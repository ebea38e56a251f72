//===- TensorMapReplace.cpp - tensormap.replace and cp_fenceproxy ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that read problem sizes from memory change tensor maps: they replace
// one field after another in a copy, and then write the copy to global memory.
// Whether the fields fit together is checked when a copy uses the map.
//
// Source: PTX ISA, sections 9.7.9.28 "tensormap.replace" and 9.7.15
// "tensormap.cp_fenceproxy".
//
//===----------------------------------------------------------------------===//

#include "Copies/CopyInstructions.h"
#include "Copies/TensorMapOperands.h"
#include "Machine/BlockGroup.h"
#include "Ptx/Targets.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

namespace {
struct FieldRow {
  llvm::StringRef name;
  Type type;
  /// How many such fields there are; 0 for a field without an ordinal.
  unsigned count;
  /// The range of values, which must be constants if `isConstant`.
  uint64_t least, most;
  bool isConstant;
  void (*set)(TensorMapFields &fields, unsigned ordinal, uint64_t value);
  /// The feature that a target needs for it.
  Feature feature = Feature::TensorMapReplace;
  /// Larger values are not supported, and this says what they mean.
  uint64_t mostSupported = UINT64_MAX;
  const char *unsupported = "";
};
} // namespace

/// The values of cuda.h, by the values of PTX.
static constexpr uint8_t kElementTypes[] = {0,  1, 2, 3,  4,  5,  6,  7,
                                            10, 8, 9, 11, 12, 13, 14, 15};

template <auto field>
static void set(TensorMapFields &fields, unsigned, uint64_t value) {
  fields.*field = value;
}
template <auto field>
static void setOne(TensorMapFields &fields, unsigned ordinal, uint64_t value) {
  (fields.*field)[ordinal] = value;
}
static void setRank(TensorMapFields &fields, unsigned, uint64_t value) {
  fields.rank = value + 1;
}
static void setType(TensorMapFields &fields, unsigned, uint64_t value) {
  fields.type = kElementTypes[value];
}
/// Of an interleaved layout, which is not supported.
static void setNothing(TensorMapFields &, unsigned, uint64_t) {}

static constexpr uint64_t kAny = UINT64_MAX;
using Map = TensorMapFields;
// clang-format off
static constexpr FieldRow kFields[] = {
    {"global_address",    Type::B64, 0,                 0, kAny,              false, set<&Map::address>},
    // One less than the rank.
    {"rank",              Type::B32, 0,                 0, maxTensorRank - 1, false, setRank},
    {"box_dim",           Type::B32, maxTensorRank,     1, 256,               false, setOne<&Map::box>},
    {"global_dim",        Type::B32, maxTensorRank,     1, kAny,              false, setOne<&Map::sizes>},
    {"global_stride",     Type::B64, maxTensorRank - 1, 0, kAny,              false, setOne<&Map::strides>},
    {"element_stride",    Type::B32, maxTensorRank,     1, 8,                 false, setOne<&Map::elementStrides>},
    {"elemtype",          Type::B32, 0,                 0, 15,                true,  setType},
    {"interleave_layout", Type::B32, 0,                 0, 2,                 true,  setNothing,
     Feature::TensorMapReplace, /*mostSupported=*/0, "tensor maps with an interleaved layout"},
    {"swizzle_mode",      Type::B32, 0,                 0, 3,                 true,  set<&Map::swizzleMode>},
    {"swizzle_atomicity", Type::B32, 0,                 0, 3,                 true,  set<&Map::swizzleAtomicity>, Feature::TensorMapAtomicity},
    {"fill_mode",         Type::B32, 0,                 0, 1,                 true,  set<&Map::fill>},
};
// clang-format on

//===----------------------------------------------------------------------===//
// tensormap.replace
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the base of the address and the new value.
struct ReplaceForm {
  AddressSpace space;
  int64_t offset;
  const FieldRow *field;
  unsigned ordinal;
};
} // namespace

/// Reports an access to the 128 bytes of a map to observers; false after a
/// failure. A store must have been done before, because equal stores of lanes
/// are no race.
static bool observeMap(Warp &warp, unsigned lane, AddressSpace space,
                       uint64_t address, AccessKind kind) {
  WarpAccess access;
  access.space = space;
  access.kind = kind;
  access.lanes = LaneMask(1) << lane;
  access.size = tensorMapBytes;
  access.addresses[lane] = address;
  warp.block.observe(warp, access);
  return warp.state != WarpState::Failed;
}

/// Finds the 128 bytes at an address of a lane; false after a failure. A load
/// is reported to observers. `space` and `address` become those of the bytes.
static bool findBytes(Warp &warp, unsigned lane, AddressSpace &space,
                      uint64_t &address, AccessKind kind, Span &span) {
  bool isLoad = kind == AccessKind::Load;
  if (!warp.resolve(lane, space, address, tensorMapBytes, tensorMapAlignment,
                    /*isStore=*/!isLoad, span) ||
      (isLoad && !warp.checkReadable(lane, span, tensorMapBytes)))
    return false;
  return !isLoad || observeMap(warp, lane, space, address, kind);
}

static void replace(Warp &warp, const Step &step, unsigned lane) {
  const auto &form = step.getForm<ReplaceForm>();
  std::optional<uint64_t> base =
      getLaneValue(warp, step.operands[0], lane, "an address");
  std::optional<uint64_t> value = getLaneValue(
      warp, step.operands[1], lane, "the new value of a tensor map's field");
  if (!base || !value)
    return;
  const FieldRow &field = *form.field;
  if (getBits(field.type) == 32)
    *value &= UINT32_MAX;
  if (*value < field.least || *value > field.most)
    return warp.fail(lane, "expected a value of ." + field.name + " from " +
                               llvm::Twine(field.least) + " to " +
                               llvm::Twine(field.most) + ", got " +
                               llvm::Twine(*value));
  Span span;
  AddressSpace space = form.space, storeSpace = form.space;
  uint64_t address = addOffset(form.space, *base, form.offset);
  uint64_t storeAddress = address;
  if (!findBytes(warp, lane, space, address, AccessKind::Load, span))
    return;
  std::optional<TensorMapFields> fields =
      readTensorMap(warp, lane, span, printHex(address));
  if (!fields ||
      !findBytes(warp, lane, storeSpace, storeAddress, AccessKind::Store, span))
    return;
  field.set(*fields, form.ordinal, *value);
  fields->write(span.bytes);
  observeMap(warp, lane, storeSpace, storeAddress, AccessKind::Store);
}

static void executeReplace(Warp &warp, const Step &step) {
  warp.act();
  executeInLanes<replace>(warp, step);
}

/// A constant operand from 0 to `most`.
static std::optional<uint64_t> takeNumber(Translator &t,
                                          const PtxOperand &operand,
                                          const llvm::Twine &what,
                                          uint64_t most) {
  int64_t value = t.constant(operand, what.str());
  if (value >= 0 && static_cast<uint64_t>(value) <= most)
    return value;
  return t.error(operand.location, "expected " + what + " from 0 to " +
                                       llvm::Twine(most) + ", got " +
                                       llvm::Twine(value));
}

/// Takes out the field; checks that the target has it.
static const FieldRow *takeField(Translator &t, Modifiers &modifiers) {
  const FieldRow *field = modifiers.takeRow(kFields);
  if (!field)
    return t.error("expected a field such as .global_address behind "
                   "tensormap.replace.tile");
  llvm::StringRef target = t.program.module.target;
  if (hasFeature(target, field->feature))
    return field;
  return t.error("expected a target with tensormap.replace.tile." +
                 field->name + ", such as sm_100a, got " + target);
}

static void translateReplace(Translator &t, Modifiers &modifiers) {
  if (!modifiers.take("tile"))
    return t.fail("expected .tile behind tensormap.replace");
  const FieldRow *field = takeField(t, modifiers);
  if (!field)
    return;
  ReplaceForm form = {AddressSpace::Generic, 0, field, 0};
  if (modifiers.take("global"))
    form.space = AddressSpace::Global;
  else if (modifiers.take("shared::cta"))
    form.space = AddressSpace::Shared;
  if (!modifiers.take("b1024") || !modifiers.take(getName(field->type)))
    return t.fail("expected .b1024." + llvm::Twine(getName(field->type)) +
                  " behind tensormap.replace.tile." + field->name);
  bool hasOrdinal = field->count != 0;
  if (!t.finish(modifiers) || !t.expectOperands(2 + hasOrdinal))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  Slot base = t.address(operands[0], form.space, form.offset);
  if (hasOrdinal) {
    std::optional<uint64_t> ordinal =
        takeNumber(t, operands[1], "a dimension", field->count - 1);
    if (!ordinal)
      return;
    form.ordinal = *ordinal;
  }
  if (field->isConstant) {
    std::optional<uint64_t> value = takeNumber(
        t, operands.back(), "a number of ." + field->name, field->most);
    if (!value)
      return;
    if (*value > field->mostSupported)
      return t.fail("not supported in this version: " +
                    llvm::Twine(field->unsupported));
  }
  Slot slots[] = {base, t.source(operands.back(), field->type)};
  t.emit(executeReplace, StepClass::Memory, slots, t.keep(form));
}

//===----------------------------------------------------------------------===//
// tensormap.cp_fenceproxy
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the bases of both addresses.
struct CopyMapForm {
  int64_t toOffset, fromOffset;
};
} // namespace

static void copyMap(Warp &warp, const Step &step, unsigned lane) {
  const auto &form = step.getForm<CopyMapForm>();
  std::optional<uint64_t> toBase =
      getLaneValue(warp, step.operands[0], lane, "an address");
  std::optional<uint64_t> fromBase =
      getLaneValue(warp, step.operands[1], lane, "an address");
  if (!toBase || !fromBase)
    return;
  uint64_t source = addOffset(AddressSpace::Shared, *fromBase, form.fromOffset);
  uint64_t destination = *toBase + form.toOffset;
  AddressSpace fromSpace = AddressSpace::Shared, toSpace = AddressSpace::Global;
  Span to, from;
  if (!findBytes(warp, lane, fromSpace, source, AccessKind::Load, from) ||
      !findBytes(warp, lane, toSpace, destination, AccessKind::Store, to))
    return;
  // Undefined bytes are no tensor map.
  if (!readTensorMap(warp, lane, from, printHex(source)))
    return;
  std::memcpy(to.bytes, from.bytes, tensorMapBytes);
  if (to.states)
    std::memset(to.states, 0, tensorMapBytes);
  observeMap(warp, lane, toSpace, destination, AccessKind::Store);
}

static void executeCopyMap(Warp &warp, const Step &step) {
  if (!warp.requireWholeWarp("tensormap.cp_fenceproxy"))
    return;
  warp.act();
  executeInLanes<copyMap>(warp, step);
  // All lanes together make one copy, after all of them have arrived.
  if (warp.block.group.races)
    warp.block.group.races->joinLanes(warp.number);
}

static void translateCopyMap(Translator &t, Modifiers &modifiers) {
  bool isComplete = modifiers.take("global") && modifiers.take("shared::cta") &&
                    modifiers.take("tensormap::generic") &&
                    modifiers.take("release") &&
                    modifiers.takeOneOf({"cta", "cluster", "gpu", "sys"}) &&
                    modifiers.take("sync") && modifiers.take("aligned");
  if (!isComplete)
    return t.fail("expected tensormap.cp_fenceproxy.global.shared::cta"
                  ".tensormap::generic.release, a scope and .sync.aligned");
  if (!t.finish(modifiers) || !t.expectOperands(3))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  CopyMapForm form;
  Slot slots[] = {
      t.addressIn(AddressSpace::Global, operands[0], form.toOffset),
      t.addressIn(AddressSpace::Shared, operands[1], form.fromOffset)};
  int64_t size = t.constant(operands[2], "a size");
  if (size != tensorMapBytes)
    return t.fail(operands[2].location,
                  "expected a size of 128, got " + llvm::Twine(size));
  t.emit(executeCopyMap, StepClass::Memory, slots, t.keep(form));
}

void sim::translateTensorMap(Translator &t, Modifiers &modifiers) {
  if (modifiers.take("replace"))
    return translateReplace(t, modifiers);
  if (modifiers.take("cp_fenceproxy"))
    return translateCopyMap(t, modifiers);
  t.fail("expected .replace or .cp_fenceproxy behind tensormap");
}
