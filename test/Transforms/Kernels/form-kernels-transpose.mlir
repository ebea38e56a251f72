// RUN: blockscale-opt %s --allow-unregistered-dialect --blockscale-attach-target=target=sm_90a --blockscale-form-kernels | FileCheck %s
// RUN: blockscale-opt %s --allow-unregistered-dialect --blockscale-form-kernels | FileCheck %s --check-prefix=CPU

// The transpose of a matrix that a program returns, or that a kernel reads, goes through shared memory.

// CPU-NOT: blockscale.launch

// CHECK-DAG: #[[$TILES:.*]] = affine_map<()[s0] -> (s0 ceildiv 64)>

// CHECK-LABEL: func.func @result(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?xbf16>
// CHECK-DAG:     %[[M:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG:     %[[N:.*]] = tensor.dim %[[X]], %c1
// CHECK-DAG:     %[[BM:.*]] = affine.apply #[[$TILES]]()[%[[M]]]
// CHECK-DAG:     %[[BN:.*]] = affine.apply #[[$TILES]]()[%[[N]]]
// CHECK:         %[[BLOCKS:.*]] = arith.muli %[[BM]], %[[BN]]
// CHECK:         %[[T:.*]] = blockscale.launch @{{.*}}::@result__transpose blocks = [%[[BLOCKS]], 1, 1] threads = [256, 1, 1] ins(%[[X]] :
// CHECK:         return %[[T]]

// Loops read through it, packed elements have no kernel, and batches are loops.

// CHECK-LABEL: func.func @read_by_loops(
// CHECK-NOT:     blockscale.launch
// CHECK:         linalg.transpose
// CHECK-LABEL: func.func @nibbles(
// CHECK-NOT:     blockscale.launch
// CHECK:         linalg.transpose
// CHECK-LABEL: func.func @batch(
// CHECK-NOT:     blockscale.launch
// CHECK:         linalg.transpose

// More tiles along a side than y of a grid has blocks.

// CHECK-LABEL: func.func @wide(
// CHECK:         blockscale.launch @{{.*}}::@wide__transpose blocks = [78125, 1, 1]
// CHECK-LABEL: func.func @unknown(
// CHECK:         blockscale.launch @{{.*}}::@unknown__transpose

// The rows of the tile in shared memory are one bank longer than a tile.

// CHECK:       gpu.func @unknown__transpose
// CHECK:       gpu.func @wide__transpose
// CHECK:       gpu.func @bytes__transpose(%{{.*}}: memref<8x100xi8>, %{{.*}}: memref<100x8xi8>) workgroup(%{{.*}} : memref<64x68xi8, #gpu.address_space<workgroup>>)
// CHECK:       gpu.func @result__transpose(%[[A:.*]]: memref<?x?xbf16>, %[[R:.*]]: memref<?x?xbf16>) workgroup(%[[S:.*]] : memref<64x66xbf16, #gpu.address_space<workgroup>>)
// CHECK:         scf.if
// CHECK-COUNT-16:  memref.load %[[A]]
// CHECK:         } else {
// CHECK-COUNT-16:  memref.load %[[A]]
// CHECK:         gpu.barrier
// CHECK-COUNT-32:  memref.store %{{.*}}, %[[R]]
func.func @result(%x: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %n = tensor.dim %x, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%n, %m) : tensor<?x?xbf16>
  %t = linalg.transpose ins(%x : tensor<?x?xbf16>) outs(%e : tensor<?x?xbf16>) permutation = [1, 0]
  return %t : tensor<?x?xbf16>
}

func.func @bytes(%x: tensor<8x100xi8>) -> tensor<100x8xi8> {
  %e = tensor.empty() : tensor<100x8xi8>
  %t = linalg.transpose ins(%x : tensor<8x100xi8>) outs(%e : tensor<100x8xi8>) permutation = [1, 0]
  return %t : tensor<100x8xi8>
}

func.func @read_by_loops(%x: tensor<8x100xf32>) -> tensor<100x8xf32> {
  %e = tensor.empty() : tensor<100x8xf32>
  %t = linalg.transpose ins(%x : tensor<8x100xf32>) outs(%e : tensor<100x8xf32>) permutation = [1, 0]
  %a = linalg.add ins(%t, %t : tensor<100x8xf32>, tensor<100x8xf32>) outs(%e : tensor<100x8xf32>) -> tensor<100x8xf32>
  return %a : tensor<100x8xf32>
}

func.func @nibbles(%x: tensor<8x100xf4E2M1FN>) -> tensor<100x8xf4E2M1FN> {
  %e = tensor.empty() : tensor<100x8xf4E2M1FN>
  %t = linalg.transpose ins(%x : tensor<8x100xf4E2M1FN>) outs(%e : tensor<100x8xf4E2M1FN>) permutation = [1, 0]
  return %t : tensor<100x8xf4E2M1FN>
}

func.func @batch(%x: tensor<3x8x100xf32>) -> tensor<3x100x8xf32> {
  %e = tensor.empty() : tensor<3x100x8xf32>
  %t = linalg.transpose ins(%x : tensor<3x8x100xf32>) outs(%e : tensor<3x100x8xf32>) permutation = [0, 2, 1]
  return %t : tensor<3x100x8xf32>
}

func.func @wide(%x: tensor<1x5000000xi8>) -> tensor<5000000x1xi8> {
  %e = tensor.empty() : tensor<5000000x1xi8>
  %t = linalg.transpose ins(%x : tensor<1x5000000xi8>) outs(%e : tensor<5000000x1xi8>) permutation = [1, 0]
  return %t : tensor<5000000x1xi8>
}

// Ops of unknown dialects, which have no dialect to ask.

func.func @unknown(%x: tensor<8x100xf32>) -> tensor<100x8xf32> {
  %e = tensor.empty() : tensor<100x8xf32>
  %t = linalg.transpose ins(%x : tensor<8x100xf32>) outs(%e : tensor<100x8xf32>) permutation = [1, 0]
  "unknown.op"(%t) : (tensor<100x8xf32>) -> ()
  return %t : tensor<100x8xf32>
}
