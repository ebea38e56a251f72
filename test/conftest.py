"""The flags --full and --exhaustive: without them, the cases that are marked so are left out, and of some long tests more.
Of a test with many `full` cases, --full takes those that are the first of a combination of types in their file, and a
third of the others; --exhaustive takes all.
"""

import collections
import re

import pytest

# A test of so many `full` cases runs all of them with --full.
FEW = 3
# The tests of instructions, of which --full takes all cases.
WHOLE = {
    ("test_tcgen05.py", "test_exact"), ("test_wgmma.py", "test_exact"),
    ("test_grouped_kernels.py", "test_every_combination"),
}
# Long tests, and how many of their cases run always, spread over all of them; the others are `full`.
SOME = {
    "test_accumulation.py": {"test_sums_are_within_the_bound": 10},
    "test_benchmarks.py": {"test_grouped_card_build": 0},
    "test_captured.py": {"test_right": 0, "test_source": 0},
    "test_chains.py": {"test_simulated": 7},
    "test_coarse_products.py": {"test_powers_of_two": 7, "test_random": 7, "test_batches": 4},
    "test_coarse_quantize.py": {"test_hard_blocks": 4},
    "test_coarse_quantize_simulated.py": {"test_quantize": 40, "test_dequantize": 30},
    "test_coarse_simulated.py": {"test_rewritten": 8, "test_dynamic_rows": 4},
    "test_combine_rows.py": {"test_sizes": 8},
    "test_dequant_mma.py": {"test_all": 27, "test_chips": 6},
    "test_dequantized_products.py": {"test_all": 12, "test_window": 3},
    "test_fused.py": {"test_fused": 14},
    "test_gated.py": {"test_all_dynamic": 3, "test_weights": 4},
    "test_grouped.py": {"test_sizes": 5},
    "test_grouped_coarse.py": {
        "test_scales_of_results": 10, "test_sizes": 10, "test_ptxas": 0, "test_wrong_at_run_time": 6,
    },
    "test_imported_weights.py": {"test_forms": 24, "test_all_codes_and_scales": 10},
    "test_kernel.py": {"test_every_row": 27},
    "test_licensed_sums.py": {"test_compare_has_the_bound_of_numpy": 5},
    "test_mixed_input.py": {"test_window": 2},
    "test_mixed_input_mutations.py": {"test_each_line_is_needed": 1},
    "test_mma_sync_products.py": {"test_factors": 6},
    "test_mma_sync_specialized.py": {"test_combinations": 6, "test_factors": 4, "test_around": 6},
    "test_mma_sync_specialized_mutations.py": {"test_each_line_is_needed": 1},
    "test_narrow.py": {"test_around": 4, "test_dequant_mma": 6},
    "test_native.py": {"test_native": 27},
    "test_programs.py": {"test_made_inside": 14},
    "test_promoted_sums.py": {"test_exact": 8, "test_sizes_at_run_time": 4, "test_which_scale": 4},
    "test_quantization.py": {"test_dequantize_every_code": 13, "test_hard_blocks": 23},
    "test_quantize.py": {"test_hard_blocks": 8, "test_forms": 10, "test_dequantize": 6},
    "test_quantized_layer.py": {"test_fused": 6, "test_layer": 3},
    "test_rebase.py": {"test_products": 6},
    "test_reductions.py": {"test_integers": 4},
    "test_simulated.py": {"test_compare": 6, "test_batches": 2},
    "test_softmax.py": {"test_shapes": 8},
    "test_sparse_dequantized.py": {"test_rows": 6, "test_sizes": 4, "test_layouts": 10, "test_batch": 4},
    "test_sparse_native.py": {
        "test_sizes": 10, "test_rows": 6, "test_roles": 6, "test_layouts": 6, "test_batch": 6, "test_in_software": 4,
    },
    "test_sparse_product.py": {"test_device": 14},
    "test_sparse_sources.py": {"test_sources": 30},
    "test_sparse_wgmma.py": {"test_rows": 5, "test_sizes": 4},
    "test_sparse_wgmma_dynamic.py": {"test_sizes": 9},
    "test_tcgen05_products.py": {"test_seeds": 3, "test_factors": 6},
    "test_tensor_core.py": {"test_schedules": 4, "test_combinations": 5, "test_padded": 3},
    "test_tensor_core_operands.py": {"test_each_bit_matters": 30},
    "test_tensor_core_tiles.py": {"test_tile": 5},
    "test_torch_kernels.py": {"test_kernels_of_rows": 5},
    "test_torch_moe_kernels.py": {"test_moe": 20, "test_dynamic_moe": 12, "test_grouped_linear": 16},
    "test_transpose.py": {"test_shapes": 8},
    "test_tune.py": {"test_fastest": 1, "test_every_text_is_taken": 0, "test_sparse": 0},
    "test_type_combinations.py": {"test_extreme": 9, "test_random": 9},
    "test_warp_specialized.py": {
        "test_factors": 5, "test_clusters": 6, "test_around": 6, "test_swap_ab": 5, "test_seeds": 4,
    },
    "test_warp_specialized_mutations.py": {"test_each_term_matters": 1},
    "test_weight_only.py": {
        "test_dynamic": 4, "test_dynamic_formats": 2, "test_wide_blocks": 3, "test_multiples": 0,
        "test_dynamic_others": 0, "test_all_codes_and_scales": 4, "test_powers_of_two": 5,
    },
    "test_wgmma_products.py": {"test_clusters_in_rounds": 4, "test_clusters": 3, "test_factors": 5},
}
# Types of x and y, and of their scales, in the name of a case.
COMBINATION = re.compile(r"f\d\w+-f\d\w+-f\d\w+-\d+")
LEFT_OUT = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="also run the cases of the wide cover")
    parser.addoption("--exhaustive", action="store_true", help="also run whole products of cases; has --full")


def pytest_configure(config):
    if config.getoption("--exhaustive"):
        config.option.full = True


def combination(item):
    types = COMBINATION.search(item.name)
    return types and types[0]


def thinned(items):
    """The `full` cases that --full leaves out."""
    tests, seen = collections.defaultdict(list), collections.defaultdict(set)
    for item in items:
        if item.get_closest_marker("full"):
            tests[item.nodeid.split("[")[0]].append(item)
        else:
            seen[item.path].add(combination(item))
    for cases in tests.values():
        if len(cases) <= FEW or (cases[0].path.name, cases[0].originalname) in WHOLE:
            continue
        # Of combinations that the file has not had.
        first = {types: item for item in reversed(cases) if (types := combination(item))}
        first = {item for types, item in first.items() if types not in seen[item.path]}
        seen[cases[0].path].update(map(combination, first))
        yield from (item for i, item in enumerate(item for item in cases if item not in first) if i % 3)


def mark_some(items):
    """Marks the cases of long tests that do not run always."""
    tests = collections.defaultdict(list)
    for item in items:
        if not any(item.get_closest_marker(tier) for tier in ("full", "exhaustive")):
            tests[item.nodeid.split("[")[0]].append(item)
    for cases in tests.values():
        count = SOME.get(cases[0].path.name, {}).get(getattr(cases[0], "originalname", None), len(cases))
        for i, item in enumerate(cases):
            if (i + 1) * count // len(cases) == i * count // len(cases):
                item.add_marker("full")


def pytest_collection_modifyitems(config, items):
    mark_some(items)
    tiers = [tier for tier in ("full", "exhaustive") if not config.getoption(f"--{tier}")]
    left_out = {item for item in items if any(item.get_closest_marker(tier) for tier in tiers)}
    if tiers == ["exhaustive"]:
        left_out.update(thinned([item for item in items if item not in left_out]))
    config.stash[LEFT_OUT] = len(left_out)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_sessionfinish(session, exitstatus):
    # A file of nothing but wide cases is done, not empty.
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.stash.get(LEFT_OUT, 0):
        session.exitstatus = pytest.ExitCode.OK
