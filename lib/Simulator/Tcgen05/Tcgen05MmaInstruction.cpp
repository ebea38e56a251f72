//===- Tcgen05MmaInstruction.cpp - tcgen05.mma ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates tcgen05.mma; its descriptors are only known at run time.
//
// Source: PTX ISA, sections 9.7.16.10.9.1 "tcgen05.mma" and 9.7.16.10.9.3
// "tcgen05.mma.ws".
//
//===----------------------------------------------------------------------===//

#include "Copies/CopyInstructions.h"
#include "Machine/BlockGroup.h"
#include "Ptx/Targets.h"
#include "Tcgen05/Tcgen05Instructions.h"
#include "Tcgen05/Tcgen05Mma.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// The form, with the presence of optional operands.
struct MultiplyForm {
  Tcgen05MmaForm form;
  int64_t dOffset, aOffset, metadataOffset, scaleOffsetA, scaleOffsetB;
  bool isEnableNegated;
  unsigned numMasks;
  /// With .ws, the last operand.
  bool hasZeroColumns;
};

/// A spelling of the block size, and the kinds that have it.
struct Scaling {
  Tcgen05Kind kind;
  /// Empty for the default.
  llvm::StringRef name;
  /// With .sp, so many kept elements.
  unsigned blockSize;
  /// The lowest PTX version, as in ptxas.
  unsigned version;
  /// The targets that also have it with .sp.
  Feature sparse;
};

/// The operands, one slot for each.
enum OperandSlot : unsigned {
  D,
  A,
  B,
  Metadata,
  Descriptor,
  ScaleA,
  ScaleB,
  Enable,
  ZeroColumns,
  Masks
};
} // namespace

// clang-format off
static constexpr Scaling kScalings[] = {
    {Tcgen05Kind::MXF8F6F4, "scale_vec::1X", 32, 86, Feature::Tcgen05},
    {Tcgen05Kind::MXF8F6F4, "block32",       32, 88, Feature::Tcgen05},
    {Tcgen05Kind::MXF8F6F4, "",              32, 88, Feature::Tcgen05},
    {Tcgen05Kind::MXF4,     "scale_vec::2X", 32, 86, Feature::Tcgen05SparseNibbles},
    {Tcgen05Kind::MXF4,     "block32",       32, 88, Feature::Tcgen05SparseNibbles},
    {Tcgen05Kind::MXF4,     "",              32, 88, Feature::Tcgen05SparseNibbles},
    {Tcgen05Kind::MXF4NVF4, "scale_vec::2X", 32, 87, Feature::Tcgen05SparseNibbles},
    {Tcgen05Kind::MXF4NVF4, "scale_vec::4X", 16, 87, Feature::Tcgen05SparseNibbles},
    {Tcgen05Kind::MXF4NVF4, "block16",       16, 88, Feature::Tcgen05SparseNibbles},
    {Tcgen05Kind::MXF4NVF4, "block32",       32, 88, Feature::Tcgen05SparseNibbles},
};
// clang-format on

/// Bits in one register of the disable-output-lane mask.
static constexpr unsigned kMaskBits = 32;

static void multiplyLane(Warp &warp, const Step &step, unsigned lane) {
  const auto &multiply = step.getForm<MultiplyForm>();
  const Tcgen05MmaForm &form = multiply.form;
  auto get = [&](unsigned slot, llvm::StringRef what) {
    return getLaneValue(warp, step.operands[slot], lane, what);
  };
  constexpr llvm::StringRef address = "an address in tensor memory";
  constexpr llvm::StringRef matrix = "a shared memory descriptor";
  Tcgen05MmaOperands operands = {};
  std::optional<uint64_t> d = get(D, address),
                          a = get(A, form.isTensorA ? address : matrix),
                          b = get(B, matrix),
                          descriptor =
                              get(Descriptor, "an instruction descriptor");
  const Predicate &enable = warp.pred(step.operands[Enable]);
  if (enable.undefined >> lane & 1)
    return warp.fail(lane, "the predicate enable-input-d is undefined");
  if (!d || !a || !b || !descriptor)
    return;
  operands.d = *d + multiply.dOffset;
  operands.a = *a + multiply.aOffset;
  operands.b = *b;
  operands.instruction = *descriptor;
  if (form.isSparse()) {
    std::optional<uint64_t> metadata = get(Metadata, address);
    if (!metadata)
      return;
    operands.metadata = *metadata + multiply.metadataOffset;
  }
  operands.addsD = (enable.value >> lane & 1) != multiply.isEnableNegated;
  if (isBlockScaled(form.kind)) {
    std::optional<uint64_t> scaleA = get(ScaleA, address),
                            scaleB = get(ScaleB, address);
    if (!scaleA || !scaleB)
      return;
    operands.scaleA = *scaleA + multiply.scaleOffsetA;
    operands.scaleB = *scaleB + multiply.scaleOffsetB;
  }
  if (multiply.hasZeroColumns) {
    std::optional<uint64_t> mask =
        get(ZeroColumns, "a zero-column mask descriptor");
    if (!mask)
      return;
    operands.zeroColumns = *mask;
  }
  constexpr unsigned masksOfBlock = kTensorLanes / kMaskBits;
  for (unsigned i = 0; i != multiply.numMasks; ++i) {
    std::optional<uint64_t> mask =
        get(Masks + i, "a mask of lanes that are not written");
    if (!mask)
      return;
    for (unsigned bit = 0; bit != kMaskBits; ++bit)
      operands
          .disabledLanes[i / masksOfBlock][i % masksOfBlock * kMaskBits + bit] =
          *mask >> bit & 1;
  }
  executeTcgen05Mma(warp, lane, form, operands);
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// Takes out .block_scale and the block size; reports modifiers that the kind
/// does not have.
static bool takeScaling(Translator &t, Modifiers &modifiers,
                        Tcgen05MmaForm &form) {
  bool isScaled = modifiers.take("block_scale");
  if (isScaled != isBlockScaled(form.kind))
    return t.error((isScaled ? "expected no .block_scale with ."
                             : "expected .block_scale with .") +
                   getName(form.kind));
  if (!isScaled)
    return true;
  static constexpr llvm::StringRef names[] = {
      "scale_vec::1X", "scale_vec::2X", "scale_vec::4X", "block16", "block32"};
  std::optional<unsigned> written = modifiers.takeOneOf(names);
  llvm::StringRef name = written ? names[*written] : "";
  const Scaling *row = llvm::find_if(kScalings, [&](const Scaling &row) {
    return row.kind == form.kind && row.name == name;
  });
  if (row == std::end(kScalings)) {
    std::string legal;
    for (const Scaling &other : kScalings)
      if (other.kind == form.kind && !other.name.empty())
        legal += (legal.empty() ? "." : ", .") + other.name.str();
    return t.error("expected one of " + legal + " with ." + getName(form.kind) +
                   ", got " + (name.empty() ? "nothing" : "." + name));
  }
  const Module &module = t.program.module;
  unsigned version = module.versionMajor * 10 + module.versionMinor;
  if (version < row->version)
    return t.error("expected PTX version " + llvm::Twine(row->version / 10) +
                   "." + llvm::Twine(row->version % 10) + " or above for ." +
                   getName(form.kind) + ".block_scale" +
                   (name.empty() ? "" : "." + name) + ", got " +
                   llvm::Twine(module.versionMajor) + "." +
                   llvm::Twine(module.versionMinor));
  if (form.isSparse() && !hasFeature(module.target, row->sparse))
    return t.error("expected a target that has tcgen05.mma.sp with ." +
                   getName(form.kind) + ", got " + module.target);
  form.blockSize = row->blockSize;
  form.isScaleVec = name.starts_with("scale_vec");
  if (form.isScaleVec && !hasFeature(module.target, Feature::Tcgen05ScaleVec))
    t.fail("expected .block16 or .block32 for " + module.target + ", got ." +
           name);
  return !t.hasFailed();
}

static bool takeKind(Translator &t, Modifiers &modifiers,
                     Tcgen05MmaForm &form) {
  for (llvm::StringRef name : modifiers.rest())
    if (std::optional<Tcgen05Kind> kind = lookupTensorKind(name)) {
      form.kind = *kind;
      modifiers.take(name);
      if (*kind == Tcgen05Kind::I8 &&
          !hasFeature(t.program.module.target, Feature::Tcgen05Integers))
        t.fail("expected a target that has tcgen05.mma.kind::i8, got " +
               t.program.module.target);
      return !t.hasFailed();
    }
  return t.error("expected a kind behind tcgen05.mma, such as .kind::mxf8f6f4");
}

static void takeCollector(Modifiers &modifiers, Tcgen05MmaForm &form) {
  static constexpr llvm::StringRef uses[] = {"fill", "use", "lastuse",
                                             "discard"};
  form.collector = CollectorUse::Discard;
  unsigned numBuffers =
      form.isWeightStationary() ? std::tuple_size_v<CollectorBuffers> : 1;
  for (unsigned buffer = 0; buffer != numBuffers; ++buffer)
    for (auto [use, name] : llvm::enumerate(uses)) {
      std::string owner =
          form.isWeightStationary() ? "b" + std::to_string(buffer) : "a";
      if (!modifiers.take("collector::" + owner + "::" + name.str()))
        continue;
      form.collector = static_cast<CollectorUse>(use);
      form.collectorBuffer = buffer;
      return;
    }
}

namespace {
/// Reads operands one after the other.
class OperandReader {
public:
  OperandReader(Translator &t, llvm::MutableArrayRef<Slot> slots)
      : t(t), rest(t.current->operands), slots(slots) {}

  const PtxOperand *peek() const {
    return rest.empty() ? nullptr : &rest.front();
  }
  unsigned getNumLeft() const { return rest.size(); }
  const PtxOperand &take() { return rest.consume_front(); }
  /// [address] in tensor memory.
  void takeAddress(OperandSlot slot, int64_t &offset) {
    slots[slot] = takeTensorAddress(t, take(), offset);
  }
  void takeValue(OperandSlot slot, Type type) {
    slots[slot] = t.source(take(), type);
  }

private:
  Translator &t;
  llvm::ArrayRef<PtxOperand> rest;
  llvm::MutableArrayRef<Slot> slots;
};
} // namespace

/// enable-input-d and, with .ws, a zero-column mask descriptor.
static void takeEndOfWS(Translator &t, OperandReader &reader,
                        MultiplyForm &form,
                        llvm::SmallVectorImpl<Slot> &slots) {
  slots[Enable] = t.predicateSource(reader.take(), &form.isEnableNegated);
  form.hasZeroColumns = reader.peek();
  if (form.hasZeroColumns)
    reader.takeValue(ZeroColumns, Type::B64);
}

static void takeEnd(Translator &t, OperandReader &reader, MultiplyForm &form,
                    llvm::SmallVectorImpl<Slot> &slots) {
  if (reader.peek()->kind == PtxOperand::Kind::Vector) {
    form.numMasks = kTensorLanes / kMaskBits * form.form.numBlocks;
    t.sources(reader.take(), Type::B32, form.numMasks, slots);
  }
  if (!reader.peek())
    return t.fail("expected the operand enable-input-d");
  slots[Enable] = t.predicateSource(reader.take(), &form.isEnableNegated);
  if (!reader.peek())
    return;
  int64_t shift = t.constant(reader.take(), "the operand scale-input-d");
  bool hasShift =
      form.form.kind == Tcgen05Kind::F16 || form.form.kind == Tcgen05Kind::TF32;
  if (!hasShift)
    return t.fail("expected the operand scale-input-d only with .kind::f16 or "
                  ".kind::tf32");
  if (!hasFeature(t.program.module.target, Feature::Tcgen05InputScale))
    return t.fail("expected a target that has the operand scale-input-d, got " +
                  t.program.module.target);
  if (shift < 0 || shift > 15)
    return t.fail("expected the operand scale-input-d from 0 to 15, got " +
                  llvm::Twine(shift));
  form.form.inputShift = shift;
  if (reader.peek())
    t.fail("expected no operand behind scale-input-d");
}

void sim::translateTcgen05Mma(Translator &t, Modifiers &modifiers) {
  if (modifiers.take("ashift"))
    return t.fail("not supported in this version: tcgen05.mma.ashift");
  MultiplyForm multiply = {};
  Tcgen05MmaForm &form = multiply.form;
  if (modifiers.take("ws"))
    form.variant = MmaVariant::WeightStationary;
  if (modifiers.take("sp")) {
    if (form.isWeightStationary())
      return t.fail("not supported in this version: tcgen05.mma.ws with .sp");
    form.variant = MmaVariant::Sparse;
  }
  form.numBlocks = takeNumBlocks(t, modifiers);
  if (!takeKind(t, modifiers, form) || !takeScaling(t, modifiers, form))
    return;
  if (form.isSparse() && !isBlockScaled(form.kind))
    return t.fail("not supported in this version: tcgen05.mma.sp with ." +
                  getName(form.kind));
  takeCollector(modifiers, form);
  bool isScaled = isBlockScaled(form.kind);
  if (form.isWeightStationary() && (isScaled || form.numBlocks != 1))
    return t.fail(llvm::Twine("expected .cta_group::1 and a kind without "
                              "scales with tcgen05.mma.ws, got .cta_group::") +
                  llvm::Twine(form.numBlocks) + " and ." + getName(form.kind));
  unsigned fewest = isScaled ? 7 + form.isSparse() : 5;
  unsigned most = fewest + (isScaled ? 0 : form.isWeightStationary() ? 1 : 2);
  if (!t.finish(modifiers) || !t.expectOperands(fewest, most))
    return;
  form.target = getTargetNumber(t.program.module.target);
  for (auto [i, wide] : llvm::enumerate(getExtendedKs()))
    if (hasFeature(t.program.module.target, wide.feature))
      form.extendedKs |= 1u << i;
  llvm::SmallVector<Slot> slots(Masks, kNoSlot);
  OperandReader reader(t, slots);
  reader.takeAddress(D, multiply.dOffset);
  form.isTensorA = reader.peek()->kind == PtxOperand::Kind::Address;
  if (form.isTensorA && form.isSparse())
    return t.fail("not supported in this version: tcgen05.mma.sp with A in "
                  "tensor memory");
  if (form.isTensorA)
    reader.takeAddress(A, multiply.aOffset);
  else
    reader.takeValue(A, Type::B64);
  reader.takeValue(B, Type::B64);
  if (form.isSparse())
    reader.takeAddress(Metadata, multiply.metadataOffset);
  reader.takeValue(Descriptor, Type::B32);
  if (isScaled) {
    reader.takeAddress(ScaleA, multiply.scaleOffsetA);
    reader.takeAddress(ScaleB, multiply.scaleOffsetB);
  }
  if (form.isWeightStationary())
    takeEndOfWS(t, reader, multiply, slots);
  else
    takeEnd(t, reader, multiply, slots);
  // The instruction counts itself in statistics, as only descriptors have the
  // shape and the types.
  t.emit(executeInLanes<multiplyLane>, StepClass::Matrix, slots,
         t.keep(multiply))
      .name = "";
}
