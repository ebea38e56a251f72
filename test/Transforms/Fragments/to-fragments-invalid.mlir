// Operands that lanes cannot load, and values that cannot be distributed.

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
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
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
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
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
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
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
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    // expected-error@+1 {{'vector.transpose' op not supported in this version: on a vector that a warp shares}}
    %t = vector.transpose %sum, [1, 0] : vector<16x8xf32> to vector<8x16xf32>
    vector.transfer_write %t, %d[%c0, %c0]
        : vector<8x16xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Packed elements are bitcasts of bytes, other elements are truncations of bytes.
gpu.module @kernels {
  gpu.func @not_packed(%x: memref<16x32xi8>, %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %bytes = vector.transfer_read %x[%c0, %c0], %byte
             {in_bounds = [true, true]} : memref<16x32xi8>, vector<16x32xi8>
    // expected-error@+1 {{not supported in this version: expected elements that are packed in bytes, got 'vector<16x32xi4>'}}
    %elements = arith.trunci %bytes : vector<16x32xi8> to vector<16x32xi4>
    %a = vector.bitcast %elements : vector<16x32xi4> to vector<16x32xf4E2M1FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %r = blockscale.mma_scaled %a, %sa, %b, %sb, %c
         {blockscale.instruction = #blockscale.instruction<
          mma_sync, 16x8x32, mxf8f6f4, e2m1, e5m2, ue8m0, 1>}
         : vector<16x32xf4E2M1FN>, vector<16x1xf8E8M0FNU>,
           vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %r, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @packed_in_words(%x: memref<16x4xi32>, %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %word = arith.constant 0 : i32
    %words = vector.transfer_read %x[%c0, %c0], %word
             {in_bounds = [true, true]} : memref<16x4xi32>, vector<16x4xi32>
    // expected-error@+1 {{'vector.bitcast' op not supported in this version: on a vector that a warp shares}}
    %a = vector.bitcast %words : vector<16x4xi32> to vector<16x32xf4E2M1FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %r = blockscale.mma_scaled %a, %sa, %b, %sb, %c
         {blockscale.instruction = #blockscale.instruction<
          mma_sync, 16x8x32, mxf8f6f4, e2m1, e5m2, ue8m0, 1>}
         : vector<16x32xf4E2M1FN>, vector<16x1xf8E8M0FNU>,
           vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %r, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @cut_out_of_words(%x: memref<16x32xi16>, %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %word = arith.constant 0 : i16
    %words = vector.transfer_read %x[%c0, %c0], %word
             {in_bounds = [true, true]} : memref<16x32xi16>, vector<16x32xi16>
    // expected-error@+1 {{'arith.trunci' op not supported in this version: on a vector that a warp shares}}
    %elements = arith.trunci %words : vector<16x32xi16> to vector<16x32xi4>
    %a = arith.bitcast %elements : vector<16x32xi4> to vector<16x32xf4E2M1FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %r = blockscale.mma_scaled %a, %sa, %b, %sb, %c
         {blockscale.instruction = #blockscale.instruction<
          mma_sync, 16x8x32, mxf8f6f4, e2m1, e5m2, ue8m0, 1>}
         : vector<16x32xf4E2M1FN>, vector<16x1xf8E8M0FNU>,
           vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %r, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @memory_of_elements(%x: memref<16x32xi4>, %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i4
    // expected-error@+1 {{'vector.transfer_read' op not supported in this version: expected memory with a byte per element, got 'memref<16x32xi4>'}}
    %elements = vector.transfer_read %x[%c0, %c0], %zero
             {in_bounds = [true, true]} : memref<16x32xi4>, vector<16x32xi4>
    %a = arith.bitcast %elements : vector<16x32xi4> to vector<16x32xf4E2M1FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %r = blockscale.mma_scaled %a, %sa, %b, %sb, %c
         {blockscale.instruction = #blockscale.instruction<
          mma_sync, 16x8x32, mxf8f6f4, e2m1, e5m2, ue8m0, 1>}
         : vector<16x32xf4E2M1FN>, vector<16x1xf8E8M0FNU>,
           vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %r, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// blockscale-legalize unrolls batches.
gpu.module @kernels {
  gpu.func @batch() {
    %a = arith.constant dense<1.0> : vector<2x16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<2x16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<2x16x8xf32>
    // expected-error@+1 {{'blockscale.mma_scaled' op not supported in this version: expected vectors of rank 2 in a kernel, got 'vector<2x16x8xf32>'}}
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           : vector<2x16x32xf8E4M3FN>, vector<2x16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<2x16x8xf32>
    gpu.return
  }
}

// -----

//===----------------------------------------------------------------------===//
// Sizes: an operand may have 2^17 elements, a lane 1024 of a shared vector
//===----------------------------------------------------------------------===//

gpu.module @kernels {
  gpu.func @largest_operand() {
    %a = arith.constant dense<1.0> : vector<16x8192xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x256xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<8192x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<256x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x8192xf8E4M3FN>, vector<16x256xf8E8M0FNU>,
             vector<8192x8xf8E5M2>, vector<256x8xf8E8M0FNU>, vector<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @operand_too_long() {
    %a = arith.constant dense<1.0> : vector<1x131072xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<1x4096xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<131072x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<4096x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<1x8xf32>
    // expected-error@+1 {{'blockscale.mma_scaled' op not supported in this version: a vector of more than 65536 rows or columns, 'vector<1x131072xf8E4M3FN>'}}
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<1x131072xf8E4M3FN>, vector<1x4096xf8E8M0FNU>,
             vector<131072x8xf8E5M2>, vector<4096x8xf8E8M0FNU>, vector<1x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @operand_too_large() {
    %a = arith.constant dense<1.0> : vector<16x8224xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x257xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<8224x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<257x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    // expected-error@+1 {{'blockscale.mma_scaled' op not supported in this version: an operand of more than 131072 elements, 'vector<16x8224xf8E4M3FN>'}}
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x8224xf8E4M3FN>, vector<16x257xf8E8M0FNU>,
             vector<8224x8xf8E5M2>, vector<257x8xf8E8M0FNU>, vector<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @largest_vector(%d: memref<16x8xf32>) {
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    %c0 = arith.constant 0 : index
    %r = arith.constant dense<0.0> : vector<128x256xf32>
    vector.transfer_write %r, %d[%c0, %c0]
        : vector<128x256xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @vector_too_large() {
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    // expected-error@+1 {{'arith.constant' op not supported in this version: a vector of more than 1024 elements in each lane, 'vector<128x264xf32>'}}
    %r = arith.constant dense<0.0> : vector<128x264xf32>
    gpu.return
  }
}

// -----

// The product of the sizes is 2^64.
gpu.module @kernels {
  gpu.func @vector_without_end(%d: memref<16x8xf32>) {
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error@+1 {{'vector.transfer_read' op not supported in this version: a vector of more than 65536 rows or columns, 'vector<4294967296x4294967296xf32>'}}
    %r = vector.transfer_read %d[%c0, %c0], %zero
         : memref<16x8xf32>, vector<4294967296x4294967296xf32>
    gpu.return
  }
}

// -----

//===----------------------------------------------------------------------===//
// Distributed values may only pass through scf.for, scf.if and scf.while
//===----------------------------------------------------------------------===//

gpu.module @kernels {
  // expected-error@+1 {{'gpu.func' op not supported in this version: a parameter that lanes hold in parts, 'vector<16x8xf32>'}}
  gpu.func @vector_parameter(%v: vector<16x8xf32>) {
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{'gpu.func' op not supported in this version: a parameter that lanes hold in parts, '!blockscale.acc<16x8, #blockscale.warps<1x1>>'}}
  gpu.func @accumulator_parameter(%acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>,
                                  %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    blockscale.acc_store %acc, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @accumulator_select(%d: memref<16x8xf32>, %p: i1) {
    %c0 = arith.constant 0 : index
    %zero = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %loaded = blockscale.acc_load %d[%c0, %c0]
              : memref<16x8xf32> -> !blockscale.acc<16x8, #blockscale.warps<1x1>>
    // expected-error@+1 {{'arith.select' op not supported in this version: on an accumulator}}
    %r = arith.select %p, %zero, %loaded : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_store %r, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @accumulator_switch(%d: memref<16x8xf32>, %i: index) {
    %c0 = arith.constant 0 : index
    %zero = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %loaded = blockscale.acc_load %d[%c0, %c0]
              : memref<16x8xf32> -> !blockscale.acc<16x8, #blockscale.warps<1x1>>
    // expected-error@+1 {{'scf.index_switch' op not supported in this version: on an accumulator}}
    %r = scf.index_switch %i -> !blockscale.acc<16x8, #blockscale.warps<1x1>>
    case 0 {
      scf.yield %zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    }
    default {
      scf.yield %loaded : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    }
    blockscale.acc_store %r, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @vector_switch(%d: memref<16x8xf32>, %i: index) {
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    %c0 = arith.constant 0 : index
    // expected-error@+1 {{'scf.index_switch' op not supported in this version: on a vector that a warp shares}}
    %r = scf.index_switch %i -> vector<16x8xf32>
    case 0 {
      scf.yield %sum : vector<16x8xf32>
    }
    default {
      scf.yield %c : vector<16x8xf32>
    }
    vector.transfer_write %r, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @vector_branch(%d: memref<16x8xf32>) {
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    %c0 = arith.constant 0 : index
    // expected-error@+1 {{'cf.br' op not supported in this version: on a vector that a warp shares}}
    cf.br ^bb1(%sum : vector<16x8xf32>)
  ^bb1(%r: vector<16x8xf32>):
    vector.transfer_write %r, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

//===----------------------------------------------------------------------===//
// Other vectors around mma_scaled
//===----------------------------------------------------------------------===//

gpu.module @kernels {
  gpu.func @masked_write(%d: memref<16x8xf32>) {
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    %c0 = arith.constant 0 : index
    %mask = arith.cmpf ogt, %sum, %c : vector<16x8xf32>
    // expected-error@+1 {{'vector.transfer_write' op not supported in this version: expected a transfer of a memref by a permutation without a mask}}
    vector.transfer_write %sum, %d[%c0, %c0], %mask {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @broadcast_read(%d: memref<16x8xf32>, %row: memref<8xf32>) {
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error@+1 {{'vector.transfer_read' op not supported in this version: expected a transfer of a memref by a permutation without a mask}}
    %rows = vector.transfer_read %row[%c0], %zero
            {in_bounds = [true, true],
             permutation_map = affine_map<(i) -> (0, i)>}
            : memref<8xf32>, vector<16x8xf32>
    %r = arith.addf %sum, %rows : vector<16x8xf32>
    vector.transfer_write %r, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @broadcast_vector(%d: memref<16x8xf32>, %row: vector<8xf32>) {
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    %c0 = arith.constant 0 : index
    // expected-error@+1 {{'vector.broadcast' op not supported in this version: on a vector that a warp shares}}
    %rows = vector.broadcast %row : vector<8xf32> to vector<16x8xf32>
    %r = arith.addf %sum, %rows : vector<16x8xf32>
    vector.transfer_write %r, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @wider_elements(%d: memref<16x8xf32>, %elements: vector<16x8xf8E5M2>) {
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    %c0 = arith.constant 0 : index
    // expected-error@+1 {{'arith.extf' op not supported in this version: on a vector that a warp shares}}
    %wide = arith.extf %elements : vector<16x8xf8E5M2> to vector<16x8xf32>
    %r = arith.addf %sum, %wide : vector<16x8xf32>
    vector.transfer_write %r, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @not_a_splat() {
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.instruction = #blockscale.instruction<
            mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    // expected-error@+1 {{'arith.constant' op not supported in this version: on a vector that a warp shares}}
    %r = arith.constant dense<[[0.0, 1.0]]> : vector<1x2xf32>
    gpu.return
  }
}
