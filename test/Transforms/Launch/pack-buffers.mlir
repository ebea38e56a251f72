// Arguments and results as GPU buffers hold them.

// RUN: blockscale-opt %s --blockscale-pack-buffers -split-input-file | FileCheck %s

// The example of the pass' description.

// CHECK-LABEL: func @same(
// CHECK-SAME:    %[[BYTES:[a-z0-9]+]]: tensor<3x16xi8>) -> tensor<3x16xi8>
// CHECK-NEXT:    %[[X:.*]] = blockscale.unpack %[[BYTES]] : tensor<3x16xi8> to tensor<3x32xf4E2M1FN>
// CHECK-NEXT:    %[[R:.*]] = blockscale.pack %[[X]] : tensor<3x32xf4E2M1FN> to tensor<3x16xi8>
// CHECK-NEXT:    return %[[R]] : tensor<3x16xi8>
func.func @same(%x: tensor<3x32xf4E2M1FN>) -> tensor<3x32xf4E2M1FN> {
  return %x : tensor<3x32xf4E2M1FN>
}

// -----

// fp6 has a byte of its own without the attribute, and always in results.

// CHECK-LABEL: func @fp6(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3x32xf6E3M2FN>, %[[B:[a-z0-9]+]]: tensor<2x3x24xi8>)
// CHECK-SAME:    -> (tensor<2x3x32xf6E2M3FN>, tensor<2x3x32xf6E3M2FN>)
// CHECK-NEXT:    %[[Y:.*]] = blockscale.unpack %[[B]] : tensor<2x3x24xi8> to tensor<2x3x32xf6E2M3FN>
// CHECK-NEXT:    return %[[Y]], %[[A]]
func.func @fp6(%x: tensor<2x3x32xf6E3M2FN>,
               %y: tensor<2x3x32xf6E2M3FN> {blockscale.packed})
    -> (tensor<2x3x32xf6E2M3FN>, tensor<2x3x32xf6E3M2FN>) {
  return %y, %x : tensor<2x3x32xf6E2M3FN>, tensor<2x3x32xf6E3M2FN>
}

// -----

// CHECK-LABEL: func @wider(
// CHECK-SAME:    tensor<3x32xf8E4M3FN>, %{{.*}}: tensor<3x1xf8E8M0FNU>, %{{.*}}: tensor<?xf32>, %{{.*}}: index)
// CHECK-NEXT:    return
func.func @wider(%x: tensor<3x32xf8E4M3FN>, %sx: tensor<3x1xf8E8M0FNU>,
                 %c: tensor<?xf32>, %i: index) {
  return
}

// -----

// Other functions keep their types.

// CHECK-LABEL: func private @private(
// CHECK-SAME:    tensor<3x32xf4E2M1FN>) -> tensor<3x32xf4E2M1FN>
// CHECK-NEXT:    return
func.func private @private(%x: tensor<3x32xf4E2M1FN>)
    -> tensor<3x32xf4E2M1FN> {
  return %x : tensor<3x32xf4E2M1FN>
}

// -----

// Rows of a dynamic size have an attribute with the bits of an element; sizes are in bytes.

// CHECK-LABEL: func @dynamic(
// CHECK-SAME:    %{{.*}}: tensor<?x?xi8> {blockscale.code_bits = 4 : i64}, %{{.*}}: tensor<?x24xi8>)
// CHECK-SAME:    -> (tensor<?x?xi8>, tensor<?x32xf6E3M2FN>)
// CHECK-DAG:     %[[X:.*]] = blockscale.unpack %{{.*}} : tensor<?x?xi8> to tensor<?x?xf4E2M1FN>
// CHECK-DAG:     %[[Y:.*]] = blockscale.unpack %{{.*}} : tensor<?x24xi8> to tensor<?x32xf6E3M2FN>
// CHECK:         %[[R:.*]] = blockscale.pack %[[X]] : tensor<?x?xf4E2M1FN> to tensor<?x?xi8>
// CHECK:         return %[[R]], %[[Y]]
func.func @dynamic(%x: tensor<?x?xf4E2M1FN>,
                   %y: tensor<?x32xf6E3M2FN> {blockscale.packed})
    -> (tensor<?x?xf4E2M1FN>, tensor<?x32xf6E3M2FN>) {
  return %x, %y : tensor<?x?xf4E2M1FN>, tensor<?x32xf6E3M2FN>
}
