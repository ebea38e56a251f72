// How codes are decoded to f64: fields are shifted to their position in f64, subnormals are
// multiplied, special codes and the sign are selected.

// RUN: blockscale-opt %s --blockscale-decompose --split-input-file | FileCheck %s

// e4m3 with e8m0 scales. 127 is the magnitude mask and the NaN; 49 = 52 - 3 is
// the shift of 3 bits of mantissa; 4575657221408423936 = (1023 - 7) << 52
// changes the bias; 0.001953125 = 2^-9 is the smallest subnormal.

// CHECK-LABEL: func @e4m3_e8m0(
// CHECK-DAG:     %[[TO_E8M0_BIAS:.*]] = arith.constant 4035225266123964416 : i64
// CHECK-DAG:     %[[MANTISSA_0:.*]] = arith.constant 52 : i64
// CHECK-DAG:     %[[E8M0_MASK:.*]] = arith.constant 255 : i64
// CHECK-DAG:     %[[SIGN:.*]] = arith.constant 128 : i64
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG:     %[[NAN:.*]] = arith.constant 0x7FF8000000000000 : f64
// CHECK-DAG:     %[[NORMAL:.*]] = arith.constant 8 : i64
// CHECK-DAG:     %[[SMALLEST:.*]] = arith.constant 0.001953125 : f64
// CHECK-DAG:     %[[TO_E4M3_BIAS:.*]] = arith.constant 4575657221408423936 : i64
// CHECK-DAG:     %[[MANTISSA_3:.*]] = arith.constant 49 : i64
// CHECK-DAG:     %[[E4M3_MASK:.*]] = arith.constant 127 : i64
// CHECK:         ^bb0(%[[X:.*]]: f8E4M3FN, %[[X_SCALE:.*]]: f8E8M0FNU, %{{.*}}: f64):
// CHECK-NEXT:      %[[CODE:.*]] = arith.bitcast %[[X]] : f8E4M3FN to i8
// CHECK-NEXT:      %[[WIDE:.*]] = arith.extui %[[CODE]] : i8 to i64
// CHECK-NEXT:      %[[MAGNITUDE:.*]] = arith.andi %[[WIDE]], %[[E4M3_MASK]]
// CHECK-NEXT:      %[[MOVED:.*]] = arith.shli %[[MAGNITUDE]], %[[MANTISSA_3]]
// CHECK-NEXT:      %[[BITS:.*]] = arith.addi %[[MOVED]], %[[TO_E4M3_BIAS]]
// CHECK-NEXT:      %[[AS_NORMAL:.*]] = arith.bitcast %[[BITS]] : i64 to f64
// CHECK-NEXT:      %[[INTEGER:.*]] = arith.uitofp %[[MAGNITUDE]]
// CHECK-NEXT:      %[[AS_SUBNORMAL:.*]] = arith.mulf %[[INTEGER]], %[[SMALLEST]]
// CHECK-NEXT:      %[[IS_SUBNORMAL:.*]] = arith.cmpi ult, %[[MAGNITUDE]], %[[NORMAL]]
// CHECK-NEXT:      %[[FINITE:.*]] = arith.select %[[IS_SUBNORMAL]], %[[AS_SUBNORMAL]], %[[AS_NORMAL]]
// CHECK-NEXT:      %[[IS_NAN:.*]] = arith.cmpi eq, %[[MAGNITUDE]], %[[E4M3_MASK]]
// CHECK-NEXT:      %[[UNSIGNED:.*]] = arith.select %[[IS_NAN]], %[[NAN]], %[[FINITE]]
// CHECK-NEXT:      %[[SIGN_BIT:.*]] = arith.andi %[[WIDE]], %[[SIGN]]
// CHECK-NEXT:      %[[IS_NEGATIVE:.*]] = arith.cmpi ne, %[[SIGN_BIT]], %[[ZERO]]
// CHECK-NEXT:      %[[NEGATIVE:.*]] = arith.negf %[[UNSIGNED]]
// CHECK-NEXT:      %[[ELEMENT:.*]] = arith.select %[[IS_NEGATIVE]], %[[NEGATIVE]], %[[UNSIGNED]]
//
// e8m0 has neither sign nor zero nor subnormals: 0x00 is 2^-127, 0xFF is NaN.
//
// CHECK-NEXT:      %[[SCALE_CODE:.*]] = arith.bitcast %[[X_SCALE]] : f8E8M0FNU to i8
// CHECK-NEXT:      %[[SCALE_WIDE:.*]] = arith.extui %[[SCALE_CODE]] : i8 to i64
// CHECK-NEXT:      %[[EXPONENT:.*]] = arith.andi %[[SCALE_WIDE]], %[[E8M0_MASK]]
// CHECK-NEXT:      %[[SCALE_MOVED:.*]] = arith.shli %[[EXPONENT]], %[[MANTISSA_0]]
// CHECK-NEXT:      %[[SCALE_BITS:.*]] = arith.addi %[[SCALE_MOVED]], %[[TO_E8M0_BIAS]]
// CHECK-NEXT:      %[[POWER:.*]] = arith.bitcast %[[SCALE_BITS]] : i64 to f64
// CHECK-NEXT:      %[[SCALE_IS_NAN:.*]] = arith.cmpi eq, %[[EXPONENT]], %[[E8M0_MASK]]
// CHECK-NEXT:      %[[SCALE:.*]] = arith.select %[[SCALE_IS_NAN]], %[[NAN]], %[[POWER]]
// CHECK-NEXT:      %[[PRODUCT:.*]] = arith.mulf %[[ELEMENT]], %[[SCALE]] : f64
// CHECK-NEXT:      linalg.yield %[[PRODUCT]]
func.func @e4m3_e8m0(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E4M3FN>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// e5m2 has infinities: 124 is infinity, and larger magnitudes are NaN; both keep
// their mantissa under f64's largest exponent.

// CHECK-LABEL: func @e5m2(
// CHECK-DAG:     %[[MANTISSA_2:.*]] = arith.constant 50 : i64
// CHECK-DAG:     %[[MASK:.*]] = arith.constant 127 : i64
// CHECK-DAG:     %[[INFINITY:.*]] = arith.constant 124 : i64
// CHECK-DAG:     %[[F64_INFINITY:.*]] = arith.constant 9218868437227405312 : i64
// CHECK:         ^bb0(%[[X:.*]]: f8E5M2, %{{.*}}: f8E8M0FNU, %{{.*}}: f64):
// CHECK:           %[[CODE:.*]] = arith.bitcast %[[X]] : f8E5M2 to i8
// CHECK:           %[[WIDE:.*]] = arith.extui %[[CODE]]
// CHECK:           %[[MAGNITUDE:.*]] = arith.andi %[[WIDE]], %[[MASK]]
// CHECK:           %[[MOVED:.*]] = arith.shli %[[MAGNITUDE]], %[[MANTISSA_2]]
// CHECK:           %[[FINITE:.*]] = arith.select
// CHECK-NEXT:      %[[SPECIAL_BITS:.*]] = arith.ori %[[MOVED]], %[[F64_INFINITY]]
// CHECK-NEXT:      %[[SPECIAL:.*]] = arith.bitcast %[[SPECIAL_BITS]] : i64 to f64
// CHECK-NEXT:      %[[IS_SPECIAL:.*]] = arith.cmpi uge, %[[MAGNITUDE]], %[[INFINITY]]
// CHECK-NEXT:      arith.select %[[IS_SPECIAL]], %[[SPECIAL]], %[[FINITE]]
func.func @e5m2(
    %x: tensor<16x64xf8E5M2>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// fp6 has no special codes. Its sign is bit 5.

// CHECK-LABEL: func @e3m2_e2m3(
// CHECK-DAG:     %[[SIGN:.*]] = arith.constant 32 : i64
// CHECK-DAG:     %[[MASK:.*]] = arith.constant 31 : i64
// CHECK-DAG:     %[[E3M2_SHIFT:.*]] = arith.constant 50 : i64
// CHECK-DAG:     %[[E3M2_SMALLEST:.*]] = arith.constant 6.250000e-02 : f64
// CHECK-DAG:     %[[E2M3_SHIFT:.*]] = arith.constant 49 : i64
// CHECK-DAG:     %[[E2M3_SMALLEST:.*]] = arith.constant 1.250000e-01 : f64
// CHECK:         ^bb0(%[[X:.*]]: f6E3M2FN, %{{.*}}: f8E8M0FNU, %{{.*}}: f64):
// CHECK-NEXT:      %[[X_CODE:.*]] = arith.bitcast %[[X]] : f6E3M2FN to i6
// CHECK-NEXT:      %[[X_WIDE:.*]] = arith.extui %[[X_CODE]] : i6 to i64
// CHECK-NEXT:      %[[X_MAGNITUDE:.*]] = arith.andi %[[X_WIDE]], %[[MASK]]
// CHECK-NEXT:      arith.shli %[[X_MAGNITUDE]], %[[E3M2_SHIFT]]
// CHECK:           arith.mulf %{{.*}}, %[[E3M2_SMALLEST]]
// CHECK:           %[[X_VALUE:.*]] = arith.select
// CHECK-NEXT:      arith.andi %[[X_WIDE]], %[[SIGN]]
// CHECK:           arith.negf %[[X_VALUE]]
// CHECK:         ^bb0(%[[Y:.*]]: f6E2M3FN, %{{.*}}: f8E8M0FNU, %{{.*}}: f64):
// CHECK-NEXT:      arith.bitcast %[[Y]] : f6E2M3FN to i6
// CHECK:           arith.shli %{{.*}}, %[[E2M3_SHIFT]]
// CHECK:           arith.mulf %{{.*}}, %[[E2M3_SMALLEST]]
func.func @e3m2_e2m3(
    %x: tensor<16x64xf6E3M2FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf6E2M3FN>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf6E3M2FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// A scale of e4m3 is read as ue4m3: bit 7 is masked and not used.

// CHECK-LABEL: func @e2m1_ue4m3(
// CHECK-DAG:     %[[E4M3_MASK:.*]] = arith.constant 127 : i64
// CHECK-DAG:     %[[E2M1_SIGN:.*]] = arith.constant 8 : i64
// CHECK-DAG:     %[[E2M1_MASK:.*]] = arith.constant 7 : i64
// CHECK-DAG:     %[[E2M1_SMALLEST:.*]] = arith.constant 5.000000e-01 : f64
// CHECK-NOT:     arith.constant 128
// CHECK:         ^bb0(%[[X:.*]]: f4E2M1FN, %[[X_SCALE:.*]]: f8E4M3FN, %{{.*}}: f64):
// CHECK:           arith.bitcast %[[X]] : f4E2M1FN to i4
// CHECK:           arith.andi %{{.*}}, %[[E2M1_MASK]]
// CHECK:           arith.mulf %{{.*}}, %[[E2M1_SMALLEST]]
// CHECK:           arith.andi %{{.*}}, %[[E2M1_SIGN]]
// CHECK:           %[[CODE:.*]] = arith.bitcast %[[X_SCALE]] : f8E4M3FN to i8
// CHECK:           %[[WIDE:.*]] = arith.extui %[[CODE]] : i8 to i64
// CHECK:           %[[MAGNITUDE:.*]] = arith.andi %[[WIDE]], %[[E4M3_MASK]]
// CHECK-NOT:       %[[WIDE]]
// CHECK-NOT:       arith.negf
// CHECK:           linalg.yield
func.func @e2m1_ue4m3(
    %x: tensor<16x64xf4E2M1FN>, %x_scale: tensor<16x4xf8E4M3FN>,
    %y: tensor<64x8xf4E2M1FN>, %y_scale: tensor<4x8xf8E4M3FN>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>,
         tensor<64x8xf4E2M1FN>, tensor<4x8xf8E4M3FN>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
