// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

func.func @k(%x: tensor<4x64xbf16>, %y: tensor<32x8xbf16>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected K of y to be 64, got 32}}
  %d = blockscale.promoted_matmul %x, %y, %acc interval = 32 : tensor<4x64xbf16>, tensor<32x8xbf16>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

func.func @batch(%x: tensor<2x4x64xbf16>, %y: tensor<3x64x8xbf16>, %acc: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // expected-error@+1 {{expected the batch of x and y to be 2, got 3}}
  %d = blockscale.promoted_matmul %x, %y, %acc interval = 32 : tensor<2x4x64xbf16>, tensor<3x64x8xbf16>, tensor<2x4x8xf32>
  return %d : tensor<2x4x8xf32>
}

// -----

func.func @rank(%x: tensor<2x4x64xbf16>, %y: tensor<64x8xbf16>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected acc of rank 3, got 2}}
  %d = blockscale.promoted_matmul %x, %y, %acc interval = 32 : tensor<2x4x64xbf16>, tensor<64x8xbf16>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

func.func @types(%x: tensor<4x64xbf16>, %y: tensor<64x8xf8E4M3FN>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected x and y to be both of bf16, of f16 or of fp8, got 'bf16' and 'f8E4M3FN'}}
  %d = blockscale.promoted_matmul %x, %y, %acc interval = 32 : tensor<4x64xbf16>, tensor<64x8xf8E4M3FN>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

func.func @interval(%x: tensor<4x64xbf16>, %y: tensor<64x8xbf16>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected an interval of 16, 32, 64 or 128, got 48}}
  %d = blockscale.promoted_matmul %x, %y, %acc interval = 48 : tensor<4x64xbf16>, tensor<64x8xbf16>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

func.func @block(%x: tensor<4x64xbf16>, %s: tensor<4x2xf32>, %y: tensor<64x8xbf16>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected interval to divide the block of x_factors, 32 along K, got 64}}
  %d = blockscale.promoted_matmul %x, %y, %acc interval = 64 x_factors(%s : tensor<4x2xf32>) <rows = 1, k = 32> : tensor<4x64xbf16>, tensor<64x8xbf16>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

func.func @sizes(%x: tensor<4x64xbf16>, %y: tensor<64x300xbf16>, %s: tensor<1x2xf32>, %acc: tensor<4x300xf32>) -> tensor<4x300xf32> {
  // expected-error@+1 {{expected dimension 1 of y_factors to be 3, got 2}}
  %d = blockscale.promoted_matmul %x, %y, %acc interval = 64 y_factors(%s : tensor<1x2xf32>) <rows = 128, k = 128> : tensor<4x64xbf16>, tensor<64x300xbf16>, tensor<4x300xf32>
  return %d : tensor<4x300xf32>
}

// -----

gpu.module @kernels {
  gpu.func @size(%scales: memref<64xf32>) {
    // expected-error@+1 {{expected a size of 1, or a multiple of 16 that divides 16, got 32}}
    %rows = blockscale.acc_factors of !blockscale.acc<64x32, #blockscale.warps<4x1>> size = 32 {
    ^bb0(%row: index):
      %scale = memref.load %scales[%row] : memref<64xf32>
      blockscale.yield %scale : f32
    } : vector<2xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @count(%scales: memref<64xf32>) {
    // expected-error@+1 {{expected a vector of 8 factors, got 'vector<2xf32>'}}
    %columns = blockscale.acc_factors of !blockscale.acc<64x32, #blockscale.warps<4x1>> size = 1 columns {
    ^bb0(%column: index):
      %scale = memref.load %scales[%column] : memref<64xf32>
      blockscale.yield %scale : f32
    } : vector<2xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @promote() {
    %sums = blockscale.acc_zero : !blockscale.acc<64x32, #blockscale.warps<4x1>>
    // expected-error@+1 {{expected 'exact' with factors only}}
    %d = blockscale.acc_promote %sums, %sums exact : !blockscale.acc<64x32, #blockscale.warps<4x1>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @interleave() {
    %sums = blockscale.acc_zero : !blockscale.acc<64x32, #blockscale.warps<4x1>>
    // expected-error@+1 {{expected an accumulator in warps that are not interleaved, and the same interleaved by 4 along N, got '!blockscale.acc<64x32, #blockscale.warps<4x1>>' and '!blockscale.acc<64x32, #blockscale.warps<4x1, interleave = 1x2>>'}}
    %d = blockscale.acc_interleave %sums : !blockscale.acc<64x32, #blockscale.warps<4x1>> -> !blockscale.acc<64x32, #blockscale.warps<4x1, interleave = 1x2>>
    gpu.return
  }
}
