//===- NpyFuzzer.cpp - Fuzzes the .npy reader -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libFuzzer target. Whatever the bytes are, they give an array or a message;
// an array comes back equal through a file of ours, and can be printed. Seeds
// are files that numpy wrote; build it together with lib/Runtime and
// -fsanitize=fuzzer,address,undefined.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/ArrayPrinter.h"
#include "blockscale/Runtime/Npy.h"

#include <cstdint>
#include <cstdlib>

using namespace mlir::blockscale;

static void check(bool condition) {
  if (!condition)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  Result<NpyArray> array =
      parseNpy(std::string_view(reinterpret_cast<const char *>(bytes), size));
  if (!array) {
    check(!array.message().empty());
    return 0;
  }
  Result<int64_t> expectedSize = computeByteSize(array->dtype, array->shape);
  check(bool(expectedSize));
  check(static_cast<uint64_t>(*expectedSize) == array->data.size());

  Result<NpyArray> again = parseNpy(serializeNpy(*array));
  check(bool(again));
  check(again->dtype == array->dtype);
  check(again->shape == array->shape);
  check(again->data == array->data);

  // The printer's work grows with the data, and summaries start at 1000
  // elements, so that larger arrays would show nothing more.
  constexpr int64_t maxPrintedElements = 4096;
  if (array->numElements() <= maxPrintedElements)
    check(!printArray(*array).empty());
  return 0;
}
