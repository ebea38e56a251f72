// Every constraint of mma_scaled, violated in every way.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// (C1) One kind of operands
//===----------------------------------------------------------------------===//

func.func @mma_scaled_c1_scale_is_vector(%x: tensor<16x64xf8E4M3FN>,
                                         %x_scale: vector<16x2xf8E8M0FNU>,
                                         %y: tensor<64x8xf8E5M2>,
                                         %y_scale: tensor<2x8xf8E8M0FNU>,
                                         %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected all operands to be tensors or all to be vectors, got 'tensor<16x64xf8E4M3FN>' and 'vector<16x2xf8E8M0FNU>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, vector<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c1_acc_is_vector(%x: tensor<16x64xf8E4M3FN>,
                                       %x_scale: tensor<16x2xf8E8M0FNU>,
                                       %y: tensor<64x8xf8E5M2>,
                                       %y_scale: tensor<2x8xf8E8M0FNU>,
                                       %acc: vector<16x8xf32>)
    -> vector<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected all operands to be tensors or all to be vectors, got 'tensor<16x64xf8E4M3FN>' and 'vector<16x8xf32>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// -----

func.func @mma_scaled_c1_acc_is_tensor(%x: vector<16x64xf8E4M3FN>,
                                       %x_scale: vector<16x2xf8E8M0FNU>,
                                       %y: vector<64x8xf8E5M2>,
                                       %y_scale: vector<2x8xf8E8M0FNU>,
                                       %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected all operands to be tensors or all to be vectors, got 'vector<16x64xf8E4M3FN>' and 'tensor<16x8xf32>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : vector<16x64xf8E4M3FN>, vector<16x2xf8E8M0FNU>, vector<64x8xf8E5M2>,
         vector<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c1_x_with_encoding(%x: tensor<16x64xf8E4M3FN, "blocked">,
                                         %x_scale: tensor<16x2xf8E8M0FNU>,
                                         %y: tensor<64x8xf8E5M2>,
                                         %y_scale: tensor<2x8xf8E8M0FNU>,
                                         %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected tensors without encoding, got 'tensor<16x64xf8E4M3FN, "blocked">'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN, "blocked">, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c1_acc_with_encoding(%x: tensor<16x64xf8E4M3FN>,
                                           %x_scale: tensor<16x2xf8E8M0FNU>,
                                           %y: tensor<64x8xf8E5M2>,
                                           %y_scale: tensor<2x8xf8E8M0FNU>,
                                           %acc: tensor<16x8xf32, 1>)
    -> tensor<16x8xf32, 1> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected tensors without encoding, got 'tensor<16x8xf32, 1 : i64>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32, 1>
  return %d : tensor<16x8xf32, 1>
}

// -----

func.func @mma_scaled_c1_x_unranked(%x: tensor<*xf8E4M3FN>,
                                    %x_scale: tensor<16x2xf8E8M0FNU>,
                                    %y: tensor<64x8xf8E5M2>,
                                    %y_scale: tensor<2x8xf8E8M0FNU>,
                                    %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x to be a ranked tensor or a fixed-size vector of f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN, of rank 2 or 3, got 'tensor<*xf8E4M3FN>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<*xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c1_acc_unranked(%x: tensor<16x64xf8E4M3FN>,
                                      %x_scale: tensor<16x2xf8E8M0FNU>,
                                      %y: tensor<64x8xf8E5M2>,
                                      %y_scale: tensor<2x8xf8E8M0FNU>,
                                      %acc: tensor<*xf32>)
    -> tensor<*xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to be a ranked tensor or a fixed-size vector of f32, of rank 2 or 3, got 'tensor<*xf32>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<*xf32>
  return %d : tensor<*xf32>
}

// -----

func.func @mma_scaled_c1_y_memref(%x: tensor<16x64xf8E4M3FN>,
                                  %x_scale: tensor<16x2xf8E8M0FNU>,
                                  %y: memref<64x8xf8E5M2>,
                                  %y_scale: tensor<2x8xf8E8M0FNU>,
                                  %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y to be a ranked tensor or a fixed-size vector of f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN, of rank 2 or 3, got 'memref<64x8xf8E5M2>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, memref<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c1_x_scalar(%x: f8E4M3FN,
                                  %x_scale: tensor<16x2xf8E8M0FNU>,
                                  %y: tensor<64x8xf8E5M2>,
                                  %y_scale: tensor<2x8xf8E8M0FNU>,
                                  %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x to be a ranked tensor or a fixed-size vector of f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN, of rank 2 or 3, got 'f8E4M3FN'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : f8E4M3FN, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c1_scalable_vector(%x: vector<[16]x64xf8E4M3FN>,
                                         %x_scale: vector<16x2xf8E8M0FNU>,
                                         %y: vector<64x8xf8E5M2>,
                                         %y_scale: vector<2x8xf8E8M0FNU>,
                                         %acc: vector<16x8xf32>)
    -> vector<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x to be a ranked tensor or a fixed-size vector of f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN, of rank 2 or 3, got 'vector<[16]x64xf8E4M3FN>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : vector<[16]x64xf8E4M3FN>, vector<16x2xf8E8M0FNU>, vector<64x8xf8E5M2>,
         vector<2x8xf8E8M0FNU>, vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// (C2) Ranks
//===----------------------------------------------------------------------===//

func.func @mma_scaled_c2_x_rank_1(%x: tensor<64xf8E4M3FN>,
                                  %x_scale: tensor<16x2xf8E8M0FNU>,
                                  %y: tensor<64x8xf8E5M2>,
                                  %y_scale: tensor<2x8xf8E8M0FNU>,
                                  %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x to be a ranked tensor or a fixed-size vector of f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN, of rank 2 or 3, got 'tensor<64xf8E4M3FN>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c2_x_rank_4(%x: tensor<2x3x16x64xf8E4M3FN>,
                                  %x_scale: tensor<16x2xf8E8M0FNU>,
                                  %y: tensor<64x8xf8E5M2>,
                                  %y_scale: tensor<2x8xf8E8M0FNU>,
                                  %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x to be a ranked tensor or a fixed-size vector of f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN, of rank 2 or 3, got 'tensor<2x3x16x64xf8E4M3FN>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<2x3x16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c2_y_scale_rank_1(%x: tensor<16x64xf8E4M3FN>,
                                        %x_scale: tensor<16x2xf8E8M0FNU>,
                                        %y: tensor<64x8xf8E5M2>,
                                        %y_scale: vector<8xf8E8M0FNU>,
                                        %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y_scale to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3, got 'vector<8xf8E8M0FNU>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         vector<8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c2_acc_rank_4(%x: tensor<16x64xf8E4M3FN>,
                                    %x_scale: tensor<16x2xf8E8M0FNU>,
                                    %y: tensor<64x8xf8E5M2>,
                                    %y_scale: tensor<2x8xf8E8M0FNU>,
                                    %acc: tensor<1x1x16x8xf32>)
    -> tensor<1x1x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to be a ranked tensor or a fixed-size vector of f32, of rank 2 or 3, got 'tensor<1x1x16x8xf32>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<1x1x16x8xf32>
  return %d : tensor<1x1x16x8xf32>
}

// -----

func.func @mma_scaled_c2_x_scale_without_batch(%x: tensor<3x16x64xf8E4M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf8E5M2>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have rank 3, as x has, got rank 2}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<3x16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// -----

func.func @mma_scaled_c2_x_scale_with_batch(%x: tensor<16x64xf8E4M3FN>,
                                            %x_scale: tensor<1x16x2xf8E8M0FNU>,
                                            %y: tensor<64x8xf8E5M2>,
                                            %y_scale: tensor<2x8xf8E8M0FNU>,
                                            %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have rank 2, as x has, got rank 3}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c2_y_scale_without_batch(%x: tensor<16x64xf8E4M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<3x64x8xf8E5M2>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y_scale to have rank 3, as y has, got rank 2}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// -----

func.func @mma_scaled_c2_y_scale_with_batch(%x: tensor<16x64xf8E4M3FN>,
                                            %x_scale: tensor<16x2xf8E8M0FNU>,
                                            %y: tensor<64x8xf8E5M2>,
                                            %y_scale: tensor<1x2x8xf8E8M0FNU>,
                                            %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y_scale to have rank 2, as y has, got rank 3}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<1x2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c2_acc_without_batch(%x: tensor<1x16x64xf8E4M3FN>,
                                           %x_scale: tensor<1x16x2xf8E8M0FNU>,
                                           %y: tensor<64x8xf8E5M2>,
                                           %y_scale: tensor<2x8xf8E8M0FNU>,
                                           %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have rank 3, the larger one of x and y, got rank 2}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c2_acc_with_batch(%x: tensor<16x64xf8E4M3FN>,
                                        %x_scale: tensor<16x2xf8E8M0FNU>,
                                        %y: tensor<64x8xf8E5M2>,
                                        %y_scale: tensor<2x8xf8E8M0FNU>,
                                        %acc: tensor<1x16x8xf32>)
    -> tensor<1x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have rank 2, the larger one of x and y, got rank 3}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<1x16x8xf32>
  return %d : tensor<1x16x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// (C3) Scales of their operand
//===----------------------------------------------------------------------===//

func.func @mma_scaled_c3_x_scale_m(%x: tensor<16x64xf8E4M3FN>,
                                   %x_scale: tensor<17x2xf8E8M0FNU>,
                                   %y: tensor<64x8xf8E5M2>,
                                   %y_scale: tensor<2x8xf8E8M0FNU>,
                                   %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have the M of x, 16, got 17 ('tensor<17x2xf8E8M0FNU>' with 'tensor<16x64xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<17x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c3_x_scale_transposed(%x: tensor<16x128xf8E4M3FN>,
                                            %x_scale: tensor<4x16xf8E8M0FNU>,
                                            %y: tensor<128x8xf8E5M2>,
                                            %y_scale: tensor<4x8xf8E8M0FNU>,
                                            %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have the M of x, 16, got 4 ('tensor<4x16xf8E8M0FNU>' with 'tensor<16x128xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x128xf8E4M3FN>, tensor<4x16xf8E8M0FNU>, tensor<128x8xf8E5M2>,
         tensor<4x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c3_x_scale_batch(%x: tensor<3x16x64xf8E4M3FN>,
                                       %x_scale: tensor<1x16x2xf8E8M0FNU>,
                                       %y: tensor<1x64x8xf8E5M2>,
                                       %y_scale: tensor<1x2x8xf8E8M0FNU>,
                                       %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have the batch of x, 3, got 1 ('tensor<1x16x2xf8E8M0FNU>' with 'tensor<3x16x64xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<3x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>, tensor<1x64x8xf8E5M2>,
         tensor<1x2x8xf8E8M0FNU>, tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// -----

func.func @mma_scaled_c3_y_scale_n(%x: tensor<16x64xf8E4M3FN>,
                                   %x_scale: tensor<16x2xf8E8M0FNU>,
                                   %y: tensor<64x8xf8E5M2>,
                                   %y_scale: tensor<2x9xf8E8M0FNU>,
                                   %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y_scale to have the N of y, 8, got 9 ('tensor<2x9xf8E8M0FNU>' with 'tensor<64x8xf8E5M2>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x9xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c3_y_scale_transposed(%x: tensor<16x128xf8E4M3FN>,
                                            %x_scale: tensor<16x4xf8E8M0FNU>,
                                            %y: tensor<128x8xf8E5M2>,
                                            %y_scale: tensor<8x4xf8E8M0FNU>,
                                            %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y_scale to have the N of y, 8, got 4 ('tensor<8x4xf8E8M0FNU>' with 'tensor<128x8xf8E5M2>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x128xf8E4M3FN>, tensor<16x4xf8E8M0FNU>, tensor<128x8xf8E5M2>,
         tensor<8x4xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c3_y_scale_batch(%x: tensor<16x64xf8E4M3FN>,
                                       %x_scale: tensor<16x2xf8E8M0FNU>,
                                       %y: tensor<3x64x8xf8E5M2>,
                                       %y_scale: tensor<4x2x8xf8E8M0FNU>,
                                       %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y_scale to have the batch of y, 3, got 4 ('tensor<4x2x8xf8E8M0FNU>' with 'tensor<3x64x8xf8E5M2>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>,
         tensor<4x2x8xf8E8M0FNU>, tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// -----

func.func @mma_scaled_c3_vector(%x: vector<16x64xf8E4M3FN>,
                                %x_scale: vector<8x2xf8E8M0FNU>,
                                %y: vector<64x8xf8E5M2>,
                                %y_scale: vector<2x8xf8E8M0FNU>,
                                %acc: vector<16x8xf32>)
    -> vector<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have the M of x, 16, got 8 ('vector<8x2xf8E8M0FNU>' with 'vector<16x64xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : vector<16x64xf8E4M3FN>, vector<8x2xf8E8M0FNU>, vector<64x8xf8E5M2>,
         vector<2x8xf8E8M0FNU>, vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// (C4) One K, one K_s
//===----------------------------------------------------------------------===//

func.func @mma_scaled_c4_k(%x: tensor<16x64xf8E4M3FN>,
                           %x_scale: tensor<16x2xf8E8M0FNU>,
                           %y: tensor<32x8xf8E5M2>,
                           %y_scale: tensor<2x8xf8E8M0FNU>,
                           %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y to have the K of x, 64, got 32 ('tensor<32x8xf8E5M2>' with 'tensor<16x64xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<32x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c4_y_transposed(%x: tensor<16x64xf8E4M3FN>,
                                      %x_scale: tensor<16x2xf8E8M0FNU>,
                                      %y: tensor<8x64xf8E5M2>,
                                      %y_scale: tensor<2x8xf8E8M0FNU>,
                                      %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y_scale to have the N of y, 64, got 8 ('tensor<2x8xf8E8M0FNU>' with 'tensor<8x64xf8E5M2>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<8x64xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c4_k_s(%x: tensor<16x64xf8E4M3FN>,
                             %x_scale: tensor<16x2xf8E8M0FNU>,
                             %y: tensor<64x8xf8E5M2>,
                             %y_scale: tensor<1x8xf8E8M0FNU>,
                             %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y_scale to have the K_s of x_scale, 2, got 1 ('tensor<1x8xf8E8M0FNU>' with 'tensor<16x2xf8E8M0FNU>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c4_k_batched(%x: tensor<3x16x64xf8E4M3FN>,
                                   %x_scale: tensor<3x16x2xf8E8M0FNU>,
                                   %y: tensor<3x96x8xf8E5M2>,
                                   %y_scale: tensor<3x2x8xf8E8M0FNU>,
                                   %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y to have the K of x, 64, got 96 ('tensor<3x96x8xf8E5M2>' with 'tensor<3x16x64xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>, tensor<3x96x8xf8E5M2>,
         tensor<3x2x8xf8E8M0FNU>, tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// (C5) Batches
//===----------------------------------------------------------------------===//

func.func @mma_scaled_c5_batch_3_and_4(%x: tensor<3x16x64xf8E4M3FN>,
                                       %x_scale: tensor<3x16x2xf8E8M0FNU>,
                                       %y: tensor<4x64x8xf8E5M2>,
                                       %y_scale: tensor<4x2x8xf8E8M0FNU>,
                                       %acc: tensor<4x16x8xf32>)
    -> tensor<4x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected the batches of x and y to be equal or one of them to be 1, got 3 and 4}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>, tensor<4x64x8xf8E5M2>,
         tensor<4x2x8xf8E8M0FNU>, tensor<4x16x8xf32>
  return %d : tensor<4x16x8xf32>
}

// -----

func.func @mma_scaled_c5_batch_of_acc_smaller(%x: tensor<3x16x64xf8E4M3FN>,
                                              %x_scale: tensor<3x16x2xf8E8M0FNU>,
                                              %y: tensor<3x64x8xf8E5M2>,
                                              %y_scale: tensor<3x2x8xf8E8M0FNU>,
                                              %acc: tensor<1x16x8xf32>)
    -> tensor<1x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have the batch of x and y, 3, got 1}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>,
         tensor<3x2x8xf8E8M0FNU>, tensor<1x16x8xf32>
  return %d : tensor<1x16x8xf32>
}

// -----

func.func @mma_scaled_c5_batch_of_acc_larger(%x: tensor<1x16x64xf8E4M3FN>,
                                             %x_scale: tensor<1x16x2xf8E8M0FNU>,
                                             %y: tensor<1x64x8xf8E5M2>,
                                             %y_scale: tensor<1x2x8xf8E8M0FNU>,
                                             %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have the batch of x and y, 1, got 3}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>, tensor<1x64x8xf8E5M2>,
         tensor<1x2x8xf8E8M0FNU>, tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// -----

func.func @mma_scaled_c5_batch_of_acc_not_broadcast(%x: tensor<1x16x64xf8E4M3FN>,
                                                    %x_scale: tensor<1x16x2xf8E8M0FNU>,
                                                    %y: tensor<3x64x8xf8E5M2>,
                                                    %y_scale: tensor<3x2x8xf8E8M0FNU>,
                                                    %acc: tensor<1x16x8xf32>)
    -> tensor<1x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have the batch of x and y, 3, got 1}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>,
         tensor<3x2x8xf8E8M0FNU>, tensor<1x16x8xf32>
  return %d : tensor<1x16x8xf32>
}

// -----

func.func @mma_scaled_c5_batch_of_acc_other(%x: tensor<3x16x64xf8E4M3FN>,
                                            %x_scale: tensor<3x16x2xf8E8M0FNU>,
                                            %y: tensor<64x8xf8E5M2>,
                                            %y_scale: tensor<2x8xf8E8M0FNU>,
                                            %acc: tensor<4x16x8xf32>)
    -> tensor<4x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have the batch of x and y, 3, got 4}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<4x16x8xf32>
  return %d : tensor<4x16x8xf32>
}

// -----

func.func @mma_scaled_c5_batch_y_without_and_x_1(%x: tensor<1x16x64xf8E4M3FN>,
                                                 %x_scale: tensor<1x16x2xf8E8M0FNU>,
                                                 %y: tensor<64x8xf8E5M2>,
                                                 %y_scale: tensor<2x8xf8E8M0FNU>,
                                                 %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have the batch of x and y, 1, got 3}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// -----

func.func @mma_scaled_c5_batch_x_dynamic_y_3_acc_4(%x: tensor<?x16x64xf8E4M3FN>,
                                                   %x_scale: tensor<?x16x2xf8E8M0FNU>,
                                                   %y: tensor<3x64x8xf8E5M2>,
                                                   %y_scale: tensor<3x2x8xf8E8M0FNU>,
                                                   %acc: tensor<4x16x8xf32>)
    -> tensor<4x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have the batch of x and y, 3, got 4}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<?x16x64xf8E4M3FN>, tensor<?x16x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>,
         tensor<3x2x8xf8E8M0FNU>, tensor<4x16x8xf32>
  return %d : tensor<4x16x8xf32>
}

// -----

func.func @mma_scaled_c5_batch_x_3_y_dynamic_acc_1(%x: tensor<3x16x64xf8E4M3FN>,
                                                   %x_scale: tensor<3x16x2xf8E8M0FNU>,
                                                   %y: tensor<?x64x8xf8E5M2>,
                                                   %y_scale: tensor<?x2x8xf8E8M0FNU>,
                                                   %acc: tensor<1x16x8xf32>)
    -> tensor<1x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have the batch of x and y, 3, got 1}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>, tensor<?x64x8xf8E5M2>,
         tensor<?x2x8xf8E8M0FNU>, tensor<1x16x8xf32>
  return %d : tensor<1x16x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// (C6) The accumulator
//===----------------------------------------------------------------------===//

func.func @mma_scaled_c6_acc_m(%x: tensor<16x64xf8E4M3FN>,
                               %x_scale: tensor<16x2xf8E8M0FNU>,
                               %y: tensor<64x8xf8E5M2>,
                               %y_scale: tensor<2x8xf8E8M0FNU>,
                               %acc: tensor<15x8xf32>)
    -> tensor<15x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have the M of x, 16, got 15 ('tensor<15x8xf32>' with 'tensor<16x64xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<15x8xf32>
  return %d : tensor<15x8xf32>
}

// -----

func.func @mma_scaled_c6_acc_n(%x: tensor<16x64xf8E4M3FN>,
                               %x_scale: tensor<16x2xf8E8M0FNU>,
                               %y: tensor<64x8xf8E5M2>,
                               %y_scale: tensor<2x8xf8E8M0FNU>,
                               %acc: tensor<16x9xf32>)
    -> tensor<16x9xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have the N of y, 8, got 9 ('tensor<16x9xf32>' with 'tensor<64x8xf8E5M2>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x9xf32>
  return %d : tensor<16x9xf32>
}

// -----

func.func @mma_scaled_c6_acc_transposed(%x: tensor<16x64xf8E4M3FN>,
                                        %x_scale: tensor<16x2xf8E8M0FNU>,
                                        %y: tensor<64x8xf8E5M2>,
                                        %y_scale: tensor<2x8xf8E8M0FNU>,
                                        %acc: tensor<8x16xf32>)
    -> tensor<8x16xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have the M of x, 16, got 8 ('tensor<8x16xf32>' with 'tensor<16x64xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<8x16xf32>
  return %d : tensor<8x16xf32>
}

// -----

func.func @mma_scaled_c6_result_type(%x: tensor<16x64xf8E4M3FN>,
                                     %x_scale: tensor<16x2xf8E8M0FNU>,
                                     %y: tensor<64x8xf8E5M2>,
                                     %y_scale: tensor<2x8xf8E8M0FNU>,
                                     %acc: tensor<16x8xf32>)
    -> tensor<8x16xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op failed to verify that all of {acc, result} have same type}}
  %d = "blockscale.mma_scaled"(%x, %x_scale, %y, %y_scale, %acc)
       : (tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
          tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>) -> tensor<8x16xf32>
  return %d : tensor<8x16xf32>
}

// -----

func.func @mma_scaled_c6_acc_f16(%x: tensor<16x64xf8E4M3FN>,
                                 %x_scale: tensor<16x2xf8E8M0FNU>,
                                 %y: tensor<64x8xf8E5M2>,
                                 %y_scale: tensor<2x8xf8E8M0FNU>,
                                 %acc: tensor<16x8xf16>)
    -> tensor<16x8xf16> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to be a ranked tensor or a fixed-size vector of f32, of rank 2 or 3, got 'tensor<16x8xf16>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf16>
  return %d : tensor<16x8xf16>
}

// -----

func.func @mma_scaled_c6_acc_bf16(%x: tensor<16x64xf8E4M3FN>,
                                  %x_scale: tensor<16x2xf8E8M0FNU>,
                                  %y: tensor<64x8xf8E5M2>,
                                  %y_scale: tensor<2x8xf8E8M0FNU>,
                                  %acc: tensor<16x8xbf16>)
    -> tensor<16x8xbf16> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to be a ranked tensor or a fixed-size vector of f32, of rank 2 or 3, got 'tensor<16x8xbf16>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xbf16>
  return %d : tensor<16x8xbf16>
}

// -----

func.func @mma_scaled_c6_acc_f64(%x: tensor<16x64xf8E4M3FN>,
                                 %x_scale: tensor<16x2xf8E8M0FNU>,
                                 %y: tensor<64x8xf8E5M2>,
                                 %y_scale: tensor<2x8xf8E8M0FNU>,
                                 %acc: vector<16x8xf64>)
    -> vector<16x8xf64> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to be a ranked tensor or a fixed-size vector of f32, of rank 2 or 3, got 'vector<16x8xf64>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, vector<16x8xf64>
  return %d : vector<16x8xf64>
}

// -----

//===----------------------------------------------------------------------===//
// (C7) Sizes of at least 1
//===----------------------------------------------------------------------===//

func.func @mma_scaled_c7_m_0(%x: tensor<0x64xf8E4M3FN>,
                             %x_scale: tensor<0x2xf8E8M0FNU>,
                             %y: tensor<64x8xf8E5M2>,
                             %y_scale: tensor<2x8xf8E8M0FNU>,
                             %acc: tensor<0x8xf32>)
    -> tensor<0x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected all sizes to be at least 1, got 0 in dimension 0 of x ('tensor<0x64xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<0x64xf8E4M3FN>, tensor<0x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<0x8xf32>
  return %d : tensor<0x8xf32>
}

// -----

func.func @mma_scaled_c7_n_0(%x: tensor<16x64xf8E4M3FN>,
                             %x_scale: tensor<16x2xf8E8M0FNU>,
                             %y: tensor<64x0xf8E5M2>,
                             %y_scale: tensor<2x0xf8E8M0FNU>,
                             %acc: tensor<16x0xf32>)
    -> tensor<16x0xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected all sizes to be at least 1, got 0 in dimension 1 of y ('tensor<64x0xf8E5M2>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x0xf8E5M2>,
         tensor<2x0xf8E8M0FNU>, tensor<16x0xf32>
  return %d : tensor<16x0xf32>
}

// -----

func.func @mma_scaled_c7_k_0(%x: tensor<16x0xf8E4M3FN>,
                             %x_scale: tensor<16x2xf8E8M0FNU>,
                             %y: tensor<0x8xf8E5M2>,
                             %y_scale: tensor<2x8xf8E8M0FNU>,
                             %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected all sizes to be at least 1, got 0 in dimension 1 of x ('tensor<16x0xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x0xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<0x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c7_k_s_0(%x: tensor<16x64xf8E4M3FN>,
                               %x_scale: tensor<16x0xf8E8M0FNU>,
                               %y: tensor<64x8xf8E5M2>,
                               %y_scale: tensor<0x8xf8E8M0FNU>,
                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected all sizes to be at least 1, got 0 in dimension 1 of x_scale ('tensor<16x0xf8E8M0FNU>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x0xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<0x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c7_k_and_k_s_0(%x: tensor<16x0xf8E4M3FN>,
                                     %x_scale: tensor<16x0xf8E8M0FNU>,
                                     %y: tensor<0x8xf8E5M2>,
                                     %y_scale: tensor<0x8xf8E8M0FNU>,
                                     %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected all sizes to be at least 1, got 0 in dimension 1 of x ('tensor<16x0xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x0xf8E4M3FN>, tensor<16x0xf8E8M0FNU>, tensor<0x8xf8E5M2>,
         tensor<0x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c7_batch_x_0(%x: tensor<0x16x64xf8E4M3FN>,
                                   %x_scale: tensor<0x16x2xf8E8M0FNU>,
                                   %y: tensor<1x64x8xf8E5M2>,
                                   %y_scale: tensor<1x2x8xf8E8M0FNU>,
                                   %acc: tensor<0x16x8xf32>)
    -> tensor<0x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected all sizes to be at least 1, got 0 in dimension 0 of x ('tensor<0x16x64xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<0x16x64xf8E4M3FN>, tensor<0x16x2xf8E8M0FNU>, tensor<1x64x8xf8E5M2>,
         tensor<1x2x8xf8E8M0FNU>, tensor<0x16x8xf32>
  return %d : tensor<0x16x8xf32>
}

// -----

func.func @mma_scaled_c7_batch_y_0(%x: tensor<16x64xf8E4M3FN>,
                                   %x_scale: tensor<16x2xf8E8M0FNU>,
                                   %y: tensor<0x64x8xf8E5M2>,
                                   %y_scale: tensor<0x2x8xf8E8M0FNU>,
                                   %acc: tensor<0x16x8xf32>)
    -> tensor<0x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected all sizes to be at least 1, got 0 in dimension 0 of y ('tensor<0x64x8xf8E5M2>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<0x64x8xf8E5M2>,
         tensor<0x2x8xf8E8M0FNU>, tensor<0x16x8xf32>
  return %d : tensor<0x16x8xf32>
}

// -----

func.func @mma_scaled_c7_acc_0(%x: tensor<16x64xf8E4M3FN>,
                               %x_scale: tensor<16x2xf8E8M0FNU>,
                               %y: tensor<64x8xf8E5M2>,
                               %y_scale: tensor<2x8xf8E8M0FNU>,
                               %acc: tensor<16x0xf32>)
    -> tensor<16x0xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected all sizes to be at least 1, got 0 in dimension 1 of acc ('tensor<16x0xf32>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x0xf32>
  return %d : tensor<16x0xf32>
}

// -----

func.func @mma_scaled_c7_y_scale_0(%x: tensor<16x64xf8E4M3FN>,
                                   %x_scale: tensor<16x2xf8E8M0FNU>,
                                   %y: tensor<64x8xf8E5M2>,
                                   %y_scale: tensor<0x8xf8E8M0FNU>,
                                   %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected all sizes to be at least 1, got 0 in dimension 0 of y_scale ('tensor<0x8xf8E8M0FNU>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<0x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// (C8) One scale type
//===----------------------------------------------------------------------===//

func.func @mma_scaled_c8_scale_types(%x: tensor<16x32xf4E2M1FN>,
                                     %x_scale: tensor<16x2xf8E8M0FNU>,
                                     %y: tensor<32x8xf4E2M1FN>,
                                     %y_scale: tensor<2x8xf8E4M3FN>,
                                     %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale and y_scale to have one element type, got 'f8E8M0FNU' and 'f8E4M3FN'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf4E2M1FN>, tensor<16x2xf8E8M0FNU>, tensor<32x8xf4E2M1FN>,
         tensor<2x8xf8E4M3FN>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c8_scale_types_the_other_way(%x: tensor<16x32xf4E2M1FN>,
                                                   %x_scale: tensor<16x2xf8E4M3FN>,
                                                   %y: tensor<32x8xf4E2M1FN>,
                                                   %y_scale: tensor<2x8xf8E8M0FNU>,
                                                   %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale and y_scale to have one element type, got 'f8E4M3FN' and 'f8E8M0FNU'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf4E2M1FN>, tensor<16x2xf8E4M3FN>, tensor<32x8xf4E2M1FN>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// (C9) The 27 type combinations
//===----------------------------------------------------------------------===//

func.func @mma_scaled_c9_k_not_a_multiple(%x: tensor<16x65xf8E4M3FN>,
                                          %x_scale: tensor<16x2xf8E8M0FNU>,
                                          %y: tensor<65x8xf8E5M2>,
                                          %y_scale: tensor<2x8xf8E8M0FNU>,
                                          %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected K to be a multiple of K_s, got K = 65 and K_s = 2}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x65xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<65x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_k_s_3_k_64(%x: tensor<16x64xf8E4M3FN>,
                                    %x_scale: tensor<16x3xf8E8M0FNU>,
                                    %y: tensor<64x8xf8E5M2>,
                                    %y_scale: tensor<3x8xf8E8M0FNU>,
                                    %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected K to be a multiple of K_s, got K = 64 and K_s = 3}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x3xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<3x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_k_s_above_k(%x: tensor<16x32xf8E4M3FN>,
                                     %x_scale: tensor<16x64xf8E8M0FNU>,
                                     %y: tensor<32x8xf8E5M2>,
                                     %y_scale: tensor<64x8xf8E8M0FNU>,
                                     %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected K to be a multiple of K_s, got K = 32 and K_s = 64}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf8E4M3FN>, tensor<16x64xf8E8M0FNU>, tensor<32x8xf8E5M2>,
         tensor<64x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_block_1(%x: tensor<16x2xf8E4M3FN>,
                                 %x_scale: tensor<16x2xf8E8M0FNU>,
                                 %y: tensor<2x8xf8E5M2>,
                                 %y_scale: tensor<2x8xf8E8M0FNU>,
                                 %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got 1}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x2xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_block_8(%x: tensor<16x16xf8E4M3FN>,
                                 %x_scale: tensor<16x2xf8E8M0FNU>,
                                 %y: tensor<16x8xf8E5M2>,
                                 %y_scale: tensor<2x8xf8E8M0FNU>,
                                 %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got 8}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x16xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<16x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_block_31(%x: tensor<16x62xf8E4M3FN>,
                                  %x_scale: tensor<16x2xf8E8M0FNU>,
                                  %y: tensor<62x8xf8E5M2>,
                                  %y_scale: tensor<2x8xf8E8M0FNU>,
                                  %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got 31}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x62xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<62x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_block_64(%x: tensor<16x128xf8E4M3FN>,
                                  %x_scale: tensor<16x2xf8E8M0FNU>,
                                  %y: tensor<128x8xf8E5M2>,
                                  %y_scale: tensor<2x8xf8E8M0FNU>,
                                  %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got 64}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x128xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<128x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_fp8_block_16(%x: tensor<16x32xf8E4M3FN>,
                                      %x_scale: tensor<16x2xf8E8M0FNU>,
                                      %y: tensor<32x8xf8E5M2>,
                                      %y_scale: tensor<2x8xf8E8M0FNU>,
                                      %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got 16}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<32x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_fp6_block_16(%x: tensor<16x32xf6E3M2FN>,
                                      %x_scale: tensor<16x2xf8E8M0FNU>,
                                      %y: tensor<32x8xf6E2M3FN>,
                                      %y_scale: tensor<2x8xf8E8M0FNU>,
                                      %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f6E3M2FN' times 'f6E2M3FN' with 'f8E8M0FNU' scales, got 16}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf6E3M2FN>, tensor<16x2xf8E8M0FNU>, tensor<32x8xf6E2M3FN>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_fp4_times_fp8_block_16(%x: tensor<16x32xf4E2M1FN>,
                                                %x_scale: tensor<16x2xf8E8M0FNU>,
                                                %y: tensor<32x8xf8E5M2>,
                                                %y_scale: tensor<2x8xf8E8M0FNU>,
                                                %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f4E2M1FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got 16}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf4E2M1FN>, tensor<16x2xf8E8M0FNU>, tensor<32x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_fp8_times_fp4_block_16(%x: tensor<16x32xf8E4M3FN>,
                                                %x_scale: tensor<16x2xf8E8M0FNU>,
                                                %y: tensor<32x8xf4E2M1FN>,
                                                %y_scale: tensor<2x8xf8E8M0FNU>,
                                                %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f4E2M1FN' with 'f8E8M0FNU' scales, got 16}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<32x8xf4E2M1FN>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_fp4_block_8(%x: tensor<16x16xf4E2M1FN>,
                                     %x_scale: tensor<16x2xf8E8M0FNU>,
                                     %y: tensor<16x8xf4E2M1FN>,
                                     %y_scale: tensor<2x8xf8E8M0FNU>,
                                     %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 16 or 32 for 'f4E2M1FN' times 'f4E2M1FN' with 'f8E8M0FNU' scales, got 8}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x16xf4E2M1FN>, tensor<16x2xf8E8M0FNU>, tensor<16x8xf4E2M1FN>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_fp4_block_64(%x: tensor<16x128xf4E2M1FN>,
                                      %x_scale: tensor<16x2xf8E8M0FNU>,
                                      %y: tensor<128x8xf4E2M1FN>,
                                      %y_scale: tensor<2x8xf8E8M0FNU>,
                                      %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 16 or 32 for 'f4E2M1FN' times 'f4E2M1FN' with 'f8E8M0FNU' scales, got 64}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x128xf4E2M1FN>, tensor<16x2xf8E8M0FNU>, tensor<128x8xf4E2M1FN>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_nvfp4_block_32(%x: tensor<16x64xf4E2M1FN>,
                                        %x_scale: tensor<16x2xf8E4M3FN>,
                                        %y: tensor<64x8xf4E2M1FN>,
                                        %y_scale: tensor<2x8xf8E4M3FN>,
                                        %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 16 for 'f4E2M1FN' times 'f4E2M1FN' with 'f8E4M3FN' scales, got 32}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E4M3FN>, tensor<64x8xf4E2M1FN>,
         tensor<2x8xf8E4M3FN>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_nvfp4_block_8(%x: tensor<16x16xf4E2M1FN>,
                                       %x_scale: tensor<16x2xf8E4M3FN>,
                                       %y: tensor<16x8xf4E2M1FN>,
                                       %y_scale: tensor<2x8xf8E4M3FN>,
                                       %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 16 for 'f4E2M1FN' times 'f4E2M1FN' with 'f8E4M3FN' scales, got 8}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x16xf4E2M1FN>, tensor<16x2xf8E4M3FN>, tensor<16x8xf4E2M1FN>,
         tensor<2x8xf8E4M3FN>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_fp8_ue4m3_scales_block_32(%x: tensor<16x64xf8E4M3FN>,
                                                   %x_scale: tensor<16x2xf8E4M3FN>,
                                                   %y: tensor<64x8xf8E5M2>,
                                                   %y_scale: tensor<2x8xf8E4M3FN>,
                                                   %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected scales of type f8E8M0FNU for 'f8E4M3FN' times 'f8E5M2', got 'f8E4M3FN'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E4M3FN>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E4M3FN>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_fp8_ue4m3_scales_block_16(%x: tensor<16x32xf8E4M3FN>,
                                                   %x_scale: tensor<16x2xf8E4M3FN>,
                                                   %y: tensor<32x8xf8E5M2>,
                                                   %y_scale: tensor<2x8xf8E4M3FN>,
                                                   %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected scales of type f8E8M0FNU for 'f8E4M3FN' times 'f8E5M2', got 'f8E4M3FN'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf8E4M3FN>, tensor<16x2xf8E4M3FN>, tensor<32x8xf8E5M2>,
         tensor<2x8xf8E4M3FN>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_fp4_times_fp8_ue4m3_scales(%x: tensor<16x32xf4E2M1FN>,
                                                    %x_scale: tensor<16x2xf8E4M3FN>,
                                                    %y: tensor<32x8xf8E5M2>,
                                                    %y_scale: tensor<2x8xf8E4M3FN>,
                                                    %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected scales of type f8E8M0FNU for 'f4E2M1FN' times 'f8E5M2', got 'f8E4M3FN'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf4E2M1FN>, tensor<16x2xf8E4M3FN>, tensor<32x8xf8E5M2>,
         tensor<2x8xf8E4M3FN>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_fp6_times_fp4_ue4m3_scales(%x: tensor<16x32xf6E2M3FN>,
                                                    %x_scale: tensor<16x2xf8E4M3FN>,
                                                    %y: tensor<32x8xf4E2M1FN>,
                                                    %y_scale: tensor<2x8xf8E4M3FN>,
                                                    %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected scales of type f8E8M0FNU for 'f6E2M3FN' times 'f4E2M1FN', got 'f8E4M3FN'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf6E2M3FN>, tensor<16x2xf8E4M3FN>, tensor<32x8xf4E2M1FN>,
         tensor<2x8xf8E4M3FN>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_x_f16(%x: tensor<16x64xf16>,
                               %x_scale: tensor<16x2xf8E8M0FNU>,
                               %y: tensor<64x8xf8E5M2>,
                               %y_scale: tensor<2x8xf8E8M0FNU>,
                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x to be a ranked tensor or a fixed-size vector of f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN, of rank 2 or 3, got 'tensor<16x64xf16>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf16>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_x_f8e4m3(%x: tensor<16x64xf8E4M3>,
                                  %x_scale: tensor<16x2xf8E8M0FNU>,
                                  %y: tensor<64x8xf8E5M2>,
                                  %y_scale: tensor<2x8xf8E8M0FNU>,
                                  %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x to be a ranked tensor or a fixed-size vector of f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN, of rank 2 or 3, got 'tensor<16x64xf8E4M3>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_y_f8e5m2fnuz(%x: tensor<16x64xf8E4M3FN>,
                                      %x_scale: tensor<16x2xf8E8M0FNU>,
                                      %y: tensor<64x8xf8E5M2FNUZ>,
                                      %y_scale: tensor<2x8xf8E8M0FNU>,
                                      %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y to be a ranked tensor or a fixed-size vector of f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN, of rank 2 or 3, got 'tensor<64x8xf8E5M2FNUZ>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2FNUZ>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_y_i8(%x: tensor<16x64xf8E4M3FN>,
                              %x_scale: tensor<16x2xf8E8M0FNU>,
                              %y: tensor<64x8xi8>,
                              %y_scale: tensor<2x8xf8E8M0FNU>,
                              %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y to be a ranked tensor or a fixed-size vector of f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN, of rank 2 or 3, got 'tensor<64x8xi8>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xi8>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_x_scale_f16(%x: tensor<16x64xf8E4M3FN>,
                                     %x_scale: tensor<16x2xf16>,
                                     %y: tensor<64x8xf8E5M2>,
                                     %y_scale: tensor<2x8xf8E8M0FNU>,
                                     %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3, got 'tensor<16x2xf16>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf16>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_y_scale_f8e5m2(%x: tensor<16x64xf8E4M3FN>,
                                        %x_scale: tensor<16x2xf8E8M0FNU>,
                                        %y: tensor<64x8xf8E5M2>,
                                        %y_scale: tensor<2x8xf8E5M2>,
                                        %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y_scale to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3, got 'tensor<2x8xf8E5M2>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E5M2>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c9_x_is_scale_type(%x: tensor<16x64xf8E8M0FNU>,
                                         %x_scale: tensor<16x2xf8E8M0FNU>,
                                         %y: tensor<64x8xf8E5M2>,
                                         %y_scale: tensor<2x8xf8E8M0FNU>,
                                         %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x to be a ranked tensor or a fixed-size vector of f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN, of rank 2 or 3, got 'tensor<16x64xf8E8M0FNU>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E8M0FNU>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// (C10) block_size
//===----------------------------------------------------------------------===//

func.func @mma_scaled_c10_absent_k_dynamic(%x: tensor<16x?xf8E4M3FN>,
                                           %x_scale: tensor<16x2xf8E8M0FNU>,
                                           %y: tensor<?x8xf8E5M2>,
                                           %y_scale: tensor<2x8xf8E8M0FNU>,
                                           %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected attribute 'block_size', because K is dynamic}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x?xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<?x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_absent_k_s_dynamic(%x: tensor<16x64xf8E4M3FN>,
                                             %x_scale: tensor<16x?xf8E8M0FNU>,
                                             %y: tensor<64x8xf8E5M2>,
                                             %y_scale: tensor<?x8xf8E8M0FNU>,
                                             %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected attribute 'block_size', because K_s is dynamic}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x?xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<?x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_absent_both_dynamic(%x: tensor<16x?xf8E4M3FN>,
                                              %x_scale: tensor<16x?xf8E8M0FNU>,
                                              %y: tensor<?x8xf8E5M2>,
                                              %y_scale: tensor<?x8xf8E8M0FNU>,
                                              %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected attribute 'block_size', because K is dynamic}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x?xf8E4M3FN>, tensor<16x?xf8E8M0FNU>, tensor<?x8xf8E5M2>,
         tensor<?x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_not_k_over_k_s(%x: tensor<16x64xf8E4M3FN>,
                                         %x_scale: tensor<16x2xf8E8M0FNU>,
                                         %y: tensor<64x8xf8E5M2>,
                                         %y_scale: tensor<2x8xf8E8M0FNU>,
                                         %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected block_size to be K / K_s, 32, got 16}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 16}
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_static_0(%x: tensor<16x64xf8E4M3FN>,
                                   %x_scale: tensor<16x2xf8E8M0FNU>,
                                   %y: tensor<64x8xf8E5M2>,
                                   %y_scale: tensor<2x8xf8E8M0FNU>,
                                   %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected block_size to be K / K_s, 32, got 0}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 0}
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_static_negative(%x: tensor<16x64xf8E4M3FN>,
                                          %x_scale: tensor<16x2xf8E8M0FNU>,
                                          %y: tensor<64x8xf8E5M2>,
                                          %y_scale: tensor<2x8xf8E8M0FNU>,
                                          %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected block_size to be K / K_s, 32, got -32}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = -32}
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_dynamic_0(%x: tensor<16x?xf8E4M3FN>,
                                    %x_scale: tensor<16x2xf8E8M0FNU>,
                                    %y: tensor<?x8xf8E5M2>,
                                    %y_scale: tensor<2x8xf8E8M0FNU>,
                                    %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got 0}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 0}
       : tensor<16x?xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<?x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_dynamic_negative(%x: tensor<16x64xf8E4M3FN>,
                                           %x_scale: tensor<16x?xf8E8M0FNU>,
                                           %y: tensor<64x8xf8E5M2>,
                                           %y_scale: tensor<?x8xf8E8M0FNU>,
                                           %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got -32}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = -32}
       : tensor<16x64xf8E4M3FN>, tensor<16x?xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<?x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_dynamic_lowest(%x: tensor<16x?xf8E4M3FN>,
                                         %x_scale: tensor<16x?xf8E8M0FNU>,
                                         %y: tensor<?x8xf8E5M2>,
                                         %y_scale: tensor<?x8xf8E8M0FNU>,
                                         %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got -9223372036854775808}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = -9223372036854775808}
       : tensor<16x?xf8E4M3FN>, tensor<16x?xf8E8M0FNU>, tensor<?x8xf8E5M2>,
         tensor<?x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_dynamic_beyond_32_bits(%x: tensor<16x?xf8E4M3FN>,
                                                 %x_scale: tensor<16x?xf8E8M0FNU>,
                                                 %y: tensor<?x8xf8E5M2>,
                                                 %y_scale: tensor<?x8xf8E8M0FNU>,
                                                 %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got 4294967328}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 4294967328}
       : tensor<16x?xf8E4M3FN>, tensor<16x?xf8E8M0FNU>, tensor<?x8xf8E5M2>,
         tensor<?x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_dynamic_64(%x: tensor<16x?xf8E4M3FN>,
                                     %x_scale: tensor<16x?xf8E8M0FNU>,
                                     %y: tensor<?x8xf8E5M2>,
                                     %y_scale: tensor<?x8xf8E8M0FNU>,
                                     %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got 64}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 64}
       : tensor<16x?xf8E4M3FN>, tensor<16x?xf8E8M0FNU>, tensor<?x8xf8E5M2>,
         tensor<?x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_dynamic_fp8_16(%x: tensor<16x?xf8E4M3FN>,
                                         %x_scale: tensor<16x?xf8E8M0FNU>,
                                         %y: tensor<?x8xf8E5M2>,
                                         %y_scale: tensor<?x8xf8E8M0FNU>,
                                         %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got 16}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 16}
       : tensor<16x?xf8E4M3FN>, tensor<16x?xf8E8M0FNU>, tensor<?x8xf8E5M2>,
         tensor<?x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_dynamic_nvfp4_32(%x: tensor<16x?xf4E2M1FN>,
                                           %x_scale: tensor<16x?xf8E4M3FN>,
                                           %y: tensor<?x8xf4E2M1FN>,
                                           %y_scale: tensor<?x8xf8E4M3FN>,
                                           %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 16 for 'f4E2M1FN' times 'f4E2M1FN' with 'f8E4M3FN' scales, got 32}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 32}
       : tensor<16x?xf4E2M1FN>, tensor<16x?xf8E4M3FN>, tensor<?x8xf4E2M1FN>,
         tensor<?x8xf8E4M3FN>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_dynamic_fp8_ue4m3_scales(%x: tensor<16x?xf8E4M3FN>,
                                                   %x_scale: tensor<16x?xf8E4M3FN>,
                                                   %y: tensor<?x8xf8E5M2>,
                                                   %y_scale: tensor<?x8xf8E4M3FN>,
                                                   %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected scales of type f8E8M0FNU for 'f8E4M3FN' times 'f8E5M2', got 'f8E4M3FN'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 16}
       : tensor<16x?xf8E4M3FN>, tensor<16x?xf8E4M3FN>, tensor<?x8xf8E5M2>,
         tensor<?x8xf8E4M3FN>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_k_not_a_multiple(%x: tensor<16x80xf8E4M3FN>,
                                           %x_scale: tensor<16x?xf8E8M0FNU>,
                                           %y: tensor<80x8xf8E5M2>,
                                           %y_scale: tensor<?x8xf8E8M0FNU>,
                                           %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected K to be a multiple of block_size, 32, got 80}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 32}
       : tensor<16x80xf8E4M3FN>, tensor<16x?xf8E8M0FNU>, tensor<80x8xf8E5M2>,
         tensor<?x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_i32(%x: tensor<16x64xf8E4M3FN>,
                              %x_scale: tensor<16x2xf8E8M0FNU>,
                              %y: tensor<64x8xf8E5M2>,
                              %y_scale: tensor<2x8xf8E8M0FNU>,
                              %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{custom op 'blockscale.mma_scaled' 'blockscale.mma_scaled' op attribute 'block_size' failed to satisfy constraint: 64-bit signless integer attribute}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 32 : i32}
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @mma_scaled_c10_string(%x: tensor<16x64xf8E4M3FN>,
                                 %x_scale: tensor<16x2xf8E8M0FNU>,
                                 %y: tensor<64x8xf8E5M2>,
                                 %y_scale: tensor<2x8xf8E8M0FNU>,
                                 %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  // expected-error@+1 {{custom op 'blockscale.mma_scaled' 'blockscale.mma_scaled' op attribute 'block_size' failed to satisfy constraint: 64-bit signless integer attribute}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = "32"}
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// Two sizes that must be equal to a dynamic one.
func.func @mma_scaled_c6_unknown_m(%x: tensor<?x?xf8E4M3FN>, %xs: tensor<5x?xf8E8M0FNU>, %y: tensor<?x?xf8E4M3FN>, %ys: tensor<?x?xf8E8M0FNU>, %a: tensor<6x?xf32>) -> tensor<6x?xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected acc to have the M of x_scale, 5, got 6 ('tensor<6x?xf32>' with 'tensor<5x?xf8E8M0FNU>')}}
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %a {block_size = 32} : tensor<?x?xf8E4M3FN>, tensor<5x?xf8E8M0FNU>, tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<6x?xf32>
  return %d : tensor<6x?xf32>
}

// -----

func.func @mma_scaled_c6_unknown_n(%x: tensor<?x?xf8E4M3FN>, %xs: tensor<?x?xf8E8M0FNU>, %y: tensor<?x?xf8E4M3FN>, %ys: tensor<?x5xf8E8M0FNU>, %a: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // expected-error@+1 {{expected acc to have the N of y_scale, 5, got 6}}
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %a {block_size = 32} : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf8E4M3FN>, tensor<?x5xf8E8M0FNU>, tensor<?x6xf32>
  return %d : tensor<?x6xf32>
}

// -----

func.func @mma_scaled_c5_unknown_batch(%x: tensor<?x8x64xf8E4M3FN>, %xs: tensor<2x8x2xf8E8M0FNU>, %y: tensor<?x64x8xf8E4M3FN>, %ys: tensor<3x2x8xf8E8M0FNU>, %a: tensor<?x8x8xf32>) -> tensor<?x8x8xf32> {
  // expected-error@+1 {{expected the batches of x and y to be equal or one of them to be 1, got 2 and 3}}
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %a : tensor<?x8x64xf8E4M3FN>, tensor<2x8x2xf8E8M0FNU>, tensor<?x64x8xf8E4M3FN>, tensor<3x2x8xf8E8M0FNU>, tensor<?x8x8xf32>
  return %d : tensor<?x8x8xf32>
}
