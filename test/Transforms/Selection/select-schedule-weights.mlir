// If y of a mixed-input matmul is dequantized, either that happens
// in registers, or a remark says why not.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule 2>%t | FileCheck %s
// RUN: FileCheck %s --input-file=%t --check-prefix=REMARK
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule=no-workspace 2>&1 >/dev/null | FileCheck %s --check-prefix=NONE
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule 2>&1 | FileCheck %s --check-prefix=OTHER

// On other chips the path dequant_mma has all of them.

// OTHER-NOT: remark
// NONE: remark: y is dequantized first, to memory; for a y that is dequantized in registers, expected a workspace, at most 4096 rows, at least 1024 columns

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @one_row(
// CHECK:         linalg.matmul {{.*}}#blockscale.warp_specialized_schedule<tile = [64, 8, 1024], {{.*}} swap_ab = true{{.*}}, kernel = mixed_input>
// REMARK-NOT: remark
func.func @one_row(%x: tensor<1x8192xbf16>, %y: tensor<8192x8192xf4E2M1FN>, %ys: tensor<8192x512xf8E4M3FN>,
    %acc: tensor<1x8192xf32>) -> tensor<1x8192xf32> {
  %w = blockscale.dequantize %y, %ys : tensor<8192x8192xf4E2M1FN>, tensor<8192x512xf8E4M3FN> to tensor<8192x8192xbf16>
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : tensor<1x8192xbf16>, tensor<8192x8192xbf16>)
       outs(%acc : tensor<1x8192xf32>) -> tensor<1x8192xf32>
  return %d : tensor<1x8192xf32>
}

// CHECK-LABEL: func.func @many_rows(
// CHECK:         linalg.matmul {{.*}}#blockscale.warp_specialized_schedule<tile = [128, 256, 128], {{.*}} swap_ab = true, kernel = mixed_input>
func.func @many_rows(%x: tensor<4096x8192xbf16>, %y: tensor<8192x8192xf8E4M3FN>, %ys: tensor<8192x256xf8E8M0FNU>,
    %acc: tensor<4096x8192xf32>) -> tensor<4096x8192xf32> {
  %w = blockscale.dequantize %y, %ys : tensor<8192x8192xf8E4M3FN>, tensor<8192x256xf8E8M0FNU> to tensor<8192x8192xbf16>
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : tensor<4096x8192xbf16>, tensor<8192x8192xbf16>)
       outs(%acc : tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  return %d : tensor<4096x8192xf32>
}

// With few rows, matmuls that do not use wgmma dequantize in registers for mma.sync.

// CHECK-LABEL: func.func @few_rows(
// CHECK:         linalg.matmul {{.*}}#blockscale.instruction<dequant_mma, 16x8x64, bf16_packed, f16, e2m1, ue4m3, 4>{{.*}}#blockscale.multistage_schedule<
// OTHER-LABEL: func.func @few_rows(
// OTHER:         linalg.matmul {{.*}}#blockscale.instruction<dequant_mma, 16x8x64, bf16_packed, f16, e2m1, ue4m3, 4>{{.*}}blockscale.path = #blockscale.path<dequant_mma>
// REMARK-NOT: remark
func.func @few_rows(%x: tensor<64x256xf16>, %y: tensor<1024x256xf4E2M1FN>, %ys: tensor<1024x16xf8E4M3FN>, %g: f32,
    %acc: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %w = blockscale.dequantize %y, %ys tensor_scale(%g) : tensor<1024x256xf4E2M1FN>, tensor<1024x16xf8E4M3FN>, f32 to tensor<1024x256xf16>
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : tensor<64x256xf16>, tensor<1024x256xf16>)
       outs(%acc : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %d : tensor<64x1024xf32>
}

// CHECK-LABEL: func.func @few_columns(
// CHECK-NOT:     swap_ab
// REMARK: [[@LINE+4]]:8: remark: y is dequantized first, to memory; for a y that is dequantized in registers, expected a workspace, at most 4096 rows, at least 1024 columns (of more than 256 rows, 2^30 products) and a known K with rows of y of a multiple of 16 bytes
func.func @few_columns(%x: tensor<96x256xbf16>, %y: tensor<64x256xf8E4M3FN>, %ys: tensor<64x8xf8E8M0FNU>,
    %acc: tensor<96x64xf32>) -> tensor<96x64xf32> {
  %w = blockscale.dequantize %y, %ys : tensor<64x256xf8E4M3FN>, tensor<64x8xf8E8M0FNU> to tensor<64x256xbf16>
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : tensor<96x256xbf16>, tensor<64x256xbf16>)
       outs(%acc : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %d : tensor<96x64xf32>
}

// CHECK-LABEL: func.func @tensor_scale(
// CHECK:         linalg.matmul {{.*}}tile = [64, 96, 256], {{.*}}swap_ab = true, kernel = mixed_input>
// REMARK-NOT: expected a product
func.func @tensor_scale(%x: tensor<96x256xbf16>, %y: tensor<1024x256xf4E2M1FN>, %ys: tensor<1024x16xf8E4M3FN>, %g: f32,
    %acc: tensor<96x1024xf32>) -> tensor<96x1024xf32> {
  %w = blockscale.dequantize %y, %ys tensor_scale(%g) : tensor<1024x256xf4E2M1FN>, tensor<1024x16xf8E4M3FN>, f32 to tensor<1024x256xbf16>
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : tensor<96x256xbf16>, tensor<1024x256xbf16>)
       outs(%acc : tensor<96x1024xf32>) -> tensor<96x1024xf32>
  return %d : tensor<96x1024xf32>
}

// Alternatives for numbers of rows, and the dense kernel for others.

// CHECK-LABEL: func.func @dynamic(
// CHECK:         linalg.matmul {blockscale.alternatives = [#blockscale.alternative<most_rows = 8, most_ranges = 16, cost = 0, instruction = <wgmma, 64x8x16, unscaled, bf16, bf16, none, 0>, schedule = #blockscale.warp_specialized_schedule<tile = [64, 8, 1024], stages = {{[0-9]}}, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>>, #blockscale.alternative<most_rows = 16,
// CHECK-SAME:    #blockscale.alternative<most_rows = 4096, most_ranges = 1, cost = 1990, {{.*}}tile = [128, 256, 128]{{.*}}>, #blockscale.alternative<most_rows = 4096, most_ranges = 1, cost = 2070, {{.*}}tile = [128, 192, 128]{{.*}}>, {{.*}}cost = 2300, {{.*}}tile = [128, 128, 128]{{.*}}>],
// CHECK-SAME:    blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 64], stages = 4, accumulators = 1, persistent = true>}
// REMARK-NOT: expected a workspace
func.func @dynamic(%x: tensor<?x1024xbf16>, %y: tensor<1024x1024xf4E2M1FN>, %ys: tensor<1024x64xf8E4M3FN>,
    %acc: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %w = blockscale.dequantize %y, %ys : tensor<1024x1024xf4E2M1FN>, tensor<1024x64xf8E4M3FN> to tensor<1024x1024xbf16>
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : tensor<?x1024xbf16>, tensor<1024x1024xbf16>)
       outs(%acc : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %d : tensor<?x1024xf32>
}

// Elements that are contiguous along N.

// CHECK-LABEL: func.func @along_n(
// CHECK-NOT:     swap_ab
// OTHER-LABEL: func.func @along_n(
// OTHER:         #blockscale.instruction<dequant_mma, 16x8x32, bf16, bf16, e4m3, ue8m0, 1>
// REMARK: expected a y that is an argument, and contiguous along K
func.func @along_n(%x: tensor<96x256xbf16>, %y: tensor<256x1024xf8E4M3FN>, %ys: tensor<1024x8xf8E8M0FNU>,
    %acc: tensor<96x1024xf32>) -> tensor<96x1024xf32> {
  %e = tensor.empty() : tensor<1024x256xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<256x1024xf8E4M3FN>) outs(%e : tensor<1024x256xf8E4M3FN>) permutation = [1, 0]
  %w = blockscale.dequantize %t, %ys : tensor<1024x256xf8E4M3FN>, tensor<1024x8xf8E8M0FNU> to tensor<1024x256xbf16>
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : tensor<96x256xbf16>, tensor<1024x256xbf16>)
       outs(%acc : tensor<96x1024xf32>) -> tensor<96x1024xf32>
  return %d : tensor<96x1024xf32>
}

// No remark for vectors and memory: no path supports these.

// REMARK-NOT: remark
func.func @vectors(%x: vector<16x64xbf16>, %y: vector<8x64xf8E4M3FN>, %ys: vector<8x2xf8E8M0FNU>) -> vector<8x64xbf16> {
  %w = blockscale.dequantize %y, %ys : vector<8x64xf8E4M3FN>, vector<8x2xf8E8M0FNU> to vector<8x64xbf16>
  return %w : vector<8x64xbf16>
}
func.func @memory(%x: memref<16x64xbf16>, %y: memref<64x8xbf16>, %acc: memref<16x8xf32>) {
  linalg.matmul ins(%x, %y : memref<16x64xbf16>, memref<64x8xbf16>) outs(%acc : memref<16x8xf32>)
  return
}
