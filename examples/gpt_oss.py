#!/usr/bin/env python3
"""gpt-oss with quantized weights: built from a configuration with random weights, converted, and run.

usage: gpt_oss.py [--size=small|20b] [--format=mxfp4|nvfp4|mxfp8] [--tokens=64] [--layers=N]

Needs a CUDA card, torch and transformers 5; and blockscale.torch with its kernels (docs/Torch.md). With --size=20b, the
model has the sizes of gpt-oss-20b, and takes 95 GB of the card's memory, since three copies of it are compared.

The reference is a bf16 model that has the dequantized weights, so that both models should say the same. It generates
tokens, greedily, and both models are fed with these. Printed are errors of logits, memory, and tokens per second with a
batch of 1, with CUDA graphs and without.
"""

import argparse
import copy
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import torch  # noqa: E402
from transformers import GptOssConfig, GptOssForCausalLM, StaticCache  # noqa: E402

from blockscale.torch import Linear, MoE, convert_linear_, convert_moe_  # noqa: E402

SIZES = {
    "small": dict(
        hidden_size=512, intermediate_size=512, num_hidden_layers=4, num_local_experts=8, num_attention_heads=8,
        num_key_value_heads=2, head_dim=64, vocab_size=4096,
    ),
    "20b": dict(
        hidden_size=2880, intermediate_size=2880, num_hidden_layers=24, num_local_experts=32, num_attention_heads=64,
        num_key_value_heads=8, head_dim=64, vocab_size=201088,
    ),
}
PROMPT = 16
# So that all positions are inside of the sliding window.
MOST_TOKENS = 100


def make_model(size, layers):
    """A bf16 model with random weights."""
    config = GptOssConfig(num_experts_per_tok=4, sliding_window=128, **{
        **SIZES[size], **({"num_hidden_layers": layers} if layers else {})
    })
    config._attn_implementation = "eager"
    torch.manual_seed(1)
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model = GptOssForCausalLM(config).eval()
        torch.set_default_dtype(torch.float32)
    for name, parameter in model.named_parameters():
        # All layers together add as much as the first one gets: a router that chooses another expert, because of a
        # rounding, then changes little.
        deviation = parameter.shape[-1] ** -0.5 if parameter.dim() >= 2 else 0.1
        if name.endswith(("down_proj", "o_proj.weight")):
            deviation *= (2 * config.num_hidden_layers) ** -0.5
        if "norm" not in name:
            parameter.normal_(0, deviation)
    return model


def convert(model, format):
    """The quantized model; `model` gets the dequantized weights."""
    quantized = copy.deepcopy(model)
    is_projection = lambda name, _: name.endswith(("q_proj", "k_proj", "v_proj", "o_proj"))  # noqa: E731
    convert_linear_(quantized, format, filter=is_projection)
    convert_moe_(quantized, format)
    for name, module in quantized.named_modules():
        if isinstance(module, Linear):
            model.get_submodule(name).weight.copy_(module.quantized_weight.dequantize())
        elif isinstance(module, MoE):
            up, down = module.dequantize(layout="interleaved")
            model.get_submodule(name).gate_up_proj.copy_(up.transpose(1, 2))
            model.get_submodule(name).down_proj.copy_(down.transpose(1, 2))
    return quantized


class Decoder:
    """One token after the other, with a static cache; as a CUDA graph if asked for."""

    def __init__(self, model, most, uses_graph):
        self.model, self.most, self.graph = model, most, None
        self.dtype = next(model.parameters()).dtype
        self.cache = StaticCache(config=model.config, max_cache_len=most)
        self.token = torch.zeros((1, 1), dtype=torch.int64, device="cuda")
        self.position = torch.zeros(1, dtype=torch.int64, device="cuda")
        self.uses_graph = uses_graph
        self.logits = None

    def _run(self, tokens, positions):
        # The masks that transformers makes itself cannot be captured. All positions are inside of the sliding window.
        is_hidden = torch.arange(self.most, device="cuda")[None] > positions[:, None]
        mask = torch.zeros(is_hidden.shape, dtype=self.dtype, device="cuda").masked_fill(
            is_hidden, torch.finfo(self.dtype).min
        )[None, None]
        return self.model(
            input_ids=tokens, attention_mask={"full_attention": mask, "sliding_attention": mask},
            past_key_values=self.cache, cache_position=positions, position_ids=positions[None], use_cache=True,
        ).logits[0, -1].float()

    def start(self, prompt):
        """Reads the prompt. Returns the logits of its last token."""
        logits = self._run(prompt, torch.arange(prompt.shape[1], device="cuda"))
        self.position.fill_(prompt.shape[1])
        return logits

    def step(self, token):
        """The logits behind `token`, a tensor of one."""
        self.token.copy_(token.reshape(1, 1))
        if not self.uses_graph:
            logits = self._run(self.token, self.position)
        else:
            if self.graph is None:
                self._capture()
            self.graph.replay()
            logits = self.logits
        self.position.add_(1)
        return logits

    def _capture(self):
        # Calls in front of a capture load kernels. They write the cache at this position, as the replay will do again.
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                self._run(self.token, self.position)
        torch.cuda.current_stream().wait_stream(stream)
        for layer in self.cache.layers:
            layer.cumulative_length.copy_(self.position[0])
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.logits = self._run(self.token, self.position)


def generate(model, prompt, count, uses_graph, tokens=None):
    """(tokens, their logits, tokens per second); greedy, or fed with `tokens`."""
    decoder = Decoder(model, PROMPT + count + 8, uses_graph)
    all_logits = [decoder.start(prompt)]
    chosen = []
    for i in range(count):
        chosen.append(all_logits[-1].argmax() if tokens is None else tokens[i])
        all_logits.append(decoder.step(chosen[-1]).clone())
        if i == 2:  # behind the capture
            torch.cuda.synchronize()
            begin = time.perf_counter()
    torch.cuda.synchronize()
    rate = (count - 3) / (time.perf_counter() - begin)
    return torch.stack(chosen), torch.stack(all_logits[:-1]), rate


def gigabytes(model):
    tensors = {each.data_ptr(): each.nbytes for each in (*model.parameters(), *model.buffers())}
    return sum(tensors.values()) / 1e9


def compare(name, logits, reference, most=None):
    """Prints the largest error of each step, over the deviation of logits; returns the largest of all."""
    errors = (logits - reference).abs().amax(1)
    relative = errors / reference.std(1)
    top = reference.topk(2, dim=1).values
    # Where the two best logits differ by more than twice the error, both have to choose the same.
    is_clear = top[:, 0] - top[:, 1] > 2 * errors
    same = logits.argmax(1) == reference.argmax(1)
    print(f"{name}: largest error of logits {relative.max():.4f} of their deviation, mean of steps "
          f"{relative.mean():.4f}; the same token at {int(same.sum())} of {len(same)} steps, at "
          f"{int((same & is_clear).sum())} of the {int(is_clear.sum())} where that is clear")
    assert bool(same[is_clear].all()), "another token at a step where the choice is clear"
    if most is not None:
        assert float(relative.max()) <= most, f"expected errors of at most {most:.4f}"
    return float(relative.max())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--format", choices=("mxfp4", "nvfp4", "mxfp8"), default="mxfp4")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--layers", type=int)
    options = parser.parse_args()
    if not 4 <= options.tokens <= MOST_TOKENS:
        parser.error(f"expected from 4 to {MOST_TOKENS} tokens, got {options.tokens}")
    torch.set_grad_enabled(False)
    model = make_model(options.size, options.layers)
    before = gigabytes(model)
    begin = time.perf_counter()
    quantized = convert(model, options.format)
    torch.cuda.synchronize()
    print(f"{torch.cuda.get_device_name()}: {options.size}, {options.format}, converted in "
          f"{time.perf_counter() - begin:.1f} s: {before:.2f} GB -> {gigabytes(quantized):.2f} GB")
    prompt = torch.randint(0, model.config.vocab_size, (1, PROMPT), device="cuda")
    tokens, reference, _ = generate(model, prompt, options.tokens, uses_graph=False)
    most = None
    if options.size == "small":
        exact = copy.deepcopy(model).float()
        _, wide, _ = generate(exact, prompt, options.tokens, False, tokens)
        most = 2 * compare("bf16 against f32", reference, wide)
        del exact
    _, logits, _ = generate(quantized, prompt, options.tokens, False, tokens)
    compare(f"{options.format} against bf16", logits, reference, most)
    for uses_graph in (True, False):
        kind = "graphs" if uses_graph else "eager"
        rates = {}
        # transformers has two ways that a graph can capture.
        for implementation in ("grouped_mm", "batched_mm"):
            model.config._experts_implementation = implementation
            _, _, rates[implementation] = generate(model, prompt, options.tokens, uses_graph, tokens)
        _, logits, rate = generate(quantized, prompt, options.tokens, uses_graph, tokens)
        listed = ", ".join(f"{each:.1f} ({name})" for name, each in rates.items())
        print(f"{kind}: {rate:.1f} tokens/s, {rate / max(rates.values()):.2f} times as fast as bf16: {listed}", flush=True)
        compare(f"{options.format} against bf16, {kind}", logits, reference, most)
    compiled = torch.compile(quantized, fullgraph=True, mode="default")
    print(f"torch.compile(fullgraph=True): logits of {tuple(compiled(input_ids=prompt, use_cache=False).logits.shape)}")


if __name__ == "__main__":
    main()
