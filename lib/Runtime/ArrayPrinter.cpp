//===- ArrayPrinter.cpp - Arrays as text ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results are compared by eye and by tests with what Python prints, so nested
// lists look exactly like Python's.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/ArrayPrinter.h"
#include "NumberPrinter.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;

namespace {

/// Elements that are printed before an array is summarized.
constexpr int64_t summaryThreshold = 1000;
/// Elements that a summary keeps at each end of an axis.
constexpr int64_t summaryEdge = 3;

class ArrayPrinter {
public:
  ArrayPrinter(const NpyArray &array, ElementPrinter appendElement)
      : array(array), appendElement(appendElement),
        summarize(countItems() > summaryThreshold) {}

  std::string print();

private:
  int64_t countItems() const;
  void printAxis(size_t axis, int64_t firstElement, int64_t numElements);

  const NpyArray &array;
  ElementPrinter appendElement;
  bool summarize;
  std::string text;
};

} // namespace

/// The elements, or the innermost pairs of brackets in an array that has none.
/// Counts no further than it must, since brackets cost no data and there can be
/// more of them than any integer holds.
int64_t ArrayPrinter::countItems() const {
  int64_t count = 1;
  for (int64_t dimension : array.shape) {
    if (dimension == 0 || count > summaryThreshold)
      return count;
    count *= std::min(dimension, summaryThreshold + 1);
  }
  return count;
}

std::string ArrayPrinter::print() {
  if (summarize && array.data.empty())
    return "[]";
  printAxis(0, 0, array.numElements());
  return std::move(text);
}

/// Prints the part of the array that has `axis` as its outermost axis.
void ArrayPrinter::printAxis(size_t axis, int64_t firstElement,
                             int64_t numElements) {
  if (axis == array.shape.size()) {
    appendElement(array.data.data() + firstElement * array.elementSize(), text);
    return;
  }
  int64_t size = array.shape[axis];
  int64_t stride = size == 0 ? 0 : numElements / size;
  bool cut = summarize && size > 2 * summaryEdge;
  text += '[';
  for (int64_t i = 0; i < size; ++i) {
    text += i == 0 ? "" : ", ";
    if (cut && i == summaryEdge) {
      text += "..., ";
      i = size - summaryEdge;
    }
    printAxis(axis + 1, firstElement + i * stride, stride);
  }
  text += ']';
}

std::string blockscale::printArray(const NpyArray &array, Elements elements) {
  ElementPrinter appendElement = elements == Elements::BFloat16
                                     ? getBFloat16Printer()
                                     : getElementPrinter(array.dtype);
  return ArrayPrinter(array, appendElement).print();
}
