// One warp multiplies a tile of 16 x 8 (or 8 x 8) with mma.sync, for every type:
//
//   d = a x b + c,  a: M x K, b: N x K, c and d: M x N, all row-major
//
// A row of `a` or `b` has `words` words of 32 bits, whatever its elements are.
// Grid: (N / 8, M / 16), block: 32 threads.
//
// Source: PTX ISA, section 9.7.14.5.

#include <cstdint>

// A fragment of 8 words along K has four registers of A and two of B.
#define MMA_FULL(NAME, TYPES, ACC, CONSTRAINT)                                 \
  struct NAME {                                                                \
    using Acc = ACC;                                                           \
    static constexpr int kWords = 8;                                           \
    static __device__ void mma(ACC (&d)[4], const uint32_t (&a)[4],            \
                               const uint32_t (&b)[2]) {                       \
      asm volatile("mma.sync.aligned." TYPES                                   \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "           \
                   "{%0, %1, %2, %3};"                                         \
                   : "+" CONSTRAINT(d[0]), "+" CONSTRAINT(d[1]),               \
                     "+" CONSTRAINT(d[2]), "+" CONSTRAINT(d[3])                \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),    \
                     "r"(b[1]));                                               \
    }                                                                          \
  };

// One of 4 words has two registers of A and one of B.
#define MMA_HALF(NAME, TYPES, ACC, CONSTRAINT)                                 \
  struct NAME {                                                                \
    using Acc = ACC;                                                           \
    static constexpr int kWords = 4;                                           \
    static __device__ void mma(ACC (&d)[4], const uint32_t (&a)[4],            \
                               const uint32_t (&b)[2]) {                       \
      asm volatile("mma.sync.aligned." TYPES                                   \
                   " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"      \
                   : "+" CONSTRAINT(d[0]), "+" CONSTRAINT(d[1]),               \
                     "+" CONSTRAINT(d[2]), "+" CONSTRAINT(d[3])                \
                   : "r"(a[0]), "r"(a[1]), "r"(b[0]));                         \
    }                                                                          \
  };

template <typename Op>
static __device__ void gemm(const uint32_t *a, const uint32_t *b,
                            const typename Op::Acc *c, typename Op::Acc *d,
                            int words) {
  int lane = threadIdx.x, group = lane / 4, thread = lane % 4;
  int n = 8 * gridDim.x;
  int row = 16 * blockIdx.y + group, column = 8 * blockIdx.x + 2 * thread;
  typename Op::Acc acc[4];
  for (int i = 0; i != 4; ++i)
    acc[i] = c[(row + i / 2 * 8) * n + column + i % 2];
  const uint32_t *a0 = a + row * words, *a8 = a0 + 8 * words;
  const uint32_t *b0 = b + (8 * blockIdx.x + group) * words;
#pragma unroll 1
  for (int k = thread; k < words; k += Op::kWords) {
    uint32_t fragmentA[4] = {a0[k], a8[k]}, fragmentB[2] = {b0[k]};
    if (Op::kWords == 8) {
      fragmentA[2] = a0[k + 4];
      fragmentA[3] = a8[k + 4];
      fragmentB[1] = b0[k + 4];
    }
    Op::mma(acc, fragmentA, fragmentB);
  }
  for (int i = 0; i != 4; ++i)
    d[(row + i / 2 * 8) * n + column + i % 2] = acc[i];
}

#define KERNEL(NAME, OP)                                                       \
  extern "C" __global__ void NAME(const uint32_t *a, const uint32_t *b,        \
                                  const OP::Acc *c, OP::Acc *d, int words) {   \
    gemm<OP>(a, b, c, d, words);                                               \
  }
#define FULL(NAME, TYPES, ACC, CONSTRAINT)                                     \
  MMA_FULL(Op_##NAME, TYPES, ACC, CONSTRAINT) KERNEL(NAME, Op_##NAME)
#define HALF(NAME, TYPES, ACC, CONSTRAINT)                                     \
  MMA_HALF(Op_##NAME, TYPES, ACC, CONSTRAINT) KERNEL(NAME, Op_##NAME)

FULL(f16_k16, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")
HALF(f16_k8, "m16n8k8.row.col.f32.f16.f16.f32", float, "f")
FULL(bf16_k16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
HALF(bf16_k8, "m16n8k8.row.col.f32.bf16.bf16.f32", float, "f")
FULL(tf32_k8, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
HALF(tf32_k4, "m16n8k4.row.col.f32.tf32.tf32.f32", float, "f")
FULL(e4m3_k32, "m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f")
FULL(e5m2_e4m3_k32, "m16n8k32.row.col.f32.e5m2.e4m3.f32", float, "f")
FULL(e4m3_e5m2_k32, "m16n8k32.row.col.f32.e4m3.e5m2.f32", float, "f")
FULL(e5m2_k32, "m16n8k32.row.col.f32.e5m2.e5m2.f32", float, "f")
FULL(s8_k32, "m16n8k32.row.col.s32.s8.s8.s32", int, "r")
HALF(s8_k16, "m16n8k16.row.col.s32.s8.s8.s32", int, "r")
FULL(u8_k32, "m16n8k32.row.col.s32.u8.u8.s32", int, "r")
FULL(s8_u8_k32, "m16n8k32.row.col.s32.s8.u8.s32", int, "r")
FULL(s8_satfinite_k32, "m16n8k32.row.col.satfinite.s32.s8.s8.s32", int, "r")
FULL(s4_k64, "m16n8k64.row.col.s32.s4.s4.s32", int, "r")
HALF(s4_k32, "m16n8k32.row.col.s32.s4.s4.s32", int, "r")
FULL(u4_k64, "m16n8k64.row.col.s32.u4.u4.s32", int, "r")
FULL(u4_s4_k64, "m16n8k64.row.col.s32.u4.s4.s32", int, "r")

// Accumulators in f16: two of them in a register.
template <int kWords>
static __device__ void gemmHalf(const uint32_t *a, const uint32_t *b,
                                const uint32_t *c, uint32_t *d, int words) {
  int lane = threadIdx.x, group = lane / 4, thread = lane % 4;
  int n = 8 * gridDim.x;
  int row = 16 * blockIdx.y + group;
  int pair = (row * n + 8 * blockIdx.x) / 2 + thread;
  uint32_t acc0 = c[pair], acc1 = c[pair + 4 * n];
  const uint32_t *a0 = a + row * words, *a8 = a0 + 8 * words;
  const uint32_t *b0 = b + (8 * blockIdx.x + group) * words;
#pragma unroll 1
  for (int k = thread; k < words; k += kWords) {
    if constexpr (kWords == 8)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
                   "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                   : "+r"(acc0), "+r"(acc1)
                   : "r"(a0[k]), "r"(a8[k]), "r"(a0[k + 4]), "r"(a8[k + 4]),
                     "r"(b0[k]), "r"(b0[k + 4]));
    else
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 "
                   "{%0, %1}, {%2, %3}, {%4}, {%0, %1};"
                   : "+r"(acc0), "+r"(acc1)
                   : "r"(a0[k]), "r"(a8[k]), "r"(b0[k]));
  }
  d[pair] = acc0;
  d[pair + 4 * n] = acc1;
}

extern "C" __global__ void f16_f16_k16(const uint32_t *a, const uint32_t *b,
                                       const uint32_t *c, uint32_t *d,
                                       int words) {
  gemmHalf<8>(a, b, c, d, words);
}
extern "C" __global__ void f16_f16_k8(const uint32_t *a, const uint32_t *b,
                                      const uint32_t *c, uint32_t *d,
                                      int words) {
  gemmHalf<4>(a, b, c, d, words);
}

// Tiles of 8 x 8.
template <bool isWide>
static __device__ void gemmSmall(const uint32_t *a, const uint32_t *b,
                                 const int *c, int *d, int words) {
  int lane = threadIdx.x, group = lane / 4, thread = lane % 4;
  int n = 8 * gridDim.x;
  int at = (8 * blockIdx.y + group) * n + 8 * blockIdx.x + 2 * thread;
  int acc0 = c[at], acc1 = c[at + 1];
  const uint32_t *a0 = a + (8 * blockIdx.y + group) * words;
  const uint32_t *b0 = b + (8 * blockIdx.x + group) * words;
#pragma unroll 1
  for (int k = thread; k < words; k += 4) {
    if constexpr (isWide)
      asm volatile("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 "
                   "{%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+r"(acc0), "+r"(acc1)
                   : "r"(a0[k]), "r"(b0[k]));
    else
      asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 "
                   "{%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+r"(acc0), "+r"(acc1)
                   : "r"(a0[k]), "r"(b0[k]));
  }
  d[at] = acc0;
  d[at + 1] = acc1;
}

extern "C" __global__ void s8_m8n8k16(const uint32_t *a, const uint32_t *b,
                                      const int *c, int *d, int words) {
  gemmSmall<false>(a, b, c, d, words);
}
extern "C" __global__ void s4_m8n8k32(const uint32_t *a, const uint32_t *b,
                                      const int *c, int *d, int words) {
  gemmSmall<true>(a, b, c, d, words);
}

// `words` counts elements here.
extern "C" __global__ void f64_m8n8k4(const double *a, const double *b,
                                      const double *c, double *d, int words) {
  int lane = threadIdx.x, group = lane / 4, thread = lane % 4;
  int n = 8 * gridDim.x;
  int at = (8 * blockIdx.y + group) * n + 8 * blockIdx.x + 2 * thread;
  double acc0 = c[at], acc1 = c[at + 1];
#pragma unroll 1
  for (int k = thread; k < words; k += 4)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                 "{%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(acc0), "+d"(acc1)
                 : "d"(a[(8 * blockIdx.y + group) * words + k]),
                   "d"(b[(8 * blockIdx.x + group) * words + k]));
  d[at] = acc0;
  d[at + 1] = acc1;
}
