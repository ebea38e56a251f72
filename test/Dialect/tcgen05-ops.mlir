// Round trips of the ops and types of tcgen05.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func private @types(
// CHECK-SAME:    !blockscale.tmem<32>, !blockscale.tmem<512>
// CHECK-SAME:    !blockscale.tmem_acc<128x8>, !blockscale.tmem_acc<128x256>
// CHECK-SAME:    !blockscale.tmem_acc<256x256, group = 2>, !blockscale.tmem_acc<128x16, group = 2>
// CHECK-SAME:    !blockscale.tmem_scales<128x4>, !blockscale.tmem_scales<256x256>
// CHECK-SAME:    !blockscale.tmem_a<128x8>
func.func private @types(
    !blockscale.tmem<32>, !blockscale.tmem<512>,
    !blockscale.tmem_acc<128x8>, !blockscale.tmem_acc<128x256, group = 1>,
    !blockscale.tmem_acc<256x256, group = 2>,
    !blockscale.tmem_acc<128x16, group = 2>,
    !blockscale.tmem_scales<128x4>, !blockscale.tmem_scales<256x256>,
    !blockscale.tmem_a<128x8>)

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

!slot = memref<1xi32, #gpu.address_space<workgroup>>

// CHECK-LABEL: func @allocation(
// CHECK-SAME:    %[[SLOT:.*]]: memref<1xi32, #gpu.address_space<workgroup>>)
// CHECK-NEXT:    blockscale.tmem_alloc %[[SLOT]] {columns = 256 : i64} : memref<1xi32, #gpu.address_space<workgroup>>
// CHECK-NEXT:    blockscale.tmem_relinquish{{$}}
// CHECK-NEXT:    %[[TMEM:.*]] = blockscale.tmem_base %[[SLOT]] : memref<1xi32, #gpu.address_space<workgroup>> -> !blockscale.tmem<256>
// CHECK-NEXT:    blockscale.tmem_dealloc %[[TMEM]] : !blockscale.tmem<256>
func.func @allocation(%slot: !slot) {
  blockscale.tmem_alloc %slot {columns = 256 : i64} : !slot
  blockscale.tmem_relinquish
  %t = blockscale.tmem_base %slot : !slot -> !blockscale.tmem<256>
  blockscale.tmem_dealloc %t : !blockscale.tmem<256>
  return
}

// CHECK-LABEL: func @regions(
// CHECK-SAME:    %[[TMEM:.*]]: !blockscale.tmem<512>, %[[COLUMN:.*]]: index)
// CHECK-NEXT:    %[[ACC:.*]] = blockscale.tmem_acc %[[TMEM]][%[[COLUMN]]] : !blockscale.tmem<512> -> !blockscale.tmem_acc<128x256>
// CHECK-NEXT:    %[[SCALES:.*]] = blockscale.tmem_scales %[[TMEM]][%[[COLUMN]]] : !blockscale.tmem<512> -> !blockscale.tmem_scales<256x8>
// CHECK-NEXT:    %[[A:.*]] = blockscale.tmem_operand %[[TMEM]][%[[COLUMN]]] : !blockscale.tmem<512> -> !blockscale.tmem_a<128x16>
func.func @regions(%t: !blockscale.tmem<512>, %column: index)
    -> (!blockscale.tmem_acc<128x256>, !blockscale.tmem_scales<256x8>,
        !blockscale.tmem_a<128x16>) {
  %acc = blockscale.tmem_acc %t[%column]
      : !blockscale.tmem<512> -> !blockscale.tmem_acc<128x256>
  %scales = blockscale.tmem_scales %t[%column]
      : !blockscale.tmem<512> -> !blockscale.tmem_scales<256x8>
  %a = blockscale.tmem_operand %t[%column]
      : !blockscale.tmem<512> -> !blockscale.tmem_a<128x16>
  return %acc, %scales, %a
      : !blockscale.tmem_acc<128x256>, !blockscale.tmem_scales<256x8>,
        !blockscale.tmem_a<128x16>
}

// CHECK-LABEL: func @instruction_descriptor()
// CHECK-NEXT:    blockscale.instruction_descriptor <tcgen05, 128x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>{{$}}
// CHECK-NEXT:    blockscale.instruction_descriptor <tcgen05, 128x16x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1> {a_scale_id = 3 : i64, b_scale_id = 1 : i64, negate_a, negate_b, transpose_a, transpose_b}
func.func @instruction_descriptor() -> (i32, i32) {
  %0 = blockscale.instruction_descriptor
       <tcgen05, 128x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
  %1 = blockscale.instruction_descriptor
       <tcgen05, 128x16x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       {a_scale_id = 3 : i64, b_scale_id = 1 : i64, negate_a, negate_b,
        transpose_a, transpose_b}
  return %0, %1 : i32, i32
}

!rows = memref<64x64xi8, #gpu.address_space<workgroup>>
!columns = memref<2x32x128xi8, #gpu.address_space<workgroup>>

// CHECK-LABEL: func @matrix_descriptor(
// CHECK-SAME:    %[[ROWS:[a-z0-9]+]]: memref<64x64xi8, {{.*}}>, %[[COLUMNS:[a-z0-9]+]]: memref<2x32x128xi8, {{.*}}>, %[[OFFSET:[a-z0-9]+]]: index)
// CHECK-NEXT:    blockscale.matrix_descriptor %[[ROWS]][%[[OFFSET]]] layout = <k, padded, swizzled> : memref<64x64xi8, #gpu.address_space<workgroup>>
// CHECK-NEXT:    blockscale.matrix_descriptor %[[COLUMNS]][%[[OFFSET]]] layout = <mn, slots, swizzled> : memref<2x32x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_descriptor(%rows: !rows, %columns: !columns, %offset: index)
    -> (i64, i64) {
  %0 = blockscale.matrix_descriptor %rows[%offset]
       layout = <k, padded, swizzled> : !rows
  %1 = blockscale.matrix_descriptor %columns[%offset]
       layout = <mn, slots, swizzled> : !columns
  return %0, %1 : i64, i64
}

// Unit attributes are not lost in the generic form, and defaults are not
// printed.

// GENERIC-LABEL: sym_name = "multiply"
// GENERIC:         "blockscale.copy_scales"{{.*}} <{group = 1 : i64, row_atom = 1 : i64, word = 2 : i64}>
// GENERIC:         "blockscale.tcgen05_mma"{{.*}}a_block = 4 : i64, b_block = 6 : i64,{{.*}} transpose_b}>
// CHECK-LABEL: func @multiply(
// CHECK-SAME:    %[[ATOMS:[a-z0-9]+]]: memref<4096xi8, {{.*}}>, %[[BARRIERS:[a-z0-9]+]]: memref<2xi64, {{.*}}>, %[[ACC:[a-z0-9]+]]: !blockscale.tmem_acc<128x240>, %[[WORD:[a-z0-9]+]]: i64, %[[A:[a-z0-9]+]]: !blockscale.tmem_a<128x8>, %[[SA:[a-z0-9]+]]: !blockscale.tmem_scales<128x12>, %[[SB:[a-z0-9]+]]: !blockscale.tmem_scales<256x12>, %[[AT:[a-z0-9]+]]: index, %[[ACCUMULATE:[a-z0-9]+]]: i1)
// CHECK-NEXT:    blockscale.copy_scales %[[ATOMS]][%[[AT]]], %[[SB]] {row_atom = 1 : i64, word = 2 : i64} : memref<4096xi8, #gpu.address_space<workgroup>>, !blockscale.tmem_scales<256x12>
// CHECK-NEXT:    blockscale.tcgen05_mma <tcgen05, 128x240x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1> %[[ACC]], %[[WORD]], %[[WORD]], %[[SA]][4], %[[SB]][6], %[[ACCUMULATE]] {transpose_b} : !blockscale.tmem_acc<128x240>, i64, !blockscale.tmem_scales<128x12>, !blockscale.tmem_scales<256x12>
// CHECK-NEXT:    blockscale.tcgen05_mma <tcgen05, 128x240x64, mxf4, e2m1, e2m1, ue8m0, 2> %[[ACC]], %[[A]], %[[WORD]], %[[SA]][10], %[[SB]][0], %[[ACCUMULATE]] : !blockscale.tmem_acc<128x240>, !blockscale.tmem_a<128x8>, !blockscale.tmem_scales<128x12>, !blockscale.tmem_scales<256x12>
// CHECK-NEXT:    blockscale.tcgen05_mma <tcgen05, 128x240x16, unscaled, f16, f16, none, 0> %[[ACC]], %[[WORD]], %[[WORD]], %[[ACCUMULATE]] {transpose_a} : !blockscale.tmem_acc<128x240>, i64{{$}}
// CHECK-NEXT:    blockscale.tcgen05_commit %[[BARRIERS]][%[[AT]]] : memref<2xi64, #gpu.address_space<workgroup>>
func.func @multiply(%atoms: memref<4096xi8, #gpu.address_space<workgroup>>,
                    %barriers: memref<2xi64, #gpu.address_space<workgroup>>,
                    %acc: !blockscale.tmem_acc<128x240>, %word: i64,
                    %a: !blockscale.tmem_a<128x8>,
                    %sa: !blockscale.tmem_scales<128x12>,
                    %sb: !blockscale.tmem_scales<256x12>, %at: index,
                    %accumulate: i1) {
  blockscale.copy_scales %atoms[%at], %sb
      {row_atom = 1 : i64, word = 2 : i64}
      : memref<4096xi8, #gpu.address_space<workgroup>>,
        !blockscale.tmem_scales<256x12>
  blockscale.tcgen05_mma <tcgen05, 128x240x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
      %acc, %word, %word, %sa[4], %sb[6], %accumulate {transpose_b}
      : !blockscale.tmem_acc<128x240>, i64, !blockscale.tmem_scales<128x12>,
        !blockscale.tmem_scales<256x12>
  blockscale.tcgen05_mma <tcgen05, 128x240x64, mxf4, e2m1, e2m1, ue8m0, 2>
      %acc, %a, %word, %sa[10], %sb[0], %accumulate
      : !blockscale.tmem_acc<128x240>, !blockscale.tmem_a<128x8>,
        !blockscale.tmem_scales<128x12>, !blockscale.tmem_scales<256x12>
  blockscale.tcgen05_mma <tcgen05, 128x240x16, unscaled, f16, f16, none, 0>
      %acc, %word, %word, %accumulate {transpose_a}
      : !blockscale.tmem_acc<128x240>, i64
  blockscale.tcgen05_commit %barriers[%at]
      : memref<2xi64, #gpu.address_space<workgroup>>
  return
}

// CHECK-LABEL: func @moves(
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: !blockscale.tmem_acc<128x256>, %[[A:[a-z0-9]+]]: !blockscale.tmem_a<128x8>, %[[AT:[a-z0-9]+]]: index)
// CHECK-NEXT:    %[[V:.*]] = blockscale.tmem_load %[[ACC]][%[[AT]]] : !blockscale.tmem_acc<128x256> -> vector<128xf32>
// CHECK-NEXT:    %[[W:.*]] = blockscale.tmem_load %[[A]][%[[AT]]] : !blockscale.tmem_a<128x8> -> vector<1xi32>
// CHECK-NEXT:    blockscale.tmem_wait load
// CHECK-NEXT:    blockscale.tmem_store %[[V]], %[[ACC]][%[[AT]]] : vector<128xf32>, !blockscale.tmem_acc<128x256>
// CHECK-NEXT:    blockscale.tmem_store %[[W]], %[[A]][%[[AT]]] : vector<1xi32>, !blockscale.tmem_a<128x8>
// CHECK-NEXT:    blockscale.tmem_wait store
// CHECK-NEXT:    blockscale.tcgen05_fence before
// CHECK-NEXT:    blockscale.tcgen05_fence after
func.func @moves(%acc: !blockscale.tmem_acc<128x256>,
                 %a: !blockscale.tmem_a<128x8>, %at: index) {
  %0 = blockscale.tmem_load %acc[%at]
       : !blockscale.tmem_acc<128x256> -> vector<128xf32>
  %1 = blockscale.tmem_load %a[%at] : !blockscale.tmem_a<128x8> -> vector<1xi32>
  blockscale.tmem_wait load
  blockscale.tmem_store %0, %acc[%at]
      : vector<128xf32>, !blockscale.tmem_acc<128x256>
  blockscale.tmem_store %1, %a[%at] : vector<1xi32>, !blockscale.tmem_a<128x8>
  blockscale.tmem_wait store
  blockscale.tcgen05_fence before
  blockscale.tcgen05_fence after
  return
}
