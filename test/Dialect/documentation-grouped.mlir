// The examples in the descriptions of grouped products, and of what comes before them.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-compile %s --target=cpu -o %t.ll

// CHECK-LABEL: func.func @experts(
// CHECK:         blockscale.grouped_mma_scaled %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} rows(%{{.*}} : tensor<?xi32>) : tensor<?x256xf8E4M3FN>
// CHECK-LABEL: func.func @plain_experts(
// CHECK:         blockscale.grouped_matmul %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} bias(%{{.*}} : tensor<4x64xf32>) : tensor<?x256xbf16>
// CHECK-LABEL: func.func @combine(
// CHECK:         blockscale.combine_rows %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<?x4xi32>, tensor<?x4xf32> to tensor<?x64xbf16>
// CHECK-LABEL: func.func @route(
// CHECK:         blockscale.route %{{.*}} {scoring = #blockscale.scoring<softmax_of_chosen>, top_k = 4 : i64} : tensor<?x128xbf16> to tensor<?x4xi32>, tensor<?x4xf32>
// CHECK-LABEL: func.func @sort(
// CHECK:         blockscale.sort_routes %{{.*}}, %{{.*}} : tensor<?x4xi32> to tensor<128xi32>, tensor<?xi32>, tensor<?x4xi32>
func.func @experts(%x: tensor<?x256xf8E4M3FN>, %xs: tensor<?x8xf8E8M0FNU>,
                   %y: tensor<4x256x64xf8E4M3FN>,
                   %ys: tensor<4x8x64xf8E8M0FNU>,
                   %offsets: tensor<4xi32>, %rows: tensor<?xi32>,
                   %acc: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %offsets, %acc
       rows(%rows : tensor<?xi32>)
       : tensor<?x256xf8E4M3FN>, tensor<?x8xf8E8M0FNU>,
         tensor<4x256x64xf8E4M3FN>, tensor<4x8x64xf8E8M0FNU>,
         tensor<4xi32>, tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

func.func @plain_experts(%x: tensor<?x256xbf16>, %y: tensor<4x256x64xbf16>,
                   %offsets: tensor<4xi32>, %acc: tensor<?x64xf32>,
                   %bias: tensor<4x64xf32>) -> tensor<?x64xf32> {
  %d = blockscale.grouped_matmul %x, %y, %offsets, %acc
       bias(%bias : tensor<4x64xf32>)
       : tensor<?x256xbf16>, tensor<4x256x64xbf16>, tensor<4xi32>,
         tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

func.func @combine(%source: tensor<?x64xf32>, %positions: tensor<?x4xi32>,
                   %weights: tensor<?x4xf32>) -> tensor<?x64xbf16> {
  %d = blockscale.combine_rows %source, %positions, %weights
       : tensor<?x64xf32>, tensor<?x4xi32>, tensor<?x4xf32>
       to tensor<?x64xbf16>
  return %d : tensor<?x64xbf16>
}

func.func @route(%logits: tensor<?x128xbf16>)
    -> (tensor<?x4xi32>, tensor<?x4xf32>) {
  %ids, %weights = blockscale.route %logits {
      top_k = 4 : i64, scoring = #blockscale.scoring<softmax_of_chosen>}
      : tensor<?x128xbf16> to tensor<?x4xi32>, tensor<?x4xf32>
  return %ids, %weights : tensor<?x4xi32>, tensor<?x4xf32>
}

func.func @sort(%ids: tensor<?x4xi32>)
    -> (tensor<128xi32>, tensor<?xi32>, tensor<?x4xi32>) {
  %groups = arith.constant 128 : index
  %offsets, %rows, %positions = blockscale.sort_routes %ids, %groups
      : tensor<?x4xi32> to tensor<128xi32>, tensor<?xi32>, tensor<?x4xi32>
  return %offsets, %rows, %positions
      : tensor<128xi32>, tensor<?xi32>, tensor<?x4xi32>
}

func.func @atoms(%scales: tensor<300x9xf8E8M0FNU>, %offsets: tensor<4xi32>)
    -> tensor<6x3x32x16xf8E8M0FNU> {
  %a = blockscale.swizzle_group_scales %scales, %offsets
       : tensor<300x9xf8E8M0FNU>, tensor<4xi32>
       to tensor<6x3x32x16xf8E8M0FNU>
  return %a : tensor<6x3x32x16xf8E8M0FNU>
}
