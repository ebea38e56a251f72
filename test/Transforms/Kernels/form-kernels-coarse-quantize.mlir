// Kernels of quantize and dequantize with coarse scales: one if threads that
// share a block find its largest magnitude, two if a block is much of x.

// RUN: blockscale-opt %s --split-input-file --blockscale-attach-target=target=sm_90a --blockscale-form-kernels | FileCheck %s

// Lanes of consecutive values, which are loaded before they are needed.
// CHECK-LABEL: func.func @vectors(
// CHECK:         blockscale.launch @kernels::@vectors__quantize blocks = [256, 7, 1] threads = [128, 1, 1]
// CHECK-SAME:      -> tensor<1024x7168xf8E4M3FN>, tensor<1024x56xf32>
// CHECK-LABEL: gpu.func @vectors__quantize(
// CHECK-COUNT-4: vector.load %{{.*}} : memref<1024x7168xbf16>, vector<8xbf16>
// CHECK:         gpu.shuffle xor
// CHECK:         memref.store %{{.*}} : memref<1024x56xf32>
func.func @vectors(%x: tensor<1024x7168xbf16>)
    -> (tensor<1024x7168xf8E4M3FN>, tensor<1024x56xf32>) {
  %c, %s = blockscale.quantize %x
      {scale_block = #blockscale.scale_block<rows = 1, k = 128>}
      : tensor<1024x7168xbf16>
      to tensor<1024x7168xf8E4M3FN>, tensor<1024x56xf32>
  return %c, %s : tensor<1024x7168xf8E4M3FN>, tensor<1024x56xf32>
}

// -----

// A block of threads for each row, whose values stay in registers.
// CHECK-LABEL: func.func @rows(
// CHECK:         blockscale.launch @kernels::@rows__quantize blocks = [1024, 1, 1] threads = [256, 1, 1]
// CHECK-LABEL: gpu.func @rows__quantize(
// CHECK-NOT:     scf.for
// CHECK-COUNT-4: vector.load %{{.*}} : memref<1024x7168xbf16>, vector<8xbf16>
// CHECK-NOT:     vector.load
// CHECK:         gpu.barrier
// CHECK-NOT:     vector.load
// CHECK:         gpu.return
func.func @rows(%x: tensor<1024x7168xbf16>)
    -> (tensor<1024x7168xf8E4M3FN>, tensor<1024x1xf32>) {
  %c, %s = blockscale.quantize %x
      {scale_block = #blockscale.scale_block<rows = 1, k = all>}
      : tensor<1024x7168xbf16>
      to tensor<1024x7168xf8E4M3FN>, tensor<1024x1xf32>
  return %c, %s : tensor<1024x7168xf8E4M3FN>, tensor<1024x1xf32>
}

// -----

// Nobody knows whether rows start at a multiple of 16 bytes.
// CHECK-LABEL: gpu.func @dynamic__quantize(
// CHECK-NOT:     vector.load
// CHECK:         memref.load %{{.*}} : memref<?x?xbf16>
// CHECK:         gpu.shuffle xor
func.func @dynamic(%x: tensor<?x?xbf16>)
    -> (tensor<?x?xf8E4M3FN>, tensor<?x?xf32>) {
  %c, %s = blockscale.quantize %x
      {scale_block = #blockscale.scale_block<rows = 1, k = 128>}
      : tensor<?x?xbf16> to tensor<?x?xf8E4M3FN>, tensor<?x?xf32>
  return %c, %s : tensor<?x?xf8E4M3FN>, tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func @square(
// CHECK:         blockscale.launch @kernels::@square__quantize blocks = [2, 3, 1] threads = [256, 1, 1]
// CHECK-NOT:     blockscale.launch
// CHECK-LABEL: gpu.func @square__quantize(
// CHECK-NOT:     llvm.atomicrmw
func.func @square(%x: tensor<200x320xbf16>)
    -> (tensor<200x320xf8E4M3FN>, tensor<2x3xf32>) {
  %c, %s = blockscale.quantize %x
      {scale_block = #blockscale.scale_block<rows = 128, k = 128>}
      : tensor<200x320xbf16> to tensor<200x320xf8E4M3FN>, tensor<2x3xf32>
  return %c, %s : tensor<200x320xf8E4M3FN>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @tensor(
// CHECK:         %[[START:.*]] = linalg.fill {{.*}} -> tensor<1x1xf32>
// CHECK:         %[[MOST:.*]] = blockscale.launch @kernels::@[[FIND:.*]] blocks = [2, 3, 1] {{.*}} updates outs(%[[START]] : tensor<1x1xf32>)
// CHECK:         blockscale.launch @kernels::@[[QUANTIZE:.*]] blocks = [2, 3, 1] {{.*}} ins(%{{.*}}, %[[MOST]] : {{.*}})
// CHECK:       gpu.func @[[FIND]](
// CHECK:         llvm.atomicrmw umax
// CHECK:       gpu.func @[[QUANTIZE]](
// CHECK-NOT:     llvm.atomicrmw
func.func @tensor(%x: tensor<200x320xbf16>)
    -> (tensor<200x320xf8E4M3FN>, tensor<1x1xf32>) {
  %c, %s = blockscale.quantize %x
      {scale_block = #blockscale.scale_block<rows = all, k = all>}
      : tensor<200x320xbf16> to tensor<200x320xf8E4M3FN>, tensor<1x1xf32>
  return %c, %s : tensor<200x320xf8E4M3FN>, tensor<1x1xf32>
}

// -----

// CHECK-LABEL: gpu.func @values__dequantize(
// CHECK:         memref.load %{{.*}} : memref<2x3xf32>
// CHECK:         vector.store %{{.*}} : memref<200x320xbf16>, vector<8xbf16>
func.func @values(%c: tensor<200x320xf8E4M3FN>, %s: tensor<2x3xf32>)
    -> tensor<200x320xbf16> {
  %x = blockscale.dequantize %c, %s
      {scale_block = #blockscale.scale_block<rows = 128, k = 128>}
      : tensor<200x320xf8E4M3FN>, tensor<2x3xf32> to tensor<200x320xbf16>
  return %x : tensor<200x320xbf16>
}
