//===- VideoInstructions.cpp - Video instructions -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scalar video instructions (such as vadd) on a byte, a half or all of each
// 32-bit register, and the SIMD video instructions (such as vadd2 and vadd4) on
// all elements of two registers, with a second operation on the result.
//
// Cards have native instructions for few of them, and ptxas expands the rest.
// An H200 agreed with the ISA in all 256 results of each form here. The forms
// in which it did not agree are refused: a saturated result that is merged,
// anything merged into .h1, the second operations .min and .max, vshl.sat, and
// vmad with .sat or with a scale and 32-bit sources.
//
// Source: PTX ISA, section 9.7.18 "Video Instructions".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticInstructions.h"
#include "Arithmetic/Relations.h"
#include "Translation/Emit.h"
#include "Translation/OpcodeTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
enum class VideoKind : uint8_t {
  Add,
  Subtract,
  Difference,
  Minimum,
  Maximum,
  Average,
  ShiftLeft,
  ShiftRight,
  Compare,
};

struct OpcodeRow {
  llvm::StringRef name;
  VideoKind kind;
  bool isScalar, isVector;
};

/// Bits of a register, which are sign- or zero-extended.
struct Part {
  unsigned shift = 0, bits = 32;

  int64_t extract(uint64_t word, bool isSigned) const {
    uint64_t value = word >> shift & llvm::maskTrailingOnes<uint64_t>(bits);
    return isSigned ? llvm::SignExtend64(value, bits) : value;
  }
};

/// An operation on two integers.
struct VideoOperation {
  VideoKind kind;
  Relations relations;
  bool isSignedA, isSignedB, isSigned;
  bool saturates, wrapsShift;

  int64_t compute(int64_t a, int64_t b) const;
  /// Clamps to the range of the result's type with so many bits.
  int64_t clamp(int64_t value, unsigned bits) const {
    if (!saturates)
      return value;
    int64_t least = isSigned ? llvm::minIntN(bits) : 0;
    int64_t most = isSigned ? llvm::maxIntN(bits)
                            : static_cast<int64_t>(llvm::maxUIntN(bits));
    return std::clamp(value, least, most);
  }
};

/// Whether the third source is added, or provides the bits that the result does
/// not replace.
enum class Second : uint8_t { None, Add, Merge };

struct ScalarVideo : Operation<uint32_t, 3> {
  VideoOperation operation;
  Part a, b, result;
  Second second;

  uint64_t operator()(uint64_t x, uint64_t y, uint64_t c) const {
    int64_t value = operation.compute(a.extract(x, operation.isSignedA),
                                      b.extract(y, operation.isSignedB));
    value = operation.clamp(value, result.bits);
    if (second == Second::Add)
      return value + c;
    uint64_t mask = llvm::maskTrailingOnes<uint64_t>(result.bits)
                    << result.shift;
    return (c & ~mask) | (static_cast<uint64_t>(value) << result.shift & mask);
  }
};

/// Elements are selected from both registers, b above a.
struct VectorVideo : Operation<uint32_t, 3> {
  VideoOperation operation;
  unsigned count;
  std::array<uint8_t, 4> selectA, selectB;
  /// Elements of the result.
  uint8_t mask;
  Second second;

  uint64_t operator()(uint64_t x, uint64_t y, uint64_t c) const {
    uint64_t words = x | y << 32;
    unsigned bits = 32 / count;
    uint64_t sum = c, merged = 0;
    for (unsigned i = 0; i != count; ++i) {
      Part a = {selectA[i] * bits, bits}, b = {selectB[i] * bits, bits};
      int64_t value = operation.compute(a.extract(words, operation.isSignedA),
                                        b.extract(words, operation.isSignedB));
      value = operation.clamp(value, bits);
      bool isSelected = mask >> i & 1;
      sum += isSelected ? value : 0;
      uint64_t element = isSelected ? value : c >> i * bits;
      merged |= (element & llvm::maskTrailingOnes<uint64_t>(bits)) << i * bits;
    }
    return second == Second::Add ? sum : merged;
  }
};

/// a * b + c, with parts negated, or one more.
struct VideoProduct : Operation<uint32_t, 3> {
  Part a, b;
  bool isSignedA, isSignedB, isSigned;
  bool isProductNegated, isAddendNegated, isPlusOne;
  unsigned shift;

  uint64_t operator()(uint64_t x, uint64_t y, uint64_t c) const {
    using Wide = __int128;
    Wide product = Wide(a.extract(x, isSignedA)) * b.extract(y, isSignedB);
    uint64_t addend = isAddendNegated ? static_cast<uint32_t>(~c) : c;
    Wide sum = (isProductNegated ? ~product : product) +
               (isSigned ? llvm::SignExtend64(addend, 32) : int64_t(addend)) +
               (isProductNegated || isAddendNegated || isPlusOne);
    return static_cast<uint64_t>(sum >> shift);
  }
};
} // namespace

static constexpr OpcodeRow kOpcodes[] = {
    {"vadd", VideoKind::Add, true, true},
    {"vsub", VideoKind::Subtract, true, true},
    {"vabsdiff", VideoKind::Difference, true, true},
    {"vmin", VideoKind::Minimum, true, true},
    {"vmax", VideoKind::Maximum, true, true},
    {"vavrg", VideoKind::Average, false, true},
    {"vshl", VideoKind::ShiftLeft, true, false},
    {"vshr", VideoKind::ShiftRight, true, false},
    {"vset", VideoKind::Compare, true, true},
};

int64_t VideoOperation::compute(int64_t a, int64_t b) const {
  constexpr int64_t kMostShift = 32;
  switch (kind) {
  case VideoKind::Add:
    return a + b;
  case VideoKind::Subtract:
    return a - b;
  case VideoKind::Difference:
    return std::abs(a - b);
  case VideoKind::Minimum:
    return std::min(a, b);
  case VideoKind::Maximum:
    return std::max(a, b);
  case VideoKind::Average:
    // Halves are rounded away from zero.
    return (a + b + (a + b >= 0)) >> 1;
  case VideoKind::ShiftLeft:
    b = wrapsShift ? b & 31 : std::min(b, kMostShift);
    return static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  case VideoKind::ShiftRight:
    return a >> (wrapsShift ? b & 31 : std::min(b, kMostShift));
  case VideoKind::Compare:
    return isIn(relations, a, b);
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// Takes out .u32 or .s32; nothing after a failure.
static std::optional<bool> takeSignedness(Translator &t, Modifiers &modifiers) {
  static constexpr llvm::StringRef names[] = {"u32", "s32"};
  if (!modifiers.rest().empty())
    for (auto [isSigned, name] : llvm::enumerate(names))
      if (modifiers.rest().front() == name && modifiers.take(name))
        return isSigned != 0;
  return t.error("expected types out of u32 and s32 behind " +
                 llvm::Twine(t.current->opcode));
}

static void failOnCards(Translator &t, const llvm::Twine &what) {
  t.fail("not supported in this version: " + llvm::Twine(t.current->opcode) +
         " " + what + ", for which cards give other results than the ISA");
}

/// The part that `.b0` to `.h1` behind an operand select.
static std::optional<Part> takePart(Translator &t, const PtxOperand &operand) {
  llvm::StringRef selector = operand.selector;
  if (selector.empty())
    return Part();
  unsigned bits = selector[0] == 'b' ? 8 : 16;
  unsigned number;
  if (selector.size() == 2 && !selector.drop_front().getAsInteger(10, number) &&
      number < 32 / bits)
    return Part{number * bits, bits};
  return t.error(operand.location,
                 "expected .b0, .b1, .b2, .b3, .h0 or .h1 behind a "
                 "register, got ." +
                     selector);
}

/// The elements that an operand's selector names, the lowest first.
static bool takeElements(Translator &t, const PtxOperand &operand,
                         unsigned count, unsigned first,
                         std::array<uint8_t, 4> &elements) {
  for (unsigned i = 0; i != count; ++i)
    elements[i] = first + i;
  llvm::StringRef selector = operand.selector;
  if (selector.empty())
    return true;
  bool isGood =
      selector[0] == (count == 4 ? 'b' : 'h') && selector.size() == 1 + count;
  for (unsigned i = 0; i != count && isGood; ++i) {
    elements[i] = selector[count - i] - '0';
    isGood = elements[i] < 2 * count;
  }
  if (!isGood)
    t.fail(operand.location,
           llvm::Twine("expected ") +
               (count == 4 ? ".b and four digits from 0 to 7"
                           : ".h and two digits from 0 to 3") +
               " behind a register, got ." + selector);
  return isGood;
}

/// The mask of result elements: digits in descending order.
static bool takeMask(Translator &t, const PtxOperand &operand, unsigned count,
                     uint8_t &mask) {
  mask = (1 << count) - 1;
  llvm::StringRef selector = operand.selector;
  if (selector.empty())
    return true;
  bool isGood = selector[0] == (count == 4 ? 'b' : 'h');
  mask = 0;
  unsigned last = count;
  for (char digit : selector.drop_front()) {
    unsigned number = digit - '0';
    isGood &= number < last;
    last = std::min(number, last);
    mask |= 1 << (number & 7);
  }
  if (!isGood)
    t.fail(operand.location,
           "expected digits below " + llvm::Twine(count) +
               " in descending order behind the result, got ." + selector);
  return isGood;
}

/// The registers of the operands, without their selectors.
static bool collectRegisters(Translator &t, bool hasThird, Slots &slots) {
  for (PtxOperand operand : t.current->operands) {
    operand.selector = "";
    operand.isMinus = false;
    slots.push_back(
        t.registerOf(/*isWritten=*/slots.empty(), operand, Type::B32));
  }
  if (!hasThird)
    slots.push_back(t.constantSlot(0));
  return !t.hasFailed();
}

/// Takes out the modifiers before a second operation.
static bool takeOperation(Translator &t, Modifiers &modifiers,
                          const OpcodeRow &row, VideoOperation &operation) {
  operation = {};
  operation.kind = row.kind;
  bool isComparison = row.kind == VideoKind::Compare;
  std::optional<bool> isSigned =
      isComparison ? false : takeSignedness(t, modifiers);
  std::optional<bool> isSignedA, isSignedB;
  if (isSigned)
    isSignedA = takeSignedness(t, modifiers);
  if (isSignedA)
    isSignedB = takeSignedness(t, modifiers);
  if (!isSignedB)
    return false;
  operation.isSigned = *isSigned;
  operation.isSignedA = *isSignedA;
  operation.isSignedB = *isSignedB;
  if (isComparison) {
    static constexpr Relations relations[] = {
        Equal, Less | Greater, Less, Less | Equal, Greater, Greater | Equal};
    std::optional<unsigned> relation =
        modifiers.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge"});
    if (!relation)
      t.fail("expected .eq, .ne, .lt, .le, .gt or .ge behind " +
             llvm::Twine(t.current->opcode));
    operation.relations = relations[relation.value_or(0)];
    return relation.has_value();
  }
  operation.saturates = modifiers.take("sat");
  if (row.kind != VideoKind::ShiftLeft && row.kind != VideoKind::ShiftRight)
    return true;
  std::optional<unsigned> mode = modifiers.takeOneOf({"clamp", "wrap"});
  operation.wrapsShift = mode == 1u;
  if (!mode || operation.isSignedB)
    t.fail("expected .u32 for the shift, and .clamp or .wrap, behind " +
           llvm::Twine(t.current->opcode));
  return !t.hasFailed();
}

static void translateScalar(Translator &t, Modifiers &modifiers,
                            const OpcodeRow &row) {
  ScalarVideo video = {};
  if (!takeOperation(t, modifiers, row, video.operation))
    return;
  bool isAdded = modifiers.take("add");
  if (modifiers.takeOneOf({"min", "max"}))
    return failOnCards(t, "with .min or .max");
  if (row.kind == VideoKind::ShiftLeft && video.operation.saturates)
    return failOnCards(t, "with .sat");
  if (!t.finish(modifiers) || !t.expectOperands(3, 4))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  bool hasThird = operands.size() == 4;
  std::optional<Part> result = takePart(t, operands[0]),
                      a = takePart(t, operands[1]),
                      b = takePart(t, operands[2]);
  if (!result || !a || !b)
    return;
  bool isMerged = !operands[0].selector.empty();
  if (isAdded && isMerged)
    return t.fail("expected a second operation or a part of the result, got "
                  "both");
  if ((isAdded || isMerged) != hasThird)
    return t.fail(llvm::Twine("expected ") + (hasThird ? "three" : "four") +
                  " operands, got " + llvm::Twine(operands.size()));
  if (isMerged && video.operation.saturates)
    return failOnCards(t, "with .sat that is merged");
  if (operands[0].selector == "h1")
    return failOnCards(t, "merged into .h1");
  video.result = *result;
  video.a = *a;
  video.b = *b;
  video.second = isAdded    ? Second::Add
                 : isMerged ? Second::Merge
                            : Second::None;
  Slots slots;
  if (collectRegisters(t, hasThird, slots))
    emitOperation(t, slots, video);
}

static void translateVector(Translator &t, Modifiers &modifiers,
                            const OpcodeRow &row, unsigned count) {
  VectorVideo video = {};
  video.count = count;
  if (!takeOperation(t, modifiers, row, video.operation))
    return;
  bool isAdded = modifiers.take("add");
  video.second = isAdded ? Second::Add : Second::Merge;
  if (isAdded && video.operation.saturates)
    return t.fail("expected .sat or .add behind " +
                  llvm::Twine(t.current->opcode) + ", got both");
  if (!t.finish(modifiers) || !t.expectOperands(4) ||
      !takeMask(t, t.current->operands[0], count, video.mask) ||
      !takeElements(t, t.current->operands[1], count, 0, video.selectA) ||
      !takeElements(t, t.current->operands[2], count, count, video.selectB))
    return;
  Slots slots;
  if (collectRegisters(t, /*hasThird=*/true, slots))
    emitOperation(t, slots, video);
}

static void translateProduct(Translator &t, Modifiers &modifiers) {
  VideoProduct product = {};
  if (!takeSignedness(t, modifiers))
    return;
  std::optional<bool> isSignedA = takeSignedness(t, modifiers), isSignedB;
  if (isSignedA)
    isSignedB = takeSignedness(t, modifiers);
  if (!isSignedB)
    return;
  product.isPlusOne = modifiers.take("po");
  if (modifiers.take("sat"))
    return failOnCards(t, "with .sat");
  static constexpr unsigned shifts[] = {7, 15};
  std::optional<unsigned> scale = modifiers.takeOneOf({"shr7", "shr15"});
  if (!t.finish(modifiers) || !t.expectOperands(4))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  std::optional<Part> a = takePart(t, operands[1]),
                      b = takePart(t, operands[2]);
  if (!a || !b)
    return;
  if (scale && (a->bits == 32 || b->bits == 32))
    return failOnCards(t, "with a scale and 32-bit sources");
  product.a = *a;
  product.b = *b;
  product.shift = scale ? shifts[*scale] : 0;
  product.isSignedA = *isSignedA;
  product.isSignedB = *isSignedB;
  product.isProductNegated = operands[1].isMinus != operands[2].isMinus;
  product.isAddendNegated = operands[3].isMinus;
  bool isNegated = product.isProductNegated || product.isAddendNegated;
  if (int(product.isProductNegated) + product.isAddendNegated +
          product.isPlusOne >
      1)
    return t.fail("expected one of .po, a negated product and a negated "
                  "addend");
  product.isSigned = *isSignedA || *isSignedB || isNegated;
  Slots slots;
  if (collectRegisters(t, /*hasThird=*/true, slots))
    emitOperation(t, slots, product);
}

/// `vadd`, `vadd2` or `vadd4`.
static void translateVideo(Translator &t, Modifiers &modifiers) {
  llvm::StringRef name = t.current->opcode;
  unsigned count = name.consume_back("2") ? 2 : name.consume_back("4") ? 4 : 1;
  const OpcodeRow *row = llvm::find_if(
      kOpcodes, [&](const OpcodeRow &row) { return row.name == name; });
  if (count == 1)
    return translateScalar(t, modifiers, *row);
  translateVector(t, modifiers, *row, count);
}

void sim::addVideoInstructions(OpcodeTable &table) {
  for (const OpcodeRow &row : kOpcodes) {
    if (row.isScalar)
      table[row.name] = translateVideo;
    if (row.isVector)
      table[(row.name + "2").str()] = table[(row.name + "4").str()] =
          translateVideo;
  }
  table["vmad"] = translateProduct;
}
