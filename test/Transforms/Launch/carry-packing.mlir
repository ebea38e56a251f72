// RUN: blockscale-opt %s --blockscale-carry-packing | FileCheck %s

// CHECK-LABEL: func @collapse(
// CHECK:         %[[B:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<4x8x16xi8> into tensor<4x128xi8>
// CHECK:         blockscale.unpack %[[B]] : tensor<4x128xi8> to tensor<4x256xf4E2M1FN>
func.func @collapse(%bytes: tensor<4x8x16xi8>) -> tensor<4x256xf4E2M1FN> {
  %x = blockscale.unpack %bytes : tensor<4x8x16xi8> to tensor<4x8x32xf4E2M1FN>
  %r = tensor.collapse_shape %x [[0], [1, 2]] : tensor<4x8x32xf4E2M1FN> into tensor<4x256xf4E2M1FN>
  return %r : tensor<4x256xf4E2M1FN>
}

// Dynamic rows stay whole.
// CHECK-LABEL: func @expand_dynamic(
// CHECK:         tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [%{{.*}}, %{{.*}}, %{{.*}}] : tensor<?x?xi8> into tensor<?x?x?xi8>
// CHECK:         blockscale.unpack %{{.*}} : tensor<?x?x?xi8> to tensor<?x?x?xf6E2M3FN>
func.func @expand_dynamic(%bytes: tensor<?x?xi8>, %a: index, %b: index, %k: index) -> tensor<?x?x?xf6E2M3FN> {
  %x = blockscale.unpack %bytes : tensor<?x?xi8> to tensor<?x?xf6E2M3FN>
  %r = tensor.expand_shape %x [[0, 1], [2]] output_shape [%a, %b, %k] : tensor<?x?xf6E2M3FN> into tensor<?x?x?xf6E2M3FN>
  return %r : tensor<?x?x?xf6E2M3FN>
}

// Rows of three elements do not end with a whole byte, and for dynamic rows that is not
// known.
// CHECK-LABEL: func @expand_odd(
// CHECK:         blockscale.unpack %{{.*}} : tensor<2x3xi8> to tensor<2x6xf4E2M1FN>
// CHECK:         tensor.expand_shape
func.func @expand_odd(%bytes: tensor<2x3xi8>) -> tensor<2x2x3xf4E2M1FN> {
  %x = blockscale.unpack %bytes : tensor<2x3xi8> to tensor<2x6xf4E2M1FN>
  %r = tensor.expand_shape %x [[0], [1, 2]] output_shape [2, 2, 3] : tensor<2x6xf4E2M1FN> into tensor<2x2x3xf4E2M1FN>
  return %r : tensor<2x2x3xf4E2M1FN>
}

// CHECK-LABEL: func @expand_unknown(
// CHECK:         blockscale.unpack %{{.*}} : tensor<?xi8> to tensor<?xf4E2M1FN>
// CHECK:         tensor.expand_shape
func.func @expand_unknown(%bytes: tensor<?xi8>, %a: index, %b: index) -> tensor<?x?xf4E2M1FN> {
  %x = blockscale.unpack %bytes : tensor<?xi8> to tensor<?xf4E2M1FN>
  %r = tensor.expand_shape %x [[0, 1]] output_shape [%a, %b] : tensor<?xf4E2M1FN> into tensor<?x?xf4E2M1FN>
  return %r : tensor<?x?xf4E2M1FN>
}

// CHECK-LABEL: func @slice(
// CHECK:         tensor.extract_slice %{{.*}}[1, 16] [4, 32] [2, 1] : tensor<9x64xi8> to tensor<4x32xi8>
// CHECK:         blockscale.unpack %{{.*}} : tensor<4x32xi8> to tensor<4x64xf4E2M1FN>
func.func @slice(%bytes: tensor<9x64xi8>) -> tensor<4x64xf4E2M1FN> {
  %x = blockscale.unpack %bytes : tensor<9x64xi8> to tensor<9x128xf4E2M1FN>
  %r = tensor.extract_slice %x[1, 32] [4, 64] [2, 1] : tensor<9x128xf4E2M1FN> to tensor<4x64xf4E2M1FN>
  return %r : tensor<4x64xf4E2M1FN>
}

// A slice that starts inside of a byte, one that skips elements, and one that has
// another last dimension.
// CHECK-LABEL: func @slices_of_elements(
// CHECK-COUNT-3: tensor.extract_slice %{{.*}} : tensor<9x128xf4E2M1FN>
func.func @slices_of_elements(%bytes: tensor<9x64xi8>) -> (tensor<9x64xf4E2M1FN>, tensor<9x64xf4E2M1FN>, tensor<9xf4E2M1FN>) {
  %x = blockscale.unpack %bytes : tensor<9x64xi8> to tensor<9x128xf4E2M1FN>
  %a = tensor.extract_slice %x[0, 1] [9, 64] [1, 1] : tensor<9x128xf4E2M1FN> to tensor<9x64xf4E2M1FN>
  %b = tensor.extract_slice %x[0, 0] [9, 64] [1, 2] : tensor<9x128xf4E2M1FN> to tensor<9x64xf4E2M1FN>
  %c = tensor.extract_slice %x[0, 0] [9, 1] [1, 1] : tensor<9x128xf4E2M1FN> to tensor<9xf4E2M1FN>
  return %a, %b, %c : tensor<9x64xf4E2M1FN>, tensor<9x64xf4E2M1FN>, tensor<9xf4E2M1FN>
}

// CHECK-LABEL: func @concat(
// CHECK:         tensor.concat dim(1) %{{.*}}, %{{.*}} : (tensor<3x16xi8>, tensor<3x8xi8>) -> tensor<3x24xi8>
// CHECK:         blockscale.unpack
func.func @concat(%a: tensor<3x16xi8>, %b: tensor<3x8xi8>) -> tensor<3x48xf4E2M1FN> {
  %x = blockscale.unpack %a : tensor<3x16xi8> to tensor<3x32xf4E2M1FN>
  %y = blockscale.unpack %b : tensor<3x8xi8> to tensor<3x16xf4E2M1FN>
  %r = tensor.concat dim(1) %x, %y : (tensor<3x32xf4E2M1FN>, tensor<3x16xf4E2M1FN>) -> tensor<3x48xf4E2M1FN>
  return %r : tensor<3x48xf4E2M1FN>
}

// Results are packed before they are reshaped.
// CHECK-LABEL: func @results(
// CHECK-SAME:      %[[X:.*]]: tensor<24x32xf4E2M1FN>, %[[Y:.*]]: tensor<3x4x8xf4E2M1FN>
// CHECK-DAG:     %[[P:.*]] = blockscale.pack %[[X]]
// CHECK-DAG:     %[[Q:.*]] = blockscale.pack %[[Y]]
// CHECK-DAG:     tensor.expand_shape %[[P]] {{\[\[}}0, 1], [2]] output_shape [3, 8, 16]
// CHECK-DAG:     tensor.collapse_shape %[[Q]] {{\[\[}}0], [1, 2]]
func.func @results(%x: tensor<24x32xf4E2M1FN>, %y: tensor<3x4x8xf4E2M1FN>) -> (tensor<3x8x16xi8>, tensor<3x16xi8>) {
  %a = tensor.expand_shape %x [[0, 1], [2]] output_shape [3, 8, 32] : tensor<24x32xf4E2M1FN> into tensor<3x8x32xf4E2M1FN>
  %b = tensor.collapse_shape %y [[0], [1, 2]] : tensor<3x4x8xf4E2M1FN> into tensor<3x32xf4E2M1FN>
  %p = blockscale.pack %a : tensor<3x8x32xf4E2M1FN> to tensor<3x8x16xi8>
  %q = blockscale.pack %b : tensor<3x32xf4E2M1FN> to tensor<3x16xi8>
  return %p, %q : tensor<3x8x16xi8>, tensor<3x16xi8>
}
