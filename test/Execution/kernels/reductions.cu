// Warps that work together: shuffles, votes, matches, reductions, barriers that
// count, atomics.

#include <cstdint>

static __device__ float sumOfWarp(float x) {
  for (int offset = 16; offset; offset /= 2)
    x += __shfl_down_sync(~0u, x, offset);
  return x;
}

// The sum of each block of 256 values.
extern "C" __global__ void block_sum(const float *in, float *out) {
  __shared__ float partial[8];
  float x = sumOfWarp(in[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x < 32) {
    x = sumOfWarp(threadIdx.x < 8 ? partial[threadIdx.x] : 0);
    if (threadIdx.x == 0)
      out[blockIdx.x] = x;
  }
}

// Inclusive prefix sums of warps.
extern "C" __global__ void scan(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
  for (int offset = 1; offset < 32; offset *= 2) {
    int other = __shfl_up_sync(~0u, x, offset);
    if (threadIdx.x % 32 >= offset)
      x += other;
  }
  out[i] = x;
}

// Twelve words a thread.
extern "C" __global__ void collectives(const int *in, unsigned *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
  unsigned *to = out + 12 * i;
  to[0] = __ballot_sync(~0u, x & 1);
  to[1] = __any_sync(~0u, x == 3);
  to[2] = __all_sync(~0u, x >= 0);
  to[3] = __match_any_sync(~0u, x & 7);
  int isSame;
  to[4] = __match_all_sync(~0u, x >> 8, &isSame) + isSame;
  to[5] = __reduce_add_sync(~0u, x);
  to[6] = __reduce_min_sync(~0u, x);
  to[7] = __reduce_max_sync(~0u, (unsigned)x);
  to[8] = __reduce_xor_sync(~0u, (unsigned)x);
  to[9] = __shfl_xor_sync(~0u, x, 5);
  to[10] = __shfl_sync(~0u, x, x & 31, 16);
  // Half of each warp on its own.
  unsigned half = threadIdx.x % 32 < 16 ? 0xFFFFu : 0xFFFF0000u;
  if (threadIdx.x % 32 < 16)
    to[11] = __ballot_sync(half, x & 2);
  else
    to[11] = __reduce_or_sync(half, (unsigned)x & 0xF0);
}

extern "C" __global__ void counts(const int *in, int *out) {
  int x = in[threadIdx.x];
  int odd = __syncthreads_count(x & 1);
  int all = __syncthreads_and(x >= 0);
  int any = __syncthreads_or(x == 12345);
  out[threadIdx.x] = odd * 4 + all * 2 + any;
}

// Histograms in shared memory, added up in global memory.
extern "C" __global__ void histogram(const int *in, unsigned *out, int n) {
  __shared__ unsigned bins[16];
  if (threadIdx.x < 16)
    bins[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[in[i] & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16)
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
  if (i < n) {
    atomicMax((int *)&out[16], in[i]);
    atomicMin((int *)&out[17], in[i]);
    atomicXor(&out[18], (unsigned)in[i]);
    atomicInc(&out[19], 1000u);
    atomicCAS(&out[20], 0u, 77u);
    atomicAdd((float *)&out[21], 0.5f);
    atomicAdd((unsigned long long *)&out[22], 1ull << 33);
  }
}
