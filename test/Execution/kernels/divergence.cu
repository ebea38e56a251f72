// Threads that part and meet again: loops of different lengths, switches, early
// returns, calls, recursion, arrays in local memory.

#include <cstdint>

extern "C" __global__ void collatz(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int steps = 0;
  for (long long x = in[i]; x != 1; x = x % 2 ? 3 * x + 1 : x / 2) {
    if (++steps == 200)
      break;
  }
  out[i] = steps;
}

static __device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void calls(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = fibonacci(in[i] % 12);
}

extern "C" __global__ void switches(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], result;
  switch (x & 15) {
  case 0:
    result = x * 3;
    break;
  case 1:
    result = x ^ 0x55;
    break;
  case 2:
    result = x >> 2;
    break;
  case 3:
  case 4:
    result = -x;
    break;
  case 5:
    if (x & 64) {
      out[i] = 7;
      return;
    }
    result = x / 7;
    break;
  case 6:
    result = __popc(x);
    break;
  case 7:
    result = __clz(x);
    break;
  default:
    result = x % 9;
    break;
  }
  out[i] = result;
}

// Insertion sort of 8 numbers in an array whose indices are not constant.
extern "C" __global__ void sorts(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, numbers[8];
  for (int j = 0; j != 8; ++j)
    numbers[j] = in[8 * i + j];
  for (int j = 1; j != 8; ++j) {
    int x = numbers[j], k = j;
    for (; k > 0 && numbers[k - 1] > x; --k)
      numbers[k] = numbers[k - 1];
    numbers[k] = x;
  }
  for (int j = 0; j != 8; ++j)
    out[8 * i + j] = numbers[j];
}

// A function pointer would be an indirect call; this one is a table of results.
__constant__ int kTable[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int counter = 5;

extern "C" __global__ void variables(const int *in, int *out) {
  int i = threadIdx.x;
  out[i] = kTable[in[i] & 7] + counter;
}
