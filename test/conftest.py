"""The flags --full and --exhaustive: without them, the cases that are marked so are left out. Of long tests that are not
about combinations of types, --full takes every second `full` case, and --exhaustive all.
"""

import collections

import pytest

# By file, tests of schedules, sizes and layers of which --full takes every second `full` case.
HALVED = {
    "test_warp_specialized.py": ("test_factors", "test_clusters", "test_around", "test_swap_ab", "test_split_k_ranges"),
    "test_wgmma_products.py": (
        "test_factors", "test_clusters", "test_clusters_in_rounds", "test_split_k_ranges", "test_ptxas",
        "test_ptxas_of_tiles_that_are_cut", "test_ptxas_takes",
    ),
    "test_tcgen05_products.py": ("test_factors", "test_clusters", "test_seeds", "test_split_k_ranges", "test_ptxas"),
    "test_mma_sync_specialized.py": ("test_factors", "test_around", "test_split_k_ranges", "test_ptxas"),
    "test_mma_sync_products.py": ("test_factors", "test_split_k_ranges", "test_ptxas"),
    "test_mixed_input.py": ("test_cases", "test_window"),
    "test_dequantized_products.py": ("test_window",),
    "test_weight_only.py": ("test_dequant_mma_specials", "test_tensor_scales", "test_sizes"),
    "test_torch_kernels.py": ("test_kernels_of_rows", "test_product_of_other_sizes"),
    "test_torch_moe_kernels.py": ("test_dynamic_moe", "test_moe", "test_moe_of_other_sizes"),
    "test_torch_fp8_kernels.py": ("test_kernels_of_rows", "test_product_of_other_sizes"),
    "test_torch_fp8_moe_kernels.py": ("test_moe", "test_grouped_linear", "test_kernels_of_rows"),
    "test_torch_sparse_kernels.py": ("test_product_of_other_sizes",),
    "test_tensor_core.py": ("test_schedules",),
    "test_dequant_mma.py": ("test_edges_on_hardware",),
    "test_sparse_native.py": ("test_sizes", "test_rows", "test_layouts"),
    "test_sparse_dequantized.py": ("test_sizes", "test_rows"),
    "test_quantized_layer.py": None,
    "test_gated.py": None,
    "test_routing.py": None,
}
LEFT_OUT = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="also run the cases of the wide cover")
    parser.addoption("--exhaustive", action="store_true", help="also run whole products of cases; has --full")


def pytest_configure(config):
    if config.getoption("--exhaustive"):
        config.option.full = True


def every_second(items):
    """Of the `full` cases of each test of HALVED, the second, the fourth and so on."""
    seen = collections.Counter()
    for item in items:
        tests = HALVED.get(item.path.name, ())
        if item.get_closest_marker("full") and (tests is None or item.originalname in tests):
            test = item.nodeid.split("[")[0]
            seen[test] += 1
            if seen[test] % 2 == 0:
                yield item


def pytest_collection_modifyitems(config, items):
    tiers = [tier for tier in ("full", "exhaustive") if not config.getoption(f"--{tier}")]
    wide = [item for item in items if any(item.get_closest_marker(tier) for tier in tiers)]
    if "exhaustive" in tiers:
        wide += every_second(item for item in items if not item.get_closest_marker("exhaustive"))
    left_out = set(wide)
    config.stash[LEFT_OUT] = len(left_out)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_sessionfinish(session, exitstatus):
    # A file of nothing but wide cases is done, not empty.
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.stash.get(LEFT_OUT, 0):
        session.exitstatus = pytest.ExitCode.OK
