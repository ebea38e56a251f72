// Operands that lanes cannot read by themselves.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(blockscale-to-fragments)))" -split-input-file -verify-diagnostics

gpu.module @kernels {
  // expected-error@+1 {{not supported in this version: expected an operand that is read by vector.transfer_read or a splat constant, got a block argument}}
  gpu.func @argument(%x: vector<16x32xf8E4M3FN>, %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %sx = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %y = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sy = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %x, %sx, %y, %sy, %c
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @load(%x: memref<16x32xf8E4M3FN>, %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    // expected-error@+1 {{not supported in this version: expected an operand that is read by vector.transfer_read or a splat constant, got 'vector.load'}}
    %a = vector.load %x[%c0, %c0]
         : memref<16x32xf8E4M3FN>, vector<16x32xf8E4M3FN>
    %sx = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %y = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sy = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sx, %y, %sy, %c
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @computed(%x: memref<16x32xf32>, %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %wide = vector.transfer_read %x[%c0, %c0], %zero
            {in_bounds = [true, true]} : memref<16x32xf32>, vector<16x32xf32>
    // expected-error@+1 {{'arith.truncf' op not supported in this version: on a vector that a warp shares}}
    %a = arith.truncf %wide : vector<16x32xf32> to vector<16x32xf8E4M3FN>
    %sx = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %y = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sy = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sx, %y, %sy, %c
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// The accumulator is in the lanes, where only elementwise ops reach it.
gpu.module @kernels {
  gpu.func @accumulator(%x: memref<16x32xf8E4M3FN>, %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f8E4M3FN
    %a = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true]}
         : memref<16x32xf8E4M3FN>, vector<16x32xf8E4M3FN>
    %sx = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %y = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sy = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sx, %y, %sy, %c
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    // expected-error@+1 {{'vector.transpose' op not supported in this version: on a vector that a warp shares}}
    %t = vector.transpose %sum, [1, 0] : vector<16x8xf32> to vector<8x16xf32>
    vector.transfer_write %t, %d[%c0, %c0]
        : vector<8x16xf32>, memref<16x8xf32>
    gpu.return
  }
}
