//===- Checking.h - Numbers, buffers and comparisons ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the programs of this folder share: random numbers, buffers on the card,
// and comparison with what the host computes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_BENCHMARKS_CUB_CHECKING_H
#define BLOCKSCALE_BENCHMARKS_CUB_CHECKING_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <random>
#include <vector>

/// Ends the program if a call of the runtime failed.
inline void check(cudaError_t status) {
  if (status == cudaSuccess)
    return;
  std::printf("error: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

/// Whole numbers from `low` to `high`, so that sums of floats are exact.
template <typename T>
std::vector<T> draw(size_t count, int low, int high, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> numbers(low, high);
  std::vector<T> values(count);
  for (T &value : values)
    value = static_cast<T>(numbers(engine));
  return values;
}

/// Memory on the card; given back by nobody, as the programs are short.
template <typename T>
class Buffer {
public:
  explicit Buffer(size_t count) : count(count) {
    check(cudaMalloc(&data, count * sizeof(T)));
  }
  explicit Buffer(const std::vector<T> &values) : Buffer(values.size()) {
    check(cudaMemcpy(data, values.data(), count * sizeof(T),
                     cudaMemcpyHostToDevice));
  }

  T *get() const { return data; }

  std::vector<T> read() const {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), data, count * sizeof(T),
                     cudaMemcpyDeviceToHost));
    return values;
  }

private:
  size_t count;
  T *data = nullptr;
};

/// Calls a function of CUB twice, as is its way: how much memory it needs, then
/// with that.
template <typename Call>
void withStorage(const Call &call) {
  size_t bytes = 0;
  check(call(nullptr, bytes));
  Buffer<char> storage(bytes ? bytes : 1);
  check(call(storage.get(), bytes));
  check(cudaDeviceSynchronize());
}

/// Ends the program at the first difference.
template <typename T>
void expectEqual(const char *what, const std::vector<T> &got,
                 const std::vector<T> &expected) {
  for (size_t i = 0; i != expected.size(); ++i) {
    if (got[i] == expected[i])
      continue;
    std::printf("%s: element %zu: expected %g, got %g\n", what, i,
                double(expected[i]), double(got[i]));
    std::exit(1);
  }
  std::printf("%s: %zu elements are right\n", what, expected.size());
}

#endif // BLOCKSCALE_BENCHMARKS_CUB_CHECKING_H
