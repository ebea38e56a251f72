// Asynchronous copies: a GEMM of f16 that copies its next tiles with cp.async
// while it multiplies, and one whose producer warp fills tiles with bulk copies
// that mbarrier objects announce.
//
//   d = a x b^T,  a: M x K, b: N x K of f16, d: M x N of f32, row-major
//
// A block makes a tile of 32 x 32 with 4 warps of 16 x 16; K is a multiple of 32.

#include <cstdint>

static constexpr int kTile = 32, kStages = 2;

static __device__ uint32_t toShared(const void *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

static __device__ void copy16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(toShared(to)),
               "l"(from));
}

// A tile of 32 x 32 f16; chunks of 8 are swizzled so that ldmatrix has no
// conflicts: the chunk of column c in row r is at c ^ (r / 2) % 4.
struct Tile {
  uint4 chunks[kTile][4];
  __device__ uint4 *at(int row, int chunk) {
    return &chunks[row][chunk ^ (row / 2 % 4)];
  }
};

static __device__ void multiply(Tile &a, Tile &b, float (&acc)[2][4]) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  int row = warp / 2 * 16, column = warp % 2 * 16;
  for (int k = 0; k != 2; ++k) {
    uint32_t fa[4], fb[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
                 "[%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(toShared(a.at(row + lane % 16, 2 * k + lane / 16))));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
                 "[%4];"
                 : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3])
                 : "r"(toShared(b.at(column + lane % 8 + lane / 16 * 8,
                                     2 * k + lane / 8 % 2))));
    for (int j = 0; j != 2; ++j)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
          : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * j]),
            "r"(fb[2 * j + 1]));
  }
}

static __device__ void store(float *d, int n, const float (&acc)[2][4]) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  int row = blockIdx.y * kTile + warp / 2 * 16 + lane / 4;
  int column = blockIdx.x * kTile + warp % 2 * 16 + lane % 4 * 2;
  for (int j = 0; j != 2; ++j)
    for (int i = 0; i != 4; ++i)
      d[(row + i / 2 * 8) * n + column + j * 8 + i % 2] = acc[j][i];
}

extern "C" __global__ void __launch_bounds__(128)
    double_buffered(const uint16_t *a, const uint16_t *b, float *d, int n,
                    int k) {
  __shared__ Tile tilesA[kStages], tilesB[kStages];
  int row = threadIdx.x / 4, chunk = threadIdx.x % 4;
  const uint16_t *fromA = a + (blockIdx.y * kTile + row) * k + chunk * 8;
  const uint16_t *fromB = b + (blockIdx.x * kTile + row) * k + chunk * 8;
  auto load = [&](int step) {
    copy16(tilesA[step % kStages].at(row, chunk), fromA + step * kTile);
    copy16(tilesB[step % kStages].at(row, chunk), fromB + step * kTile);
    asm volatile("cp.async.commit_group;");
  };
  float acc[2][4] = {};
  int steps = k / kTile;
  load(0);
#pragma unroll 1
  for (int step = 0; step != steps; ++step) {
    if (step + 1 != steps) {
      load(step + 1);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    multiply(tilesA[step % kStages], tilesB[step % kStages], acc);
    __syncthreads();
  }
  store(d, n, acc);
}

static __device__ void initialize(uint64_t *barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(
                   toShared(barrier)),
               "r"(count));
}

static __device__ void waitFor(uint64_t *barrier, int parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}" ::"r"(toShared(barrier)),
               "r"(parity)
               : "memory");
}

// Five warps: the last one fills, the others multiply. Rows are copied one by
// one, each 64 bytes, without a swizzle.
extern "C" __global__ void __launch_bounds__(160)
    producer_consumer(const uint16_t *a, const uint16_t *b, float *d, int n,
                      int k) {
  struct Stage {
    uint16_t a[kTile][kTile], b[kTile][kTile];
  };
  __shared__ __align__(128) Stage stages[kStages];
  __shared__ uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int i = 0; i != kStages; ++i) {
      initialize(&full[i], 1);
      initialize(&empty[i], 128);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  int steps = k / kTile;
  if (threadIdx.x >= 128) {
    int lane = threadIdx.x % 32;
  #pragma unroll 1
  for (int step = 0; step != steps; ++step) {
      int i = step % kStages;
      if (step >= kStages)
        waitFor(&empty[i], (step / kStages - 1) % 2);
      if (lane == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::
                         "r"(toShared(&full[i])),
                     "r"(2 * kTile * kTile * 2)
                     : "memory");
      __syncwarp();
      const uint16_t *fromA = a + (blockIdx.y * kTile + lane) * k;
      const uint16_t *fromB = b + (blockIdx.x * kTile + lane) * k;
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx"
                   "::bytes [%0], [%1], 64, [%2];" ::"r"(
                       toShared(stages[i].a[lane])),
                   "l"(fromA + step * kTile), "r"(toShared(&full[i]))
                   : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx"
                   "::bytes [%0], [%1], 64, [%2];" ::"r"(
                       toShared(stages[i].b[lane])),
                   "l"(fromB + step * kTile), "r"(toShared(&full[i]))
                   : "memory");
    }
    return;
  }
  float acc[4][2] = {};
  int row = threadIdx.x / 4, column = threadIdx.x % 4 * 8;
#pragma unroll 1
  for (int step = 0; step != steps; ++step) {
    int i = step % kStages;
    waitFor(&full[i], step / kStages % 2);
#pragma unroll
    for (int j = 0; j != 8; ++j) {
      float sum = 0;
#pragma unroll 2
      for (int e = 0; e != kTile; ++e) {
        float x, y;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(stages[i].a[row][e]));
        asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(stages[i].b[column + j][e]));
        sum += x * y;
      }
      acc[j / 2][j % 2] += sum;
    }
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(
                     toShared(&empty[i]))
                 : "memory");
  }
  for (int j = 0; j != 8; ++j)
    d[(blockIdx.y * kTile + row) * n + blockIdx.x * kTile + column + j] =
        acc[j / 2][j % 2];
}

// Each block adds 1 to its 256 words: in by a bulk copy, out by another.
extern "C" __global__ void bulk_round_trip(int *data) {
  __shared__ __align__(128) int buffer[256];
  __shared__ uint64_t full;
  int *mine = data + 256 * blockIdx.x;
  if (threadIdx.x == 0) {
    initialize(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(
        toShared(&full)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx"
                 "::bytes [%0], [%1], 1024, [%2];" ::"r"(toShared(buffer)),
                 "l"(mine), "r"(toShared(&full))
                 : "memory");
  }
  __syncthreads();
  waitFor(&full, 0);
  buffer[threadIdx.x] += 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], "
                 "1024;" ::"l"(mine), "r"(toShared(buffer))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
