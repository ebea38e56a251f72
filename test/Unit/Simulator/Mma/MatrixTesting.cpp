//===- MatrixTesting.cpp - Warps for tests of matrix instructions ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixTesting.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::mmatest;

static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<llvm::StringRef> mmatest::splitModifiers(llvm::StringRef text) {
  std::vector<llvm::StringRef> modifiers;
  while (!text.empty()) {
    auto [first, rest] = text.split('.');
    modifiers.push_back(first);
    text = rest;
  }
  return modifiers;
}

std::string mmatest::getLookupMessage(llvm::StringRef text) {
  Result<const MmaForm *> form = lookupMma(splitModifiers(text));
  return form ? "no error" : form.message();
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

Description mmatest::describe(llvm::StringRef text) {
  Description d = {};
  std::vector<std::string> types;
  bool isPacked = false;
  for (llvm::StringRef word : splitModifiers(text)) {
    if (word.starts_with("sp")) {
      d.isSparse = true;
      d.isOrdered = word == "sp::ordered_metadata";
    } else if (word.consume_front("m16n8k") || word.consume_front("m8n8k")) {
      d.m = text.contains("m16n8k") ? 16 : 8;
      word.getAsInteger(10, d.k);
    } else if (word.consume_front("scale_vec::")) {
      word.consume_back("X");
      word.getAsInteger(10, d.scaleVec);
    } else if (word == "satfinite") {
      d.isSatfinite = true;
    } else if (word.starts_with("kind::mxf")) {
      isPacked = word != "kind::mxf8f6f4";
      d.scaleVec = isPacked ? 2 : 1;
    } else if (!word.starts_with("kind") && word != "sync" &&
               word != "aligned" && word != "row" && word != "col" &&
               word != "block_scale") {
      types.push_back(word.str());
    }
  }
  d.c = types[0];
  d.a = types[1];
  d.b = types[2];
  d.scale = types.size() == 5 ? types[4] : "";
  d.slotBits = isPacked ? 4
                        : llvm::StringSwitch<unsigned>(d.a)
                              .Cases({"u4", "s4"}, 4)
                              .Cases({"f16", "bf16"}, 16)
                              .Case("tf32", 32)
                              .Case("f64", 64)
                              .Default(8);
  return d;
}

std::vector<std::string> mmatest::listInstructions() {
  std::vector<std::string> all;
  auto add = [&](const std::string &prefix, const std::string &shape,
                 const std::string &suffix) {
    all.push_back(prefix + "sync.aligned." + shape + ".row.col." + suffix);
  };
  const char *const dense = "", *const sp = "sp.",
                    *const ordered = "sp::ordered_metadata.";
  for (const char *c : {"f16", "f32"}) {
    std::string types = std::string(c) + ".f16.f16." + c;
    add(dense, "m16n8k8", types);
    add(dense, "m16n8k16", types);
    for (const char *sparse : {sp, ordered})
      for (const char *shape : {"m16n8k16", "m16n8k32"})
        add(sparse, shape, types);
  }
  for (const char *shape : {"m16n8k8", "m16n8k16"})
    add(dense, shape, "f32.bf16.bf16.f32");
  for (const char *shape : {"m16n8k4", "m16n8k8"})
    add(dense, shape, "f32.tf32.tf32.f32");
  for (const char *sparse : {sp, ordered}) {
    for (const char *shape : {"m16n8k16", "m16n8k32"})
      add(sparse, shape, "f32.bf16.bf16.f32");
    for (const char *shape : {"m16n8k8", "m16n8k16"})
      add(sparse, shape, "f32.tf32.tf32.f32");
  }
  for (const char *shape : {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"})
    add(dense, shape, "f64.f64.f64.f64");

  auto addIntegers = [&](const char *prefix, const char *shape,
                         const char *bits) {
    for (const char *a : {"u", "s"})
      for (const char *b : {"u", "s"})
        for (const char *mode : {"", "satfinite."})
          add(prefix, shape,
              std::string(mode) + "s32." + a + bits + "." + b + bits + ".s32");
  };
  for (const char *shape : {"m8n8k16", "m16n8k16", "m16n8k32"})
    addIntegers(dense, shape, "8");
  for (const char *shape : {"m8n8k32", "m16n8k32", "m16n8k64"})
    addIntegers(dense, shape, "4");
  for (const char *sparse : {sp, ordered}) {
    addIntegers(sparse, "m16n8k32", "8");
    addIntegers(sparse, "m16n8k64", "8");
    addIntegers(sparse, "m16n8k64", "4");
    addIntegers(sparse, "m16n8k128", "4");
  }

  const char *const elements[] = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};
  for (std::string a : elements)
    for (std::string b : elements) {
      bool isF8 = (a == "e4m3" || a == "e5m2") && (b == "e4m3" || b == "e5m2");
      for (std::string c : {"f16", "f32"}) {
        std::string types = c + "." + a + "." + b + "." + c;
        if (isF8) {
          add(dense, "m16n8k16", types);
          add(dense, "m16n8k32", types);
          if (c == "f32") {
            add(sp, "m16n8k64", types);
            add(ordered, "m16n8k64", types);
          }
        }
        add(dense, "m16n8k32", "kind::f8f6f4." + types);
        add(ordered, "m16n8k64", "kind::f8f6f4." + types);
      }
      std::string scaled = "kind::mxf8f6f4.block_scale.scale_vec::1X.f32." + a +
                           "." + b + ".f32.ue8m0";
      add(dense, "m16n8k32", scaled);
      add(ordered, "m16n8k64", scaled);
    }
  for (const char *kind :
       {"kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
        "kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
        "kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0",
        "kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"}) {
    add(dense, "m16n8k64", kind);
    add(ordered, "m16n8k128", kind);
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Sign, exponent and mantissa of these widths; `special`: the largest exponent
/// is infinity and NaN, as IEEE 754.
static double decodeBinary(uint64_t code, unsigned exponentBits,
                           unsigned mantissaBits, bool isSpecial) {
  int bias = (1 << (exponentBits - 1)) - 1;
  unsigned exponent = code >> mantissaBits & ((1u << exponentBits) - 1);
  uint64_t mantissa = code & ((uint64_t(1) << mantissaBits) - 1);
  double sign = code >> (exponentBits + mantissaBits) & 1 ? -1 : 1;
  if (isSpecial && exponent == (1u << exponentBits) - 1)
    return mantissa ? kNaN : sign * kInfinity;
  double fraction = std::ldexp(double(mantissa), -int(mantissaBits));
  if (exponent == 0)
    return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1 + fraction, int(exponent) - bias);
}

double mmatest::decodeElement(const std::string &type, uint64_t code) {
  if (type == "e4m3")
    return (code & 0x7F) == 0x7F ? kNaN : decodeBinary(code, 4, 3, false);
  if (type == "e5m2")
    return decodeBinary(code, 5, 2, true);
  if (type == "e3m2")
    return decodeBinary(code, 3, 2, false);
  if (type == "e2m3")
    return decodeBinary(code, 2, 3, false);
  if (type == "e2m1")
    return decodeBinary(code, 2, 1, false);
  if (type == "ue8m0")
    return code == 0xFF ? kNaN : std::ldexp(1.0, int(code) - 127);
  if (type == "ue4m3")
    return std::fabs(decodeElement("e4m3", code));
  if (type == "f16")
    return decodeBinary(code, 5, 10, true);
  if (type == "bf16")
    return decodeBinary(code, 8, 7, true);
  if (type == "tf32")
    return decodeBinary(code >> 13, 8, 10, true);
  if (type == "f32")
    return decodeBinary(code, 8, 23, true);
  if (type == "f64")
    return decodeBinary(code, 11, 52, true);
  if (type == "u8" || type == "u4")
    return double(code);
  if (type == "s8")
    return static_cast<int8_t>(code);
  if (type == "s4")
    return code < 8 ? double(code) : double(code) - 16;
  if (type == "s32")
    return static_cast<int32_t>(code);
  ADD_FAILURE() << "no such type: " << type;
  return 0;
}

unsigned mmatest::getElementBits(const std::string &type) {
  return llvm::StringSwitch<unsigned>(type)
      .Cases({"u4", "s4", "e2m1"}, 4)
      .Cases({"e3m2", "e2m3"}, 6)
      .Cases({"f16", "bf16"}, 16)
      .Cases({"tf32", "f32", "s32"}, 32)
      .Case("f64", 64)
      .Default(8);
}

unsigned mmatest::getShift(const std::string &type, unsigned slotBits) {
  return type == "e2m1" && slotBits == 8 ? 2 : 0;
}

uint64_t mmatest::getNaN(const std::string &type) {
  if (type == "f64")
    return 0x7FF8000000000000;
  return type == "f16" ? 0x7FFF : 0x7FFFFFFF;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

static unsigned getSlots(unsigned bits) { return bits == 64 ? 1 : 32 / bits; }

Position mmatest::locateA(const Description &d, unsigned m, unsigned k) {
  unsigned w = getSlots(d.slotBits);
  unsigned halves = d.m / 8;
  return {4 * (m % 8) + k / w % 4, m / 8 + halves * (k / (4 * w)), k % w};
}

Position mmatest::locateB(const Description &d, unsigned k, unsigned n) {
  unsigned w = getSlots(d.slotBits);
  return {4 * n + k / w % 4, k / (4 * w), k % w};
}

Position mmatest::locateC(const Description &d, unsigned m, unsigned n) {
  unsigned lane = 4 * (m % 8) + n / 2;
  if (d.c == "f16")
    return {lane, m / 8, n % 2};
  return {lane, n % 2 + 2 * (m / 8), 0};
}

Position mmatest::locateMetadata(const Description &d, unsigned m,
                                 unsigned chunk, unsigned selector) {
  unsigned chunks = d.k / d.getChunk();
  unsigned g = m % 8, high = m / 8;
  if (d.slotBits >= 16) {
    // Four fields of row g, then four of row g + 8; the second half of K is in
    // the next thread.
    unsigned thread = chunks == 4 ? selector : 2 * selector + chunk / 4;
    return {4 * g + thread, 0, 4 * high + chunk % 4};
  }
  // Row g in the even threads, row g + 8 in the odd ones.
  unsigned thread = chunks == 8 ? 2 * selector + high : 2 * (chunk / 8) + high;
  return {4 * g + thread, 0, chunk % 8};
}

//===----------------------------------------------------------------------===//
// Mma
//===----------------------------------------------------------------------===//

static Lanes makeLanes() {
  Lanes lanes;
  lanes.value.fill(0);
  lanes.undefinedBytes.fill(0);
  lanes.undefinedLanes = 0;
  return lanes;
}

static void setBits(Lanes &lanes, unsigned lane, unsigned shift, unsigned bits,
                    uint64_t value) {
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  lanes.value[lane] &= ~(mask << shift);
  lanes.value[lane] |= (value & mask) << shift;
}

Mma::Mma(llvm::StringRef text)
    : text(text.str()), d(describe(text)), form(nullptr), metadata(makeLanes()),
      scaleA(makeLanes()), scaleB(makeLanes()), byteA(makeLanes()),
      byteB(makeLanes()), threadA(makeLanes()), threadB(makeLanes()) {
  Result<const MmaForm *> found = lookupMma(splitModifiers(text));
  if (!found) {
    ADD_FAILURE() << found.message();
    abort();
  }
  form = *found;
  registers = getRegisters(*form);
  a.assign(registers.a, makeLanes());
  b.assign(registers.b, makeLanes());
  c.assign(registers.c, makeLanes());
  result.assign(registers.d, makeLanes());
  if (d.isSparse)
    for (unsigned m = 0; m != d.m; ++m)
      for (unsigned chunk = 0; chunk != d.k / d.getChunk(); ++chunk)
        setMetadata(m, chunk, 0b0100);
  for (unsigned block = 0; block != d.scaleVec; ++block) {
    for (unsigned m = 0; m != d.m; ++m)
      setScaleA(m, block, d.scale == "ue8m0" ? 127 : 0x38);
    for (unsigned n = 0; n != 8; ++n)
      setScaleB(n, block, d.scale == "ue8m0" ? 127 : 0x38);
  }
}

void Mma::setA(unsigned m, unsigned k, uint64_t code) {
  Position position = locateA(d, m, k);
  setBits(a[position.reg], position.lane, position.slot * d.slotBits,
          d.slotBits, code << getShift(d.a, d.slotBits));
}

void Mma::setB(unsigned k, unsigned n, uint64_t code) {
  Position position = locateB(d, k, n);
  setBits(b[position.reg], position.lane, position.slot * d.slotBits,
          d.slotBits, code << getShift(d.b, d.slotBits));
}

void Mma::setC(unsigned m, unsigned n, uint64_t bits) {
  Position position = locateC(d, m, n);
  setBits(c[position.reg], position.lane,
          position.slot * d.getAccumulatorBits(), d.getAccumulatorBits(), bits);
}

void Mma::setMetadata(unsigned m, unsigned chunk, unsigned field) {
  Position position = locateMetadata(d, m, chunk, selector);
  setBits(metadata, position.lane, 4 * position.slot, 4, field);
}

void Mma::setScaleA(unsigned m, unsigned block, uint8_t code) {
  unsigned lane = 4 * (m % 8) + 2 * unsigned(threadA.value[0]) + m / 8;
  setBits(scaleA, lane, 8 * (unsigned(byteA.value[0]) + block), 8, code);
}

void Mma::setScaleB(unsigned n, unsigned block, uint8_t code) {
  setBits(scaleB, 4 * n + unsigned(threadB.value[0]),
          8 * (unsigned(byteB.value[0]) + block), 8, code);
}

void Mma::setSelectors(unsigned byteOfA, unsigned threadOfA, unsigned byteOfB,
                       unsigned threadOfB) {
  byteA.value.fill(byteOfA);
  threadA.value.fill(threadOfA);
  byteB.value.fill(byteOfB);
  threadB.value.fill(threadOfB);
}

/// A random code of this type. Without specials it is finite, and f64 is
/// between 2^-300 and 2^300 or 0, so that a Rational holds all products.
static uint64_t drawElement(const std::string &type, std::mt19937 &random,
                            bool withSpecials) {
  for (;;) {
    uint64_t code = uint64_t(random()) << 32 | random();
    unsigned bits = getElementBits(type);
    if (bits < 64)
      code &= (uint64_t(1) << bits) - 1;
    if (random() % 8 == 0)
      code &= 1 | uint64_t(1) << (bits - 1);
    double value = decodeElement(type, code);
    if (withSpecials && random() % 64 != 0)
      withSpecials = false;
    if (!std::isfinite(value) && !withSpecials)
      continue;
    if (type == "f64" && value != 0 && std::isfinite(value) &&
        (std::fabs(value) < 0x1p-300 || std::fabs(value) > 0x1p300))
      continue;
    return code;
  }
}

void Mma::randomize(std::mt19937 &random, bool withSpecials) {
  static const unsigned ascending[] = {4, 8, 9, 12, 13, 14};
  static const unsigned different[] = {1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14};
  for (unsigned m = 0; m != d.m; ++m) {
    for (unsigned k = 0; k != d.getKeptK(); ++k)
      setA(m, k, drawElement(d.a, random, withSpecials));
    for (unsigned n = 0; n != 8; ++n)
      setC(m, n, drawElement(d.c, random, withSpecials));
    if (d.isSparse)
      for (unsigned chunk = 0; chunk != d.k / d.getChunk(); ++chunk)
        setMetadata(m, chunk,
                    d.a == "tf32"                  ? (random() % 2 ? 4 : 14)
                    : d.isOrdered || d.a[0] == 'e' ? ascending[random() % 6]
                                                   : different[random() % 12]);
  }
  for (unsigned k = 0; k != d.k; ++k)
    for (unsigned n = 0; n != 8; ++n)
      setB(k, n, drawElement(d.b, random, withSpecials));
  auto drawScale = [&] {
    uint8_t code = d.scale == "ue8m0" ? random() % 255 : random() % 127;
    // Half of the scales near 1: else few terms have bits in common.
    if (random() % 2)
      code = d.scale == "ue8m0" ? 124 + random() % 8 : 0x30 + random() % 16;
    return code;
  };
  for (unsigned block = 0; block != d.scaleVec; ++block) {
    for (unsigned m = 0; m != d.m; ++m)
      setScaleA(m, block, drawScale());
    for (unsigned n = 0; n != 8; ++n)
      setScaleB(n, block, drawScale());
  }
}

MmaOutcome Mma::run(unsigned hardware) {
  std::vector<const Lanes *> pointersA, pointersB, pointersC;
  std::vector<Lanes *> pointersD;
  for (Lanes &lanes : a)
    pointersA.push_back(&lanes);
  for (Lanes &lanes : b)
    pointersB.push_back(&lanes);
  for (Lanes &lanes : c)
    pointersC.push_back(&lanes);
  for (Lanes &lanes : result)
    pointersD.push_back(&lanes);
  MmaOperands operands = {pointersA, pointersB, pointersC, pointersD};
  if (d.isSparse) {
    operands.metadata = &metadata;
    operands.sparsitySelector = selector;
  }
  if (d.scaleVec) {
    operands.scaleA = &scaleA;
    operands.byteIdA = &byteA;
    operands.threadIdA = &threadA;
    operands.scaleB = &scaleB;
    operands.byteIdB = &byteB;
    operands.threadIdB = &threadB;
  }
  return executeMma(*form, operands,
                    hardware ? findAdderRule(MatrixUnit::Warp, hardware, *form)
                             : nullptr);
}

uint64_t Mma::getElement(const std::vector<Lanes> &operand, Position position,
                         unsigned bits) const {
  uint64_t word =
      operand[position.reg].value[position.lane] >> (bits * position.slot);
  return bits == 64 ? word : word & ((uint64_t(1) << bits) - 1);
}

uint64_t Mma::getD(unsigned m, unsigned n) const {
  return getElement(result, locateC(d, m, n), d.getAccumulatorBits());
}

float Mma::getFloat(unsigned m, unsigned n) const {
  return llvm::bit_cast<float>(static_cast<uint32_t>(getD(m, n)));
}

std::vector<uint64_t> Mma::getResults() const {
  std::vector<uint64_t> results;
  for (unsigned m = 0; m != d.m; ++m)
    for (unsigned n = 0; n != 8; ++n)
      results.push_back(getD(m, n));
  return results;
}

bool Mma::isUndefined(unsigned m, unsigned n) const {
  Position position = locateC(d, m, n);
  unsigned bytes = d.getAccumulatorBits() / 8;
  unsigned mask = ((1u << bytes) - 1) << (bytes * position.slot);
  unsigned undefined = result[position.reg].getUndefined(position.lane) & mask;
  EXPECT_TRUE(undefined == 0 || undefined == mask);
  return undefined;
}
