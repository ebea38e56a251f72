// Kernels that give rows one scale.

// RUN: blockscale-opt %s --blockscale-form-kernels --split-input-file | FileCheck %s

module attributes {blockscale.target = #blockscale.target<sm_90a>} {

// Two units of 16 elements for each of 256 threads, which are loaded before the
// largest scale is known; no unit is outside of the row.

// CHECK-LABEL: func.func @block(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<300x8192xf8E4M3FN>, %[[S:[^:]*]]: tensor<300x256xf8E8M0FNU>
// CHECK:         blockscale.launch @kernels::@block__rebase blocks = [300, 1, 1] threads = [256, 1, 1] ins(%[[X]], %[[S]] :
// CHECK-LABEL: gpu.func @block__rebase(
// CHECK-SAME:    blockscale.purpose = "rebase"
// CHECK-COUNT-2: vector.load {{.*}} : memref<300x8192xi8>, vector<16xi8>
// CHECK:         scf.for
// CHECK:         arith.maxui
// CHECK:         gpu.barrier
// CHECK-NOT:     vector.load
// CHECK-COUNT-2: vector.store {{.*}} : memref<300x8192xi8>, vector<16xi8>
// CHECK:         gpu.return
func.func @block(%x: tensor<300x8192xf8E4M3FN>, %s: tensor<300x256xf8E8M0FNU>)
    -> (tensor<300x8192xf8E4M3FN>, tensor<300x1xf32>) {
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64}
      : tensor<300x8192xf8E4M3FN>, tensor<300x256xf8E8M0FNU>
      to tensor<300x8192xf8E4M3FN>, tensor<300x1xf32>
  return %r, %f : tensor<300x8192xf8E4M3FN>, tensor<300x1xf32>
}
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_90a>} {

// Packed elements are read as they are, by a warp for each row of a batch, and
// their magnitudes are a table.

// CHECK-LABEL: func.func @packed(
// CHECK:         blockscale.launch @kernels::@packed__rebase blocks = [2, 1, 3] threads = [128, 1, 1] ins(%{{.*}} : tensor<3x6x48xi8>, tensor<3x6x3xf8E8M0FNU>)
// CHECK-LABEL: gpu.func @packed__rebase(
// CHECK:         vector.load {{.*}} : memref<3x6x48xi8>, vector<8xi8>
// CHECK-COUNT-4: nvvm.convert.f16x2.to.f8x2
// CHECK-COUNT-4: nvvm.prmt
// CHECK-NOT:     nvvm.convert
// CHECK:         gpu.return
func.func @packed(%bytes: tensor<3x6x48xi8>, %s: tensor<3x6x3xf8E8M0FNU>)
    -> (tensor<3x6x96xf8E4M3FN>, tensor<3x6x1xf32>) {
  %x = blockscale.unpack %bytes : tensor<3x6x48xi8> to tensor<3x6x96xf4E2M1FN>
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64}
      : tensor<3x6x96xf4E2M1FN>, tensor<3x6x3xf8E8M0FNU>
      to tensor<3x6x96xf8E4M3FN>, tensor<3x6x1xf32>
  return %r, %f : tensor<3x6x96xf8E4M3FN>, tensor<3x6x1xf32>
}
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_90a>} {

// Of K, which is dynamic, nothing is known: one of two loops is for rows that
// are whole units.

// CHECK-LABEL: gpu.func @dynamic__rebase(
// CHECK:         arith.remui
// CHECK:         scf.if
// CHECK:         vector.load {{.*}}vector<16xi8>
// CHECK:         } else {
// CHECK-NOT:     vector.load
// CHECK:         gpu.return
func.func @dynamic(%x: tensor<?x?xf8E5M2>, %s: tensor<?x?xf8E8M0FNU>)
    -> (tensor<?x?xf8E5M2>, tensor<?x1xf32>) {
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64}
      : tensor<?x?xf8E5M2>, tensor<?x?xf8E8M0FNU>
      to tensor<?x?xf8E5M2>, tensor<?x1xf32>
  return %r, %f : tensor<?x?xf8E5M2>, tensor<?x1xf32>
}
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_90a>} {

// K is known to be a multiple of 32.

// CHECK-LABEL: gpu.func @multiple__rebase(
// CHECK-NOT:     arith.remui
// CHECK:         vector.load {{.*}}vector<16xi8>
// CHECK-NOT:     } else {
// CHECK:         gpu.return
func.func @multiple(%x: tensor<?x?xf8E5M2> {blockscale.multiples = array<i64: 1, 32>}, %s: tensor<?x?xf8E8M0FNU>)
    -> (tensor<?x?xf8E5M2>, tensor<?x1xf32>) {
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64}
      : tensor<?x?xf8E5M2>, tensor<?x?xf8E8M0FNU>
      to tensor<?x?xf8E5M2>, tensor<?x1xf32>
  return %r, %f : tensor<?x?xf8E5M2>, tensor<?x1xf32>
}
}

// -----

// Without conversions of fp8, it stays to become loops.

module attributes {blockscale.target = #blockscale.target<sm_80>} {
// CHECK-LABEL: func.func @loops(
// CHECK:         blockscale.rebase
func.func @loops(%x: tensor<4x96xf8E4M3FN>, %s: tensor<4x3xf8E8M0FNU>)
    -> (tensor<4x96xf8E4M3FN>, tensor<4x1xf32>) {
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64}
      : tensor<4x96xf8E4M3FN>, tensor<4x3xf8E8M0FNU>
      to tensor<4x96xf8E4M3FN>, tensor<4x1xf32>
  return %r, %f : tensor<4x96xf8E4M3FN>, tensor<4x1xf32>
}
}
