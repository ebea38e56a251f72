// Round trips of swizzle_scales and unswizzle_scales.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

//===----------------------------------------------------------------------===//
// swizzle_scales
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @swizzle_scales_rank_2(
// CHECK-SAME:    %[[SCALES:.*]]: tensor<300x9xf8E8M0FNU>)
// CHECK:         blockscale.swizzle_scales %[[SCALES]]
// CHECK-SAME:      : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
// GENERIC-LABEL: sym_name = "swizzle_scales_rank_2"
// GENERIC:         "blockscale.swizzle_scales"(%{{[a-z0-9]+}})
// GENERIC-SAME:      : (tensor<300x9xf8E8M0FNU>) -> tensor<3x3x32x16xf8E8M0FNU>
func.func @swizzle_scales_rank_2(%s: tensor<300x9xf8E8M0FNU>)
    -> tensor<3x3x32x16xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  return %t : tensor<3x3x32x16xf8E8M0FNU>
}

// CHECK-LABEL: func @swizzle_scales_rank_3_ue4m3(
// CHECK:         : tensor<5x128x8xf8E4M3FN> to tensor<5x1x2x32x16xf8E4M3FN>
func.func @swizzle_scales_rank_3_ue4m3(%s: tensor<5x128x8xf8E4M3FN>)
    -> tensor<5x1x2x32x16xf8E4M3FN> {
  %t = blockscale.swizzle_scales %s
       : tensor<5x128x8xf8E4M3FN> to tensor<5x1x2x32x16xf8E4M3FN>
  return %t : tensor<5x1x2x32x16xf8E4M3FN>
}

// CHECK-LABEL: func @swizzle_scales_vector(
// CHECK:         : vector<129x4xf8E8M0FNU> to vector<2x1x32x16xf8E8M0FNU>
func.func @swizzle_scales_vector(%s: vector<129x4xf8E8M0FNU>)
    -> vector<2x1x32x16xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s
       : vector<129x4xf8E8M0FNU> to vector<2x1x32x16xf8E8M0FNU>
  return %t : vector<2x1x32x16xf8E8M0FNU>
}

// CHECK-LABEL: func @swizzle_scales_vector_rank_3_ue4m3(
// CHECK:         : vector<2x1x5xf8E4M3FN> to vector<2x1x2x32x16xf8E4M3FN>
func.func @swizzle_scales_vector_rank_3_ue4m3(%s: vector<2x1x5xf8E4M3FN>)
    -> vector<2x1x2x32x16xf8E4M3FN> {
  %t = blockscale.swizzle_scales %s
       : vector<2x1x5xf8E4M3FN> to vector<2x1x2x32x16xf8E4M3FN>
  return %t : vector<2x1x2x32x16xf8E4M3FN>
}

// CHECK-LABEL: func @swizzle_scales_s3_smallest(
// CHECK:         : tensor<1x1xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
func.func @swizzle_scales_s3_smallest(%s: tensor<1x1xf8E8M0FNU>)
    -> tensor<1x1x32x16xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s
       : tensor<1x1xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  return %t : tensor<1x1x32x16xf8E8M0FNU>
}

// CHECK-LABEL: func @swizzle_scales_s2_whole_atoms_and_one_more(
// CHECK:         : tensor<128x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
// CHECK:         : tensor<129x5xf8E8M0FNU> to tensor<2x2x32x16xf8E8M0FNU>
func.func @swizzle_scales_s2_whole_atoms_and_one_more(
    %whole: tensor<128x4xf8E8M0FNU>, %more: tensor<129x5xf8E8M0FNU>)
    -> (tensor<1x1x32x16xf8E8M0FNU>, tensor<2x2x32x16xf8E8M0FNU>) {
  %0 = blockscale.swizzle_scales %whole
       : tensor<128x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  %1 = blockscale.swizzle_scales %more
       : tensor<129x5xf8E8M0FNU> to tensor<2x2x32x16xf8E8M0FNU>
  return %0, %1 : tensor<1x1x32x16xf8E8M0FNU>, tensor<2x2x32x16xf8E8M0FNU>
}

// CHECK-LABEL: func @swizzle_scales_dynamic(
// CHECK:         : tensor<?x?x?xf8E8M0FNU> to tensor<?x?x?x32x16xf8E8M0FNU>
func.func @swizzle_scales_dynamic(%s: tensor<?x?x?xf8E8M0FNU>)
    -> tensor<?x?x?x32x16xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s
       : tensor<?x?x?xf8E8M0FNU> to tensor<?x?x?x32x16xf8E8M0FNU>
  return %t : tensor<?x?x?x32x16xf8E8M0FNU>
}

// CHECK-LABEL: func @swizzle_scales_dynamic_in_part(
// CHECK:         : tensor<?x9xf8E8M0FNU> to tensor<?x3x32x16xf8E8M0FNU>
func.func @swizzle_scales_dynamic_in_part(%s: tensor<?x9xf8E8M0FNU>)
    -> tensor<?x3x32x16xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s
       : tensor<?x9xf8E8M0FNU> to tensor<?x3x32x16xf8E8M0FNU>
  return %t : tensor<?x3x32x16xf8E8M0FNU>
}

//===----------------------------------------------------------------------===//
// unswizzle_scales
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @unswizzle_scales_rank_2(
// CHECK-SAME:    %[[SWIZZLED:.*]]: tensor<3x3x32x16xf8E8M0FNU>)
// CHECK:         blockscale.unswizzle_scales %[[SWIZZLED]]
// CHECK-SAME:      : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
// GENERIC-LABEL: sym_name = "unswizzle_scales_rank_2"
// GENERIC:         "blockscale.unswizzle_scales"(%{{[a-z0-9]+}})
// GENERIC-SAME:      : (tensor<3x3x32x16xf8E8M0FNU>) -> tensor<300x9xf8E8M0FNU>
func.func @unswizzle_scales_rank_2(%t: tensor<3x3x32x16xf8E8M0FNU>)
    -> tensor<300x9xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return %s : tensor<300x9xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_scales_rank_3_ue4m3(
// CHECK:         : tensor<5x1x2x32x16xf8E4M3FN> to tensor<5x128x8xf8E4M3FN>
func.func @unswizzle_scales_rank_3_ue4m3(%t: tensor<5x1x2x32x16xf8E4M3FN>)
    -> tensor<5x128x8xf8E4M3FN> {
  %s = blockscale.unswizzle_scales %t
       : tensor<5x1x2x32x16xf8E4M3FN> to tensor<5x128x8xf8E4M3FN>
  return %s : tensor<5x128x8xf8E4M3FN>
}

// CHECK-LABEL: func @unswizzle_scales_vector(
// CHECK:         : vector<2x1x32x16xf8E8M0FNU> to vector<129x4xf8E8M0FNU>
func.func @unswizzle_scales_vector(%t: vector<2x1x32x16xf8E8M0FNU>)
    -> vector<129x4xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t
       : vector<2x1x32x16xf8E8M0FNU> to vector<129x4xf8E8M0FNU>
  return %s : vector<129x4xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_scales_vector_rank_3_ue4m3(
// CHECK:         : vector<2x1x2x32x16xf8E4M3FN> to vector<2x1x5xf8E4M3FN>
func.func @unswizzle_scales_vector_rank_3_ue4m3(%t: vector<2x1x2x32x16xf8E4M3FN>)
    -> vector<2x1x5xf8E4M3FN> {
  %s = blockscale.unswizzle_scales %t
       : vector<2x1x2x32x16xf8E4M3FN> to vector<2x1x5xf8E4M3FN>
  return %s : vector<2x1x5xf8E4M3FN>
}

// CHECK-LABEL: func @unswizzle_scales_u2_last_of_an_atom(
// CHECK:         : tensor<2x2x32x16xf8E8M0FNU> to tensor<129x5xf8E8M0FNU>
// CHECK:         : tensor<2x2x32x16xf8E8M0FNU> to tensor<256x8xf8E8M0FNU>
func.func @unswizzle_scales_u2_last_of_an_atom(
    %t: tensor<2x2x32x16xf8E8M0FNU>)
    -> (tensor<129x5xf8E8M0FNU>, tensor<256x8xf8E8M0FNU>) {
  %0 = blockscale.unswizzle_scales %t
       : tensor<2x2x32x16xf8E8M0FNU> to tensor<129x5xf8E8M0FNU>
  %1 = blockscale.unswizzle_scales %t
       : tensor<2x2x32x16xf8E8M0FNU> to tensor<256x8xf8E8M0FNU>
  return %0, %1 : tensor<129x5xf8E8M0FNU>, tensor<256x8xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_scales_u4_two_sizes(
// CHECK-SAME:    %[[SWIZZLED:.*]]: tensor<?x?x32x16xf8E8M0FNU>, %[[M:.*]]: index, %[[K_S:.*]]: index)
// CHECK:         blockscale.unswizzle_scales %[[SWIZZLED]] sizes(%[[M]], %[[K_S]])
// CHECK-SAME:      : tensor<?x?x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
func.func @unswizzle_scales_u4_two_sizes(%t: tensor<?x?x32x16xf8E8M0FNU>,
                                         %m: index, %k: index)
    -> tensor<?x?xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t sizes(%m, %k)
       : tensor<?x?x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return %s : tensor<?x?xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_scales_u4_three_sizes(
// CHECK-SAME:    %[[BATCH:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index, %[[K_S:[a-z0-9]+]]: index)
// CHECK:         sizes(%[[BATCH]], %[[M]], %[[K_S]])
// CHECK-SAME:      : tensor<?x?x?x32x16xf8E4M3FN> to tensor<?x?x?xf8E4M3FN>
func.func @unswizzle_scales_u4_three_sizes(%t: tensor<?x?x?x32x16xf8E4M3FN>,
                                           %b: index, %m: index, %k: index)
    -> tensor<?x?x?xf8E4M3FN> {
  %s = blockscale.unswizzle_scales %t sizes(%b, %m, %k)
       : tensor<?x?x?x32x16xf8E4M3FN> to tensor<?x?x?xf8E4M3FN>
  return %s : tensor<?x?x?xf8E4M3FN>
}

// CHECK-LABEL: func @unswizzle_scales_u4_one_size(
// CHECK-SAME:    %[[K_S:[a-z0-9]+]]: index)
// CHECK:         sizes(%[[K_S]])
// CHECK-SAME:      : tensor<1x?x32x16xf8E8M0FNU> to tensor<100x?xf8E8M0FNU>
func.func @unswizzle_scales_u4_one_size(%t: tensor<1x?x32x16xf8E8M0FNU>,
                                        %k: index)
    -> tensor<100x?xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t sizes(%k)
       : tensor<1x?x32x16xf8E8M0FNU> to tensor<100x?xf8E8M0FNU>
  return %s : tensor<100x?xf8E8M0FNU>
}

// The atoms are known, the sizes inside them are not; and the other way round.
// CHECK-LABEL: func @unswizzle_scales_u2_static_beside_dynamic(
// CHECK:         : tensor<2x3x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
// CHECK:         : tensor<?x?x32x16xf8E8M0FNU> to tensor<200x9xf8E8M0FNU>
func.func @unswizzle_scales_u2_static_beside_dynamic(
    %static: tensor<2x3x32x16xf8E8M0FNU>,
    %dynamic: tensor<?x?x32x16xf8E8M0FNU>, %m: index, %k: index)
    -> (tensor<?x?xf8E8M0FNU>, tensor<200x9xf8E8M0FNU>) {
  %0 = blockscale.unswizzle_scales %static sizes(%m, %k)
       : tensor<2x3x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  %1 = blockscale.unswizzle_scales %dynamic
       : tensor<?x?x32x16xf8E8M0FNU> to tensor<200x9xf8E8M0FNU>
  return %0, %1 : tensor<?x?xf8E8M0FNU>, tensor<200x9xf8E8M0FNU>
}
