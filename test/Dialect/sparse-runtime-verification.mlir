// Assertions about dynamic sizes, and none if all sizes are static. Fields and zeros are checked
// where they are read, see test/Transforms/Reference/decompose-sparse.mlir.

// RUN: blockscale-opt %s --generate-runtime-verification --split-input-file | FileCheck %s

// CHECK-LABEL: func @product(
// CHECK:         cf.assert {{.*}}expected N to be at least 1
// CHECK:         cf.assert {{.*}}expected K to be at least 1
// CHECK:         cf.assert {{.*}}expected metadata to have the batch of x
// CHECK:         cf.assert {{.*}}expected metadata to have the M of x
// CHECK:         cf.assert {{.*}}expected x_scale to have the batch of x
// CHECK:         cf.assert {{.*}}expected x_scale to have the M of x
// CHECK:         cf.assert {{.*}}expected y_scale to have the N of y
// CHECK:         cf.assert {{.*}}expected y to have the K of x
// CHECK:         cf.assert {{.*}}expected metadata to have the K of x
// CHECK:         cf.assert {{.*}}expected y_scale to have the K_s of x_scale
// CHECK:         cf.assert {{.*}}expected acc to have the M of x
// CHECK:         cf.assert {{.*}}expected acc to have the N of y
// CHECK:         cf.assert {{.*}}expected K to be K_s times the block size, 64
// CHECK-COUNT-2: cf.assert {{.*}}expected the batches of x and y to be 1 or that of acc
// CHECK:         cf.assert {{.*}}expected acc to have the batch of x and y
func.func @product(%x: tensor<?x?x?xf8E4M3FN>, %m: tensor<?x?x?xi8>, %xs: tensor<?x?x?xf8E8M0FNU>,
                   %y: tensor<?x?xf8E5M2>, %ys: tensor<?x?xf8E8M0FNU>, %acc: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {block_size = 64, granularity = #blockscale.granularity<2:4>}
      : tensor<?x?x?xf8E4M3FN>, tensor<?x?x?xi8>, tensor<?x?x?xf8E8M0FNU>, tensor<?x?xf8E5M2>, tensor<?x?xf8E8M0FNU>, tensor<?x?x?xf32>
  return %d : tensor<?x?x?xf32>
}

// -----

// CHECK-LABEL: func @others(
// CHECK:         cf.assert {{.*}}expected the last size to be at least 1
// CHECK:         cf.assert {{.*}}expected the last size to be a multiple of the elements of a chunk, 8
// CHECK:         blockscale.sparsify
// CHECK:         cf.assert {{.*}}expected K to be at least 1
// CHECK:         cf.assert {{.*}}expected K to be a multiple of the elements of a byte of metadata, 16
// CHECK:         blockscale.compress
// CHECK:         cf.assert {{.*}}expected K to be at least 1
// CHECK:         cf.assert {{.*}}expected metadata to have the rows of elements
// CHECK:         cf.assert {{.*}}expected K of metadata to be K of elements
// CHECK:         blockscale.decompress
// CHECK:         cf.assert {{.*}}expected sizes of at least 0, and bytes of at least 1
// CHECK-COUNT-2: cf.assert {{.*}}expected sizes that round up to the atoms of the source
// CHECK:         blockscale.untile_metadata
func.func @others(%v: tensor<?x?xf32>, %d: tensor<?x?xf4E2M1FN>, %t: tensor<?x?x128x16xi8>, %r: index, %e: index)
    -> (tensor<?x?xf32>, tensor<?x?xf4E2M1FN>, tensor<?x?xi8>) {
  %s = blockscale.sparsify %v {granularity = #blockscale.granularity<pairs>} : tensor<?x?xf32>
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<pairs>} : tensor<?x?xf4E2M1FN> to tensor<?x?xf4E2M1FN>, tensor<?x?xi8>
  %f = blockscale.decompress %x, %m {granularity = #blockscale.granularity<pairs>} : tensor<?x?xf4E2M1FN>, tensor<?x?xi8> to tensor<?x?xf4E2M1FN>
  %u = blockscale.untile_metadata %t sizes(%r, %e) : tensor<?x?x128x16xi8> to tensor<?x?xi8>
  return %s, %f, %u : tensor<?x?xf32>, tensor<?x?xf4E2M1FN>, tensor<?x?xi8>
}

// -----

// CHECK-LABEL: func @static(
// CHECK-NOT:     cf.assert
func.func @static(%d: tensor<4x16xf8E4M3FN>) -> tensor<4x16xf8E4M3FN> {
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<2:4>} : tensor<4x16xf8E4M3FN> to tensor<4x8xf8E4M3FN>, tensor<4x2xi8>
  %f = blockscale.decompress %x, %m {granularity = #blockscale.granularity<2:4>} : tensor<4x8xf8E4M3FN>, tensor<4x2xi8> to tensor<4x16xf8E4M3FN>
  return %f : tensor<4x16xf8E4M3FN>
}
