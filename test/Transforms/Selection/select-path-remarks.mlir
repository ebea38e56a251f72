// Diagnostics for an op that no block-scaled instruction computes: a remark, and
// an error with native-only.

// DEFINE: %{reason} =
// DEFINE: %{options} =
// DEFINE: %{remark} = sed "s/ SEVERITY@/ expected-remark@/; s/{{REASON/{{%{reason}; dequantized to bf16 for mma.sync.m16n8k16.f32.bf16.bf16.f32, an instruction computes it on sm_100a, sm_100f, sm_103a, sm_103f, sm_110a, sm_110f, sm_120a, sm_120f, sm_121a, sm_121f/" %s | blockscale-opt --blockscale-attach-target=%{options} --blockscale-select-path -verify-diagnostics
// DEFINE: %{error} = sed "s/ SEVERITY@/ expected-error@/; s/{{REASON/{{'blockscale.mma_scaled' op %{reason}/" %s | blockscale-opt --blockscale-attach-target=%{options} --blockscale-select-path=native-only -verify-diagnostics

// REDEFINE: %{options} = target=sm_80
// REDEFINE: %{reason} = no block-scaled instruction on sm_80
// RUN: %{remark}
// RUN: %{error}
// REDEFINE: %{options} = target=sm_90a
// REDEFINE: %{reason} = no block-scaled instruction on sm_90a
// RUN: %{remark}
// RUN: %{error}

// RUN: not blockscale-opt %s --blockscale-attach-target=target=sm_120 --blockscale-select-path 2>&1 | FileCheck %s --check-prefix=LETTER
// LETTER: error: unknown target 'sm_120': block-scaled instructions need the letter, expected sm_120a or sm_120f
// RUN: not blockscale-opt %s --blockscale-select-path 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: expected a module with the attribute 'blockscale.target' of blockscale-attach-target
// RUN: not blockscale-opt %s --blockscale-attach-target=target=cpu --blockscale-select-path 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: expected a GPU, got cpu

func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
               %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
               %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // SEVERITY@+1 {{REASON}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
