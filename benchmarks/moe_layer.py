#!/usr/bin/python3
"""Layers of experts of blockscale.torch on a CUDA card, beside those of transformers with bf16 weights.

usage: moe_layer.py [--tokens=1,4,...] [--models=gpt-oss-20b,...] [--formats=mxfp4,nvfp4,mxfp8]

Needs a card, torch, transformers 5, this repository's python/ and the bundles of blockscale.torch, and no LLVM. A layer
chooses experts by logits (`route`), and then sorts tokens, multiplies, gates, multiplies and adds up (`MoE`). Products
alone are those of `grouped_linear` on sorted rows. A time is the median of samples of a CUDA graph of 20 calls; calls go
through several layers and routings, and all contenders take turns. transformers has two ways, of which `peer` is the
faster one, with its router. `error` is the relative one against f32 with the dequantized weights, of up to 64 tokens.
"""

import argparse
import math
import pathlib
import sys

from gpu_graphs import measure

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
LAYERS = 4
MOST_CHECKED = 64
# name: experts, experts of a token, hidden size, intermediate size
MODELS = {"gpt-oss-20b": (32, 4, 2880, 2880), "gpt-oss-120b": (128, 4, 2880, 2880)}


def make_peers(torch, experts, top, hidden, intermediate):
    """MLPs of transformers with random weights."""
    from transformers import GptOssConfig
    from transformers.models.gpt_oss.modeling_gpt_oss import GptOssMLP

    config = GptOssConfig(
        hidden_size=hidden, intermediate_size=intermediate, num_local_experts=experts, num_experts_per_tok=top
    )
    layers = []
    for _ in range(LAYERS):
        layer = GptOssMLP(config).to("cuda", torch.bfloat16)
        for parameter in layer.parameters():
            parameter.normal_(0, hidden**-0.5)
        layers.append(layer.eval())
    return config, layers


def reference(torch, layer, x, ids, weights):
    up, down = layer.dequantize(torch.float32)
    out = torch.zeros(x.shape, device="cuda")
    bias = layer.up_bias.reshape(layer.num_experts, -1, 2, 8).transpose(1, 2).reshape(layer.num_experts, -1)
    alpha, limit, shift = layer.gate
    for expert in range(layer.num_experts):
        token, slot = torch.where(ids == expert)
        if len(token):
            gate, other = (x[token].float() @ up[expert].T + bias[expert]).chunk(2, 1)
            gate, other = gate.clamp(max=limit), other.clamp(-limit, limit)
            h = gate * torch.sigmoid(alpha * gate) * (other + shift)
            out[token] += (h @ down[expert].T + layer.down_bias[expert]) * weights[token, slot, None]
    return out


def run_case(torch, layers, config, peers, tokens, top):
    """(times, error)"""
    from blockscale.torch import grouped_linear, route

    format, experts = layers[0].format, layers[0].num_experts
    x = torch.randn(tokens, layers[0].hidden_size, device="cuda", dtype=torch.bfloat16)
    logits = [torch.randn(tokens, experts, device="cuda", dtype=torch.bfloat16) for _ in range(LAYERS)]
    ends = [
        torch.cumsum(torch.bincount(route(each, top)[0].flatten(), minlength=experts), 0).int() for each in logits
    ]
    rows = {"up": x.repeat_interleave(top, 0), "down": torch.randn(
        tokens * top, layers[0].intermediate_size, device="cuda", dtype=torch.bfloat16
    )}

    def product(name, i):
        codes, scales, g, bias = layers[i % LAYERS]._product(name)
        grouped_linear(rows[name], codes, scales, g, ends[i % LAYERS], bias, format)

    def layer(i):
        return layers[i % LAYERS](x, *route(logits[i % LAYERS], top))

    def peer(implementation):
        def work(i):
            config._experts_implementation = implementation
            peers[i % LAYERS](x[None])

        return work

    works = {"up": lambda i: product("up", i), "down": lambda i: product("down", i), "layer": layer,
             "grouped_mm": peer("grouped_mm")}
    # It copies the weights of each token.
    if tokens <= 16:
        works["batched_mm"] = peer("batched_mm")
    error = math.nan
    if tokens <= MOST_CHECKED:
        expected = reference(torch, layers[0], x, *route(logits[0], top))
        error = float((layer(0) - expected).norm() / expected.norm())
    return measure(torch, works), error


def run(options):
    import torch
    from blockscale.torch import GPT_OSS, MoE

    torch.set_grad_enabled(False)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print(f"{'case':24} {'us':>8} {'products':>9} {'over them':>9} {'peer us':>9} {'peer/ours':>9}  error")
    for model in options.models.split(","):
        experts, top, hidden, intermediate = MODELS[model]
        config, peers = make_peers(torch, experts, top, hidden, intermediate)
        for format in options.formats.split(","):
            layers = [
                MoE.from_float(
                    mlp.experts.gate_up_proj.transpose(1, 2), mlp.experts.down_proj.transpose(1, 2), format,
                    mlp.experts.gate_up_proj_bias, mlp.experts.down_proj_bias, GPT_OSS, "interleaved",
                ) for mlp in peers
            ]
            for tokens in map(int, options.tokens.split(",")):
                us, error = run_case(torch, layers, config, peers, tokens, top)
                products = us["up"] + us["down"]
                best = min(us[name] for name in ("grouped_mm", "batched_mm") if name in us)
                print(
                    f"{f'{model} {format} {tokens}':24} {us['layer']:8.1f} {products:9.1f} {us['layer'] / products:9.2f}"
                    f" {best:9.1f} {best / us['layer']:9.2f}  {error:.4f}", flush=True,
                )
            del layers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", default="1,4,16,64,256,1024,4096")
    parser.add_argument("--models", default="gpt-oss-20b")
    parser.add_argument("--formats", default="mxfp4,nvfp4")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
