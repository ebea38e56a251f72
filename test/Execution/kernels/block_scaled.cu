// GEMM kernels on block-scaled mma.sync, written by hand as CUDA programs have
// them: tiles of 64 x 64 by 4 warps, two stages filled with cp.async, swizzled
// shared memory, ldmatrix, and words of four scales that the selectors walk
// through.
//
//   d = c + (a * scaleA) x (b * scaleB)^T
//
// a: M x K, b: N x K, a row has `bytes` bytes (containers of 8 bits, or fp4 in
// pairs), a multiple of 128; scaleA: M x S, scaleB: N x S bytes, S a multiple of
// 4; c, d: M x N of f32. All row-major; M and N are multiples of 64. Grid:
// (N / 64, M / 64), block: 128 threads.
//
// Source: PTX ISA, sections 9.7.14.3 and 9.7.14.5.

#include <cstdint>

static constexpr int kTile = 64, kBytes = 128, kSteps = kBytes / 32,
                     kStages = 2;

static __device__ uint32_t toShared(const void *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// Chunk c of 16 bytes in row r is at c ^ r % 8.
struct Tile {
  uint4 chunks[kTile][kBytes / 16];
  __device__ uint4 *at(int row, int chunk) {
    return &chunks[row][chunk ^ row % 8];
  }
};

static __device__ void fill(Tile &tile, const uint8_t *from, int bytes) {
  for (int i = threadIdx.x; i < kTile * kBytes / 16; i += 128) {
    int row = i / (kBytes / 16), chunk = i % (kBytes / 16);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     toShared(tile.at(row, chunk))),
                 "l"(from + row * bytes + chunk * 16));
  }
}

// The A fragment of a 16 x 32-byte tile, or the B fragments of two of 8 x 32.
static __device__ void load(uint32_t (&to)[4], const void *from) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
      : "r"(toShared(from)));
}

#define MMA(NAME, VECTOR, TEXT)                                                \
  struct NAME {                                                                \
    static constexpr int kVector = VECTOR;                                     \
    static __device__ void mma(float (&d)[4], const uint32_t (&a)[4],          \
                               uint32_t b0, uint32_t b1, uint32_t scaleA,      \
                               uint16_t byte, uint16_t threadA,                \
                               uint32_t scaleB, uint16_t threadB) {            \
      asm volatile("mma.sync.aligned." TEXT                                    \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "           \
                   "{%0, %1, %2, %3}, {%10}, {%11, %12}, {%13}, "              \
                   "{%11, %14};"                                               \
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])            \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),      \
                     "r"(b1), "r"(scaleA), "h"(byte), "h"(threadA),            \
                     "r"(scaleB), "h"(threadB));                               \
    }                                                                          \
  };

MMA(Mxf8, 1,
    "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X"
    ".f32.e4m3.e4m3.f32.ue8m0")
MMA(Mxf4, 2,
    "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X"
    ".f32.e2m1.e2m1.f32.ue8m0")
MMA(Nvf4, 4,
    "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
    ".f32.e2m1.e2m1.f32.ue4m3")

// A warp makes 32 x 32: 2 tiles of A, 4 of B. One register of scales has those
// of all of them: thread-id picks the tile, byte-id the block.
template <typename Op>
static __device__ void multiply(Tile &a, Tile &b,
                                const uint32_t (&scalesA)[Op::kVector],
                                const uint32_t (&scalesB)[Op::kVector],
                                float (&acc)[2][4][4]) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row = warp / 2 * 32, column = warp % 2 * 32;
#pragma unroll
  for (int step = 0; step != kSteps; ++step) {
    uint32_t fragmentsA[2][4], fragmentsB[2][4];
    for (int i = 0; i != 2; ++i) {
      load(fragmentsA[i],
           a.at(row + 16 * i + lane % 16, 2 * step + lane / 16));
      load(fragmentsB[i], b.at(column + 16 * i + lane % 8 + lane / 16 * 8,
                               2 * step + lane / 8 % 2));
    }
    constexpr int perWord = 4 / Op::kVector;
    int byte = step % perWord * Op::kVector;
    for (int i = 0; i != 2; ++i)
      for (int j = 0; j != 4; ++j)
        Op::mma(acc[i][j], fragmentsA[i], fragmentsB[j / 2][j % 2 * 2],
                fragmentsB[j / 2][j % 2 * 2 + 1], scalesA[step / perWord], byte,
                i, scalesB[step / perWord], j);
  }
}

template <typename Op>
static __device__ void gemm(const uint8_t *a, const uint8_t *b,
                            const uint8_t *scaleA, const uint8_t *scaleB,
                            const float *c, float *d, int bytes) {
  __shared__ Tile tilesA[kStages], tilesB[kStages];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int m0 = kTile * blockIdx.y, n0 = kTile * blockIdx.x, n = kTile * gridDim.x;
  int tiles = bytes / kBytes, scales = tiles * kSteps * Op::kVector;
  const uint8_t *rowA = scaleA + (m0 + warp / 2 * 32 + lane / 4 +
                                  8 * (lane & 1) + 16 * (lane / 2 % 2)) *
                                     scales;
  const uint8_t *rowB =
      scaleB + (n0 + warp % 2 * 32 + lane / 4 + 8 * (lane % 4)) * scales;
  int row = m0 + warp / 2 * 32 + lane / 4,
      column = n0 + warp % 2 * 32 + lane % 4 * 2;
  float acc[2][4][4];
  for (int i = 0; i != 2; ++i)
    for (int j = 0; j != 4; ++j)
      for (int e = 0; e != 4; ++e)
        acc[i][j][e] =
            c[(row + 16 * i + e / 2 * 8) * n + column + 8 * j + e % 2];
  auto start = [&](int tile) {
    fill(tilesA[tile % kStages], a + m0 * bytes + tile * kBytes, bytes);
    fill(tilesB[tile % kStages], b + n0 * bytes + tile * kBytes, bytes);
    asm volatile("cp.async.commit_group;");
  };
  start(0);
#pragma unroll 1
  for (int tile = 0; tile != tiles; ++tile) {
    if (tile + 1 != tiles) {
      start(tile + 1);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    uint32_t scalesA[Op::kVector], scalesB[Op::kVector];
    for (int i = 0; i != Op::kVector; ++i) {
      int at = (tile * Op::kVector + i) * 4;
      scalesA[i] = *reinterpret_cast<const uint32_t *>(rowA + at);
      scalesB[i] = *reinterpret_cast<const uint32_t *>(rowB + at);
    }
    multiply<Op>(tilesA[tile % kStages], tilesB[tile % kStages], scalesA,
                 scalesB, acc);
    __syncthreads();
  }
  for (int i = 0; i != 2; ++i)
    for (int j = 0; j != 4; ++j)
      for (int e = 0; e != 4; ++e)
        d[(row + 16 * i + e / 2 * 8) * n + column + 8 * j + e % 2] =
            acc[i][j][e];
}

#define KERNEL(NAME, OP)                                                       \
  extern "C" __global__ void __launch_bounds__(128)                            \
      NAME(const uint8_t *a, const uint8_t *b, const uint8_t *scaleA,          \
           const uint8_t *scaleB, const float *c, float *d, int bytes) {       \
    gemm<OP>(a, b, scaleA, scaleB, c, d, bytes);                               \
  }
KERNEL(mxf8, Mxf8)
KERNEL(mxf4, Mxf4)
KERNEL(nvf4, Nvf4)

// One warp, one instruction with half of A's elements: ordered metadata, 16 x 8
// results of K = 64 containers. Registers come as they are, 32 words each: four
// of A, four of B, metadata, scales of A and of B.
extern "C" __global__ void sparse_mxf8(const uint32_t *registers, float *d) {
  int lane = threadIdx.x;
  uint32_t r[11];
  for (int i = 0; i != 11; ++i)
    r[i] = registers[32 * i + lane];
  float acc[4] = {};
  asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col"
               ".kind::mxf8f6f4.block_scale.scale_vec::1X"
               ".f32.e4m3.e4m3.f32.ue8m0 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
               "{%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0, {%13}, {%15, "
               "%15}, {%14}, {%15, %15};"
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
               : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]),
                 "r"(r[5]), "r"(r[6]), "r"(r[7]), "r"(r[8]), "r"(r[9]),
                 "r"(r[10]), "h"((uint16_t)0));
  for (int e = 0; e != 4; ++e)
    d[(lane / 4 + e / 2 * 8) * 8 + lane % 4 * 2 + e % 2] = acc[e];
}
