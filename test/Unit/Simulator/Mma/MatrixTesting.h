//===- MatrixTesting.h - Warps for tests of matrix instructions -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix instruction with its registers, and an exact reference. Nothing here
// uses the tables of the simulator: layouts, formats and rounding are
// implemented a second time from the PTX ISA.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_SIMULATOR_MMA_MATRIXTESTING_H
#define BLOCKSCALE_TEST_UNIT_SIMULATOR_MMA_MATRIXTESTING_H

#include "Mma/AdderRules.h"
#include "Mma/MmaSync.h"

#include "llvm/ADT/APInt.h"

#include <initializer_list>
#include <random>
#include <vector>

namespace mlir::blockscale::sim::mmatest {

/// The modifiers of an instruction: "sync.aligned.m16n8k32...".
std::vector<llvm::StringRef> splitModifiers(llvm::StringRef text);

/// The message of a look-up, "no error" if it succeeds.
std::string getLookupMessage(llvm::StringRef text);

/// The properties of a legal instruction, from its modifiers.
struct Description {
  unsigned m, k;
  std::string a, b, c, scale;
  /// 0 without scales.
  unsigned scaleVec = 0;
  bool isSparse = false, isOrdered = false, isSatfinite = false;
  /// Bits of a slot of A and B.
  unsigned slotBits;

  unsigned getKeptK() const { return isSparse ? k / 2 : k; }
  unsigned getAccumulatorBits() const {
    return c == "f16" ? 16 : c == "f64" ? 64 : 32;
  }
  /// Logical elements of a chunk of A, of which half are kept.
  unsigned getChunk() const {
    return slotBits == 32 ? 2 : slotBits == 4 ? 8 : 4;
  }
};

Description describe(llvm::StringRef text);

/// The value of an element or accumulator of this type.
double decodeElement(const std::string &type, uint64_t code);

/// Bits of an element, without its container.
unsigned getElementBits(const std::string &type);

/// The lowest bit of an element in its slot.
unsigned getShift(const std::string &type, unsigned slotBits);

/// All legal instructions, as the PTX ISA lists them. Satfinite ones too.
std::vector<std::string> listInstructions();

/// The position of an element in the registers.
struct Position {
  unsigned lane, reg, slot;
};

/// PTX ISA 9.7.14.5: the formulas solved for the position.
Position locateA(const Description &d, unsigned m, unsigned keptK);
Position locateB(const Description &d, unsigned k, unsigned n);
Position locateC(const Description &d, unsigned m, unsigned n);

/// The position of the 4-bit field of a chunk of a row (PTX ISA 9.7.14.6,
/// figures 119 to 147); the slot counts fields.
Position locateMetadata(const Description &d, unsigned m, unsigned chunk,
                        unsigned selector);

class Mma {
public:
  explicit Mma(llvm::StringRef text);

  void setA(unsigned m, unsigned keptK, uint64_t code);
  void setB(unsigned k, unsigned n, uint64_t code);
  void setC(unsigned m, unsigned n, uint64_t bits);
  void setMetadata(unsigned m, unsigned chunk, unsigned field);
  /// Sets the byte of a scale that the selectors name.
  void setScaleA(unsigned m, unsigned block, uint8_t code);
  void setScaleB(unsigned n, unsigned block, uint8_t code);
  void setSelectors(unsigned byteA, unsigned threadA, unsigned byteB,
                    unsigned threadB);
  /// All elements, scales, accumulators, metadata.
  void randomize(std::mt19937 &random, bool withSpecials);

  /// With exact sums, or as the adder of a target (90).
  MmaOutcome run(unsigned hardware = 0);
  /// Bits of an element of D.
  uint64_t getD(unsigned m, unsigned n) const;
  bool isUndefined(unsigned m, unsigned n) const;
  float getFloat(unsigned m, unsigned n) const;
  /// All elements of D, row by row.
  std::vector<uint64_t> getResults() const;

  /// The factors of the products of an element of D, in the order of k; scales
  /// are 1 where there are none.
  struct Factors {
    double x, y, scaleA, scaleB;
  };
  std::vector<Factors> getFactors(unsigned m, unsigned n) const;
  double getC(unsigned m, unsigned n) const;

  /// The expected element of D.
  uint64_t getExpected(unsigned m, unsigned n) const;

  std::string text;
  Description d;
  const MmaForm *form;
  MmaRegisters registers;
  std::vector<Lanes> a, b, c, result;
  Lanes metadata, scaleA, scaleB, byteA, byteB, threadA, threadB;
  unsigned selector = 0;

private:
  uint64_t getElement(const std::vector<Lanes> &operand, Position position,
                      unsigned bits) const;
  unsigned getPosition(unsigned m, unsigned keptK) const;
};

/// An exact value: a multiple of 2^-1100, below 2^1100.
class Rational {
public:
  Rational() : units(kBits, 0) {}
  explicit Rational(double value) : Rational({value, 1}) {}
  /// The product of up to four factors.
  Rational(std::initializer_list<double> factors);
  Rational &operator+=(const Rational &other) {
    units += other.units;
    return *this;
  }
  /// To the nearest value of "f16", "f32" or "f64"; ties to even bits.
  uint64_t round(const std::string &type) const;

private:
  static constexpr unsigned kBits = 2240, kOne = 1100;
  llvm::APInt units;
};

uint64_t getNaN(const std::string &type);

} // namespace mlir::blockscale::sim::mmatest

#endif // BLOCKSCALE_TEST_UNIT_SIMULATOR_MMA_MATRIXTESTING_H
