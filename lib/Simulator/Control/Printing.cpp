//===- Printing.cpp - printf ----------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions of a kernel's format are parsed here, and a new conversion that
// fits the argument is built from the parts, so that no text of a kernel
// reaches the printf of the host.
//
// Source: CUDA C++ Programming Guide, "Formatted Output".
//
//===----------------------------------------------------------------------===//

#include "Control/DriverFunctions.h"
#include "Machine/BlockGroup.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cstdio>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using llvm::StringRef;

/// Bytes of a format, and of a text that it prints.
static constexpr size_t kMostTextBytes = 1 << 16;
/// The largest width and precision.
static constexpr int64_t kMostWidth = 4096;

namespace {
/// `%-8.3lld`
struct Conversion {
  std::string flags;
  std::optional<int64_t> width, precision;
  /// h, hh, l, ll or nothing.
  StringRef size;
  char letter = 0;

  /// The conversion for the host's printf, with the host's length modifier
  /// `size`.
  std::string print(StringRef size, char letter) const {
    std::string text = "%" + flags;
    if (width)
      text += std::to_string(*width);
    if (precision)
      text += "." + std::to_string(*precision);
    return text + size.str() + letter;
  }
};

/// Prints one format for one lane. Its functions are false after a failure.
class Printer {
public:
  Printer(const DriverCall &call, StringRef format, uint64_t arguments)
      : call(call), rest(format), next(arguments) {}

  bool run();

  std::string output;
  int numArguments = 0;

private:
  bool fail(const llvm::Twine &text) {
    return call.warp.error(call.lane, text);
  }
  std::optional<uint64_t> readArgument(unsigned size);
  bool parseNumber(std::optional<int64_t> &number);
  bool parse(Conversion &conversion);
  bool printInteger(const Conversion &conversion, bool isSigned);
  bool printFloat(const Conversion &conversion);
  bool printPointer(Conversion conversion);
  bool printText(const Conversion &conversion);
  bool printConversion(const Conversion &conversion);

  /// `format` was made by Conversion::print for this type.
  template <typename T>
  bool append(const std::string &format, T value) {
    int size = std::snprintf(nullptr, 0, format.c_str(), value);
    std::string text(size + 1, 0);
    std::snprintf(text.data(), text.size(), format.c_str(), value);
    output.append(text, 0, size);
    return true;
  }

  const DriverCall &call;
  /// The rest of the format.
  StringRef rest;
  /// The address of the next argument.
  uint64_t next;
};
} // namespace

/// Arguments lie one behind the other, each at a multiple of its size.
std::optional<uint64_t> Printer::readArgument(unsigned size) {
  next = llvm::alignTo(next, size);
  std::optional<uint64_t> value = call.load(
      next, size, "value " + llvm::Twine(numArguments) + " that printf prints");
  next += size;
  ++numArguments;
  return value;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Digits, or `*` for an argument; nothing where there is neither.
bool Printer::parseNumber(std::optional<int64_t> &number) {
  if (rest.consume_front("*")) {
    std::optional<uint64_t> value = readArgument(sizeof(int32_t));
    if (!value)
      return false;
    number = static_cast<int32_t>(*value);
  } else if (!rest.empty() && llvm::isDigit(rest.front())) {
    StringRef digits = rest.take_while(llvm::isDigit);
    rest = rest.drop_front(digits.size());
    number = kMostWidth + 1;
    uint64_t value;
    if (!digits.getAsInteger(10, value) && value <= kMostWidth)
      number = value;
  }
  if (number && std::abs(*number) > kMostWidth)
    return fail("expected a width or precision of at most " +
                llvm::Twine(kMostWidth) + " in the format of printf");
  return true;
}

bool Printer::parse(Conversion &conversion) {
  StringRef flags =
      rest.take_while([](char c) { return StringRef("-+ #0").contains(c); });
  rest = rest.drop_front(flags.size());
  for (char flag : {'-', '+', ' ', '#', '0'})
    if (flags.contains(flag))
      conversion.flags += flag;
  if (!parseNumber(conversion.width))
    return false;
  if (conversion.width && *conversion.width < 0) {
    conversion.flags += '-';
    conversion.width = -*conversion.width;
  }
  if (rest.consume_front(".")) {
    conversion.precision = 0;
    if (!parseNumber(conversion.precision))
      return false;
    if (*conversion.precision < 0)
      conversion.precision.reset();
  }
  for (StringRef size : {"hh", "h", "ll", "l"})
    if (conversion.size.empty() && rest.consume_front(size))
      conversion.size = size;
  if (rest.empty())
    return fail("expected a conversion behind '%', got the end of the format "
                "of printf");
  conversion.letter = rest.front();
  rest = rest.drop_front();
  return true;
}

bool Printer::printInteger(const Conversion &conversion, bool isSigned) {
  bool isLong = conversion.size.starts_with("l");
  std::optional<uint64_t> value = readArgument(isLong ? 8 : 4);
  if (!value)
    return false;
  unsigned bits = llvm::StringSwitch<unsigned>(conversion.size)
                      .Case("hh", 8)
                      .Case("h", 16)
                      .Case("", 32)
                      .Default(64);
  std::string format = conversion.print("ll", conversion.letter);
  if (isSigned)
    return append(format,
                  static_cast<long long>(llvm::SignExtend64(*value, bits)));
  return append(format, static_cast<unsigned long long>(
                            *value & llvm::maskTrailingOnes<uint64_t>(bits)));
}

bool Printer::printFloat(const Conversion &conversion) {
  std::optional<uint64_t> value = readArgument(sizeof(double));
  return value && append(conversion.print("", conversion.letter),
                         llvm::bit_cast<double>(*value));
}

/// Printed as a string, so that flags and precision have no effect.
bool Printer::printPointer(Conversion conversion) {
  std::optional<uint64_t> value = readArgument(sizeof(uint64_t));
  if (!value)
    return false;
  bool isLeft = StringRef(conversion.flags).contains('-');
  conversion.flags = isLeft ? "-" : "";
  conversion.precision.reset();
  return append(conversion.print("", 's'), printHex(*value).c_str());
}

bool Printer::printText(const Conversion &conversion) {
  std::optional<uint64_t> address = readArgument(sizeof(uint64_t));
  if (!address)
    return false;
  std::optional<std::string> text = "(null)";
  // At most `precision` bytes are read: a string that long needs no zero at its
  // end.
  if (*address != 0)
    text =
        call.readText(*address, conversion.precision.value_or(kMostTextBytes));
  if (!text)
    return false;
  if (text->size() == kMostTextBytes)
    return fail("expected a text of less than " + llvm::Twine(kMostTextBytes) +
                " bytes for printf");
  return append(conversion.print("", 's'), text->c_str());
}

bool Printer::printConversion(const Conversion &conversion) {
  char letter = conversion.letter;
  if (StringRef("di").contains(letter))
    return printInteger(conversion, /*isSigned=*/true);
  if (StringRef("ouxX").contains(letter))
    return printInteger(conversion, /*isSigned=*/false);
  bool isKnown =
      conversion.size.empty() ||
      (StringRef("fFeEgGaA").contains(letter) && conversion.size == "l");
  if (isKnown && StringRef("fFeEgGaA").contains(letter))
    return printFloat(conversion);
  if (isKnown && letter == 's')
    return printText(conversion);
  if (isKnown && letter == 'p')
    return printPointer(conversion);
  if (isKnown && letter == 'c') {
    std::optional<uint64_t> value = readArgument(sizeof(int32_t));
    return value && append(conversion.print("", 'c'), static_cast<int>(*value));
  }
  return fail("not supported in this version: conversion " +
              quoteForMessage("%" + conversion.size.str() + letter) +
              " of printf");
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

bool Printer::run() {
  while (!rest.empty()) {
    size_t literal = std::min(rest.find('%'), rest.size());
    output += rest.take_front(literal).str();
    rest = rest.drop_front(literal);
    if (!rest.consume_front("%"))
      break;
    if (rest.consume_front("%")) {
      output += '%';
      continue;
    }
    Conversion conversion;
    if (!parse(conversion) || !printConversion(conversion))
      return false;
    output.resize(std::min(output.size(), kMaxOutputBytes + 1));
  }
  return true;
}

std::optional<int> sim::print(const DriverCall &call, uint64_t format,
                              uint64_t arguments) {
  // As in CUDA.
  if (format == 0)
    return -1;
  std::optional<std::string> text = call.readText(format, kMostTextBytes);
  if (!text)
    return std::nullopt;
  if (text->size() == kMostTextBytes)
    return call.warp.error(call.lane, "expected a format of less than " +
                                          llvm::Twine(kMostTextBytes) +
                                          " bytes for printf");
  Printer printer(call, *text, arguments);
  if (!printer.run())
    return std::nullopt;
  std::string &output = call.warp.block.group.output;
  output.append(printer.output, 0, kMaxOutputBytes + 1 - output.size());
  return printer.numArguments;
}
