"""Measures times on a CUDA card with graphs, without the host."""

import statistics

# In a graph, and samples of each graph.
CALLS, ROUNDS = 20, 15


def measure(torch, works):
    """Median microseconds of one call of each; call number `i` is work(i). The graphs take turns."""
    graphs = {}
    for name, work in works.items():
        for i in range(2):
            work(i)
        torch.cuda.synchronize()
        graphs[name] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graphs[name]):
            for i in range(CALLS):
                work(i)
    samples = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, graph in graphs.items():
            graph.replay()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            samples[name].append(start.elapsed_time(end) * 1e3 / CALLS)
    return {name: statistics.median(values) for name, values in samples.items()}


def alike(works):
    """Works that are the same in each call, as `measure` calls them."""
    return {name: lambda _, work=work: work() for name, work in works.items()}
