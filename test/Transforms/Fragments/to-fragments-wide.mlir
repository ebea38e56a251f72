// Operands in lanes, by wide loads of elements that are contiguous along K.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(blockscale-legalize,gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" -split-input-file | FileCheck %s

// Four elements of a register, and four scales of a word, are one load. Lane l has
// elements from column 4 (l mod 4) of a row on; those of fp6 are masked together.

// CHECK-LABEL: gpu.func @words(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<16x128xf8E4M3FN> {llvm.align = 4 : i64}, %[[SX:[a-z0-9]+]]: memref<16x4xf8E8M0FNU> {llvm.align = 4 : i64}, %[[Y:[a-z0-9]+]]: memref<8x128xi8> {llvm.align = 16 : i64},
// CHECK-DAG:     %[[BITS_6:.*]] = arith.constant 1061109567 : i32
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[LANE:.*]] = gpu.lane_id
// CHECK-NOT:     memref.load
// CHECK:         %[[GROUP:.*]] = arith.divui %[[LANE]], %[[C4]]
// CHECK-NEXT:    %[[PART:.*]] = arith.remui %[[LANE]], %[[C4]]
// CHECK-NEXT:    %[[COLUMN:.*]] = arith.muli %[[PART]], %[[C4]]
// CHECK-NEXT:    %[[ELEMENTS:.*]] = vector.load %[[X]][%[[GROUP]], %[[COLUMN]]] {alignment = 4 : i64} : memref<16x128xf8E4M3FN>, vector<4xf8E4M3FN>
// CHECK-NEXT:    %[[BITS:.*]] = vector.bitcast %[[ELEMENTS]] : vector<4xf8E4M3FN> to vector<1xi32>
// CHECK-NEXT:    %[[A_0:.*]] = vector.extract %[[BITS]][0]
// CHECK-NEXT:    %[[GROUP_8:.*]] = arith.addi %[[GROUP]], %[[C8]]
// CHECK-NEXT:    vector.load %[[X]][%[[GROUP_8]], %[[COLUMN]]] {alignment = 4 : i64}
// CHECK:         %[[PART_4:.*]] = arith.addi %[[PART]], %[[C4]]
// CHECK-NEXT:    %[[COLUMN_16:.*]] = arith.muli %[[PART_4]], %[[C4]]
// CHECK-NEXT:    vector.load %[[X]][%[[GROUP]], %[[COLUMN_16]]] {alignment = 4 : i64}
// CHECK:         vector.load %[[X]][%[[GROUP_8]], %[[COLUMN_16]]] {alignment = 4 : i64}
// CHECK:         %[[A:.*]] = vector.from_elements %[[A_0]], {{.*}} : vector<4xi32>
// CHECK-COUNT-12: vector.load %[[X]]
// CHECK:         %[[SCALES:.*]] = vector.load %[[SX]][%{{.*}}, %c0] {alignment = 4 : i64} : memref<16x4xf8E8M0FNU>, vector<4xf8E8M0FNU>
// CHECK:         %[[SCALE_BITS:.*]] = vector.bitcast %[[SCALES]] : vector<4xf8E8M0FNU> to vector<1xi32>
// CHECK:         vector.extract %[[SCALE_BITS]][0]
// CHECK:         %[[ELEMENTS:.*]] = vector.load %[[Y]][%[[GROUP]], %[[COLUMN]]] {alignment = 4 : i64} : memref<8x128xi8>, vector<4xi8>
// CHECK-NEXT:    %[[BITS:.*]] = vector.bitcast %[[ELEMENTS]]
// CHECK-NEXT:    %[[BYTES:.*]] = vector.extract %[[BITS]][0]
// CHECK-NEXT:    %[[B_0:.*]] = arith.andi %[[BYTES]], %[[BITS_6]] : i32
// CHECK:         %[[B:.*]] = vector.from_elements %[[B_0]], %{{.*}} : vector<2xi32>
// CHECK:         blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e3m2, ue8m0, 1> %[[A]], %[[B]],
gpu.module @kernels {
  gpu.func @words(%x: memref<16x128xf8E4M3FN> {llvm.align = 4 : i64},
                  %sx: memref<16x4xf8E8M0FNU> {llvm.align = 4 : i64},
                  %y: memref<8x128xi8> {llvm.align = 16 : i64},
                  %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %fp8 = arith.constant 0.0 : f8E4M3FN
    %one = arith.constant 1.0 : f8E8M0FNU
    %byte = arith.constant 0 : i8
    %a = vector.transfer_read %x[%c0, %c0], %fp8 {in_bounds = [true, true]}
         : memref<16x128xf8E4M3FN>, vector<16x128xf8E4M3FN>
    %sa = vector.transfer_read %sx[%c0, %c0], %one {in_bounds = [true, true]}
          : memref<16x4xf8E8M0FNU>, vector<16x4xf8E8M0FNU>
    %b_bytes = vector.transfer_read %y[%c0, %c0], %byte
               {in_bounds = [true, true]} : memref<8x128xi8>, vector<8x128xi8>
    %b_bits = arith.trunci %b_bytes : vector<8x128xi8> to vector<8x128xi6>
    %b_t = arith.bitcast %b_bits
           : vector<8x128xi6> to vector<8x128xf6E3M2FN>
    %b = vector.transpose %b_t, [1, 0]
         : vector<8x128xf6E3M2FN> to vector<128x8xf6E3M2FN>
    %sb = arith.constant dense<1.0> : vector<4x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x128xf8E4M3FN>, vector<16x4xf8E8M0FNU>,
             vector<128x8xf6E3M2FN>, vector<4x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// fp4 with fp8 is spread to bytes: 16 bits with the nibbles 3210 become
// 32|10, then 3|2|1|0, then bits [5:2] of each byte. An alignment of 2 will do.

// CHECK-LABEL: gpu.func @spread(
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: memref<8x16xi8> {llvm.align = 2 : i64},
// CHECK-DAG:     %[[NIBBLES:.*]] = arith.constant 252645135 : i32
// CHECK-DAG:     %[[BYTES:.*]] = arith.constant 16711935 : i32
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : i32
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : i32
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : index
// CHECK:         %[[PART:.*]] = arith.remui %{{.*}}, %{{.*}} : index
// CHECK-NEXT:    %[[AT:.*]] = arith.muli %[[PART]], %[[TWO]] : index
// CHECK-NEXT:    %[[ELEMENTS:.*]] = vector.load %[[Y]][%{{.*}}, %[[AT]]] {alignment = 2 : i64} : memref<8x16xi8>, vector<2xi8>
// CHECK-NEXT:    %[[BITS:.*]] = vector.bitcast %[[ELEMENTS]] : vector<2xi8> to vector<1xi16>
// CHECK-NEXT:    %[[HALF:.*]] = vector.extract %[[BITS]][0]
// CHECK-NEXT:    %[[WORD:.*]] = arith.extui %[[HALF]] : i16 to i32
// CHECK-NEXT:    %[[UP:.*]] = arith.shli %[[WORD]], %[[C8]]
// CHECK-NEXT:    %[[BOTH:.*]] = arith.ori %[[WORD]], %[[UP]]
// CHECK-NEXT:    %[[PAIRS:.*]] = arith.andi %[[BOTH]], %[[BYTES]]
// CHECK-NEXT:    %[[UP:.*]] = arith.shli %[[PAIRS]], %[[C4]]
// CHECK-NEXT:    %[[BOTH:.*]] = arith.ori %[[PAIRS]], %[[UP]]
// CHECK-NEXT:    %[[ALL:.*]] = arith.andi %[[BOTH]], %[[NIBBLES]]
// CHECK-NEXT:    %[[B_0:.*]] = arith.shli %[[ALL]], %[[C2]]
// CHECK:         %[[B:.*]] = vector.from_elements %[[B_0]], %{{.*}} : vector<2xi32>
// CHECK:         blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1> %{{.*}}, %[[B]],
gpu.module @kernels {
  gpu.func @spread(%y: memref<8x16xi8> {llvm.align = 2 : i64},
                   %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b_bytes = vector.transfer_read %y[%c0, %c0], %byte
               {in_bounds = [true, true]} : memref<8x16xi8>, vector<8x16xi8>
    %b_t = vector.bitcast %b_bytes : vector<8x16xi8> to vector<8x32xf4E2M1FN>
    %b = vector.transpose %b_t, [1, 0]
         : vector<8x32xf4E2M1FN> to vector<32x8xf4E2M1FN>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf4E2M1FN>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Whole fragments in shared memory, whose rows get an alignment for it, are
// ldmatrix. Eight packed elements are a register. Scales of the second half of a
// word's blocks do not exist, so they are read one by one.

// CHECK-LABEL: gpu.func @matrices(
// CHECK-SAME:    workgroup(%[[X:[a-z0-9]+]] : memref<32x32xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[SX:[a-z0-9]+]] : memref<32x4xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[Y:[a-z0-9]+]] : memref<8x32xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK:         %[[A_0:.*]] = blockscale.load_matrix %[[X]][%{{.*}}] code_bits = 8 : {{.*}} -> vector<4xi32>
// CHECK:         %[[A_1:.*]] = blockscale.load_matrix %[[X]][%{{.*}}] code_bits = 8 : {{.*}} -> vector<4xi32>
// CHECK-NOT:     vector.load
// CHECK-COUNT-2: memref.load %[[SX]]
// CHECK-NOT:     memref.load
// CHECK:         %[[B:.*]] = blockscale.load_matrix %[[Y]][%{{.*}}] code_bits = 8 : {{.*}} -> vector<2xi32>
// CHECK:         blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2> %[[A_0]], %[[B]],
// CHECK:         blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2> %[[A_1]], %[[B]],
!x = memref<32x32xi8, #gpu.address_space<workgroup>>
!sx = memref<32x4xi8, #gpu.address_space<workgroup>>
!y = memref<8x32xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @matrices(%d: memref<32x8xf32>)
      workgroup(%x : !x, %sx : !sx, %y : !y) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %a_bytes = vector.transfer_read %x[%c0, %c0], %byte
               {in_bounds = [true, true]} : !x, vector<32x32xi8>
    %a = vector.bitcast %a_bytes : vector<32x32xi8> to vector<32x64xf4E2M1FN>
    %sa_bytes = vector.transfer_read %sx[%c0, %c0], %byte
                {in_bounds = [true, true]} : !sx, vector<32x2xi8>
    %sa = arith.bitcast %sa_bytes : vector<32x2xi8> to vector<32x2xf8E8M0FNU>
    %b_bytes = vector.transfer_read %y[%c0, %c0], %byte
               {in_bounds = [true, true]} : !y, vector<8x32xi8>
    %b_t = vector.bitcast %b_bytes : vector<8x32xi8> to vector<8x64xf4E2M1FN>
    %b = vector.transpose %b_t, [1, 0]
         : vector<8x64xf4E2M1FN> to vector<64x8xf4E2M1FN>
    %sb = arith.constant dense<1.0> : vector<2x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<32x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<32x64xf4E2M1FN>, vector<32x2xf8E8M0FNU>,
             vector<64x8xf4E2M1FN>, vector<2x8xf8E8M0FNU>, vector<32x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<32x8xf32>, memref<32x8xf32>
    gpu.return
  }
}

// -----

// Rows that fill no tile: words, each of them 0 beyond the vector.

// CHECK-LABEL: gpu.func @ragged(
// CHECK-DAG:     %[[C12:.*]] = arith.constant 12 : index
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK:         %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW:.*]], %[[C12]]
// CHECK:         scf.if %[[INSIDE]] -> (i32) {
// CHECK:           vector.load %{{.*}}[%[[ROW]], %{{.*}}] {alignment = 4 : i64}
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %[[ZERO]] : i32
// CHECK-NOT:     blockscale.load_matrix
gpu.module @kernels {
  gpu.func @ragged(%d: memref<12x8xf32>)
      workgroup(%x : memref<12x32xi8, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %a_bytes = vector.transfer_read %x[%c0, %c0], %byte
               {in_bounds = [true, true]}
               : memref<12x32xi8, #gpu.address_space<workgroup>>,
                 vector<12x32xi8>
    %a = arith.bitcast %a_bytes : vector<12x32xi8> to vector<12x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<12x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<12x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<12x32xf8E5M2>, vector<12x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<12x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<12x8xf32>, memref<12x8xf32>
    gpu.return
  }
}

// -----

// Rows beyond memory: the bytes of a register are all padding.

// CHECK-LABEL: gpu.func @padded(
// CHECK-DAG:     %[[C12:.*]] = arith.constant 12 : index
// CHECK-DAG:     %[[PADDING:.*]] = arith.constant dense<56> : vector<4xi8>
// CHECK:         %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW:.*]], %[[C12]]
// CHECK-NEXT:    scf.if %[[INSIDE]] -> (vector<4xi8>) {
// CHECK-NEXT:      vector.load %{{.*}}[%[[ROW]], %{{.*}}] {alignment = 4 : i64}
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %[[PADDING]]
gpu.module @kernels {
  gpu.func @padded(%x: memref<12x32xi8> {llvm.align = 16 : i64},
                   %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 56 : i8
    %a_bytes = vector.transfer_read %x[%c0, %c0], %byte
               {in_bounds = [false, true]}
               : memref<12x32xi8>, vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// What counts the steps along K, from a multiple on by multiples.

// CHECK-LABEL: gpu.func @counted(
// CHECK-NOT:     memref.load
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 4 : i64}
gpu.module @kernels {
  gpu.func @counted(%x: memref<16x128xi8> {llvm.align = 16 : i64},
                    %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %all = scf.for %k = %c0 to %c128 step %c32 iter_args(%c = %zero)
           -> vector<16x8xf32> {
      %a_bytes = vector.transfer_read %x[%c0, %k], %byte
                 {in_bounds = [true, true]}
                 : memref<16x128xi8>, vector<16x32xi8>
      %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
      %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
      %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
      %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
      %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
             {blockscale.path = #blockscale.path<mma_sync>}
             : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
               vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
      scf.yield %sum : vector<16x8xf32>
    }
    vector.transfer_write %all, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// An assumption, through a view that starts a multiple of 4 after it.

// CHECK-LABEL: gpu.func @assumed(
// CHECK-NOT:     memref.load
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 4 : i64}
// CHECK-NOT:     {{memref|vector}}.load
gpu.module @kernels {
  gpu.func @assumed(%x: memref<64x128xi8>, %i: index,
                    %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %known = memref.assume_alignment %x, 4 : memref<64x128xi8>
    %c8 = arith.constant 8 : index
    %k = arith.muli %i, %c8 : index
    %part = memref.subview %known[%i, %k] [16, 32] [1, 1]
            : memref<64x128xi8>
              to memref<16x32xi8, strided<[128, 1], offset: ?>>
    %a_bytes = vector.transfer_read %part[%c0, %c0], %byte
               {in_bounds = [true, true]}
               : memref<16x32xi8, strided<[128, 1], offset: ?>>,
                 vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Memory of the function.

// CHECK-LABEL: gpu.func @allocated(
// CHECK-NOT:     memref.load
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 4 : i64}
// CHECK-NOT:     {{memref|vector}}.load
gpu.module @kernels {
  gpu.func @allocated(%d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %x = memref.alloca() {alignment = 8 : i64} : memref<16x32xi8>
    %a_bytes = vector.transfer_read %x[%c0, %c0], %byte
               {in_bounds = [true, true]}
               : memref<16x32xi8>, vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Bytes of a buffer in shared memory, as a tile of which every second row is
// read.

// CHECK-LABEL: gpu.func @viewed(
// CHECK-NOT:     memref.load
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 4 : i64}
// CHECK-NOT:     {{memref|vector}}.load
gpu.module @kernels {
  gpu.func @viewed(%d: memref<16x8xf32>)
      workgroup(%buffer : memref<2048xi8, #gpu.address_space<workgroup>>
                    {llvm.align = 4 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %c12 = arith.constant 12 : index
    %x = memref.view %buffer[%c12][]
         : memref<2048xi8, #gpu.address_space<workgroup>>
           to memref<32x32xi8, #gpu.address_space<workgroup>>
    %rows = memref.subview %x[0, 0] [16, 32] [2, 1]
            : memref<32x32xi8, #gpu.address_space<workgroup>>
              to memref<16x32xi8, strided<[64, 1]>,
                        #gpu.address_space<workgroup>>
    %a_bytes = vector.transfer_read %rows[%c0, %c0], %byte
               {in_bounds = [true, true]}
               : memref<16x32xi8, strided<[64, 1]>,
                        #gpu.address_space<workgroup>>,
                 vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Data with an alignment.

// CHECK-LABEL: gpu.func @global(
// CHECK-NOT:     memref.load
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 4 : i64}
// CHECK-NOT:     {{memref|vector}}.load
gpu.module @kernels {
  memref.global "private" constant @data : memref<16x32xi8> = dense<1>
      {alignment = 16 : i64}
  gpu.func @global(%d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %x = memref.get_global @data : memref<16x32xi8>
    %a_bytes = vector.transfer_read %x[%c0, %c0], %byte
               {in_bounds = [true, true]}
               : memref<16x32xi8>, vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Elements are read one by one if nothing is known about the memory,

// CHECK-LABEL: gpu.func @no_alignment(
// CHECK-NOT:     vector.load
// CHECK-COUNT-16: memref.load
// CHECK-NOT:     {{memref|vector}}.load
gpu.module @kernels {
  gpu.func @no_alignment(%x: memref<16x32xi8>, %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %a_bytes = vector.transfer_read %x[%c0, %c0], %byte
               {in_bounds = [true, true]}
               : memref<16x32xi8>, vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// too little,

// CHECK-LABEL: gpu.func @too_small_alignment(
// CHECK-NOT:     vector.load
// CHECK-COUNT-16: memref.load
// CHECK-NOT:     {{memref|vector}}.load
gpu.module @kernels {
  gpu.func @too_small_alignment(%x: memref<16x32xi8> {llvm.align = 2 : i64},
      %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %a_bytes = vector.transfer_read %x[%c0, %c0], %byte
               {in_bounds = [true, true]}
               : memref<16x32xi8>, vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// or of where its rows start;

// CHECK-LABEL: gpu.func @odd_rows(
// CHECK-NOT:     vector.load
// CHECK-COUNT-16: memref.load
// CHECK-NOT:     {{memref|vector}}.load
gpu.module @kernels {
  gpu.func @odd_rows(%x: memref<16x33xi8> {llvm.align = 16 : i64},
                     %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %a_bytes = vector.transfer_read %x[%c0, %c0], %byte
               {in_bounds = [true, true]}
               : memref<16x33xi8>, vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// where the read starts within a word,

// CHECK-LABEL: gpu.func @odd_column(
// CHECK-NOT:     vector.load
// CHECK-COUNT-16: memref.load
// CHECK-NOT:     {{memref|vector}}.load
gpu.module @kernels {
  gpu.func @odd_column(%x: memref<16x64xi8> {llvm.align = 16 : i64},
                       %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %c2 = arith.constant 2 : index
    %a_bytes = vector.transfer_read %x[%c0, %c2], %byte
               {in_bounds = [true, true]}
               : memref<16x64xi8>, vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// anywhere,

// CHECK-LABEL: gpu.func @unknown_column(
// CHECK-NOT:     vector.load
// CHECK-COUNT-16: memref.load
// CHECK-NOT:     {{memref|vector}}.load
gpu.module @kernels {
  gpu.func @unknown_column(%x: memref<16x64xi8> {llvm.align = 16 : i64},
                           %i: index,
      %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %a_bytes = vector.transfer_read %x[%c0, %i], %byte
               {in_bounds = [true, true]}
               : memref<16x64xi8>, vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// or its memory does;

// CHECK-LABEL: gpu.func @odd_view(
// CHECK-NOT:     vector.load
// CHECK-COUNT-16: memref.load
// CHECK-NOT:     {{memref|vector}}.load
gpu.module @kernels {
  gpu.func @odd_view(%x: memref<16x64xi8> {llvm.align = 16 : i64},
                     %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %part = memref.subview %x[0, 6] [16, 32] [1, 1]
            : memref<16x64xi8> to memref<16x32xi8, strided<[64, 1], offset: 6>>
    %a_bytes = vector.transfer_read %part[%c0, %c0], %byte
               {in_bounds = [true, true]}
               : memref<16x32xi8, strided<[64, 1], offset: 6>>, vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// if elements of a register may be out of bounds,

// CHECK-LABEL: gpu.func @beyond(
// CHECK-NOT:     vector.load
// CHECK-COUNT-16: memref.load
// CHECK-NOT:     {{memref|vector}}.load
gpu.module @kernels {
  gpu.func @beyond(%x: memref<16x28xi8> {llvm.align = 16 : i64},
                   %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %a_bytes = vector.transfer_read %x[%c0, %c0], %byte
               {in_bounds = [true, false]}
               : memref<16x28xi8>, vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// or are not contiguous.

// CHECK-LABEL: gpu.func @other_order(
// CHECK-NOT:     vector.load
// CHECK-COUNT-16: memref.load
// CHECK-NOT:     {{memref|vector}}.load
gpu.module @kernels {
  gpu.func @other_order(%x: memref<32x16xi8> {llvm.align = 16 : i64},
                        %d: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %a_bytes = vector.transfer_read %x[%c0, %c0], %byte
               {in_bounds = [true, true],
                permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
               : memref<32x16xi8>, vector<16x32xi8>
    %a = arith.bitcast %a_bytes : vector<16x32xi8> to vector<16x32xf8E5M2>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E5M2>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}
