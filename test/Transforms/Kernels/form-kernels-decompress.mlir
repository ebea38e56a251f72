// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-form-kernels | FileCheck %s

// A decompress whose units are bytes in memory has a kernel of its own: elements of fp8, and pairs of packed fp4.

// CHECK-LABEL: func.func @bytes(
// CHECK:         blockscale.launch @{{.*}}::@bytes__decompress
// CHECK-LABEL: func.func @pairs(
// CHECK-NOT:     blockscale.pack
// CHECK:         %[[P:.*]] = blockscale.launch @{{.*}}::@pairs__decompress
// CHECK:         return %[[P]]
// CHECK-LABEL: func.func @nibbles(
// CHECK:         blockscale.decompress
// CHECK:       gpu.func @pairs__decompress(%{{.*}}: memref<4x8x32xi8>, %{{.*}}: memref<4x8x8xi8>, %{{.*}}: memref<4x8x64xi8>){{.*}}kernel
// CHECK:       gpu.func @bytes__decompress(%[[X:.*]]: memref<?x?xi8>, %[[M:.*]]: memref<?x?xi8>, %[[D:.*]]: memref<?x?xi8>) kernel
// CHECK:         %[[FIELDS:.*]] = memref.load %[[M]]
// CHECK:         vector.load %[[X]]{{.*}} {alignment = 4 : i64} : memref<?x?xi8>, vector<4xi8>
// CHECK-COUNT-2: cf.assert
// CHECK:         vector.store %{{.*}}, %[[D]]{{.*}} {alignment = 8 : i64} : memref<?x?xi8>, vector<8xi8>
func.func @bytes(%x: tensor<?x?xf8E5M2>, %m: tensor<?x?xi8>) -> tensor<?x?xf8E5M2> {
  %d = blockscale.decompress %x, %m {granularity = #blockscale.granularity<2:4>}
       : tensor<?x?xf8E5M2>, tensor<?x?xi8> to tensor<?x?xf8E5M2>
  return %d : tensor<?x?xf8E5M2>
}

func.func @pairs(%x: tensor<4x8x32xi8>, %m: tensor<4x8x8xi8>) -> tensor<4x8x64xi8> {
  %k = blockscale.unpack %x : tensor<4x8x32xi8> to tensor<4x8x64xf4E2M1FN>
  %d = blockscale.decompress %k, %m {granularity = #blockscale.granularity<pairs>}
       : tensor<4x8x64xf4E2M1FN>, tensor<4x8x8xi8> to tensor<4x8x128xf4E2M1FN>
  %p = blockscale.pack %d : tensor<4x8x128xf4E2M1FN> to tensor<4x8x64xi8>
  return %p : tensor<4x8x64xi8>
}

func.func @nibbles(%x: tensor<8x64xf4E2M1FN>, %m: tensor<8x16xi8>) -> tensor<8x128xf4E2M1FN> {
  %d = blockscale.decompress %x, %m {granularity = #blockscale.granularity<2:4>}
       : tensor<8x64xf4E2M1FN>, tensor<8x16xi8> to tensor<8x128xf4E2M1FN>
  return %d : tensor<8x128xf4E2M1FN>
}
