"""Runs the contenders of gpu.py on a card: checks each result, then times them in turns. Needs torch."""

import json
import math
import platform
import statistics
import time

import torch
from gpu_contenders import (
    DEVICE, Missing, Operands, Triton, make_ours, make_torch_blocks, make_torch_bf16, make_torch_fp8,
)
from gpu_launch import CudaError, Driver

# A sample takes about so long on the card, in seconds, and is so much of a graph's replays.
SAMPLE_S, GRAPH_S = 4e-3, 1e-3
# A replay that takes longer, in seconds, needs no second look.
SLOW_S = 0.1
# Calls in a graph at most, and samples of each contender, one in every round.
MAX_CALLS, MIN_ROUNDS, MAX_ROUNDS = 64, 3, 21
# Samples that choose among Triton's configurations.
CHOOSING_ROUNDS = 3


class CardLost(Exception):
    """The card answers no more, so that nothing after this can be measured."""


def first_line(error):
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


def seconds_of(work):
    """Seconds that the card takes for what `work` launches on the current stream."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e-3


class Timed:
    """A contender that was checked once, in a CUDA graph: each copy of the weights in turn, several times.

    `excess` is its largest error as a share of the bound; `samples` are seconds of one call; `cost` is what
    a sample takes, in seconds.
    """

    def __init__(self, contender):
        self.contender, self.samples = contender, []
        self.excess = contender.excess(contender.calls[0]())
        copies = len(contender.calls)
        graph, replay = self._capture(1)
        turns = max(1, min(MAX_CALLS // copies, round(GRAPH_S / replay)))
        if turns > 1:
            graph, replay = self._capture(turns)
        self.graph, self.calls = graph, turns * copies
        self.replays = max(1, round(SAMPLE_S / replay))
        self.cost = replay * (self.replays + (self.replays > 1))

    def _capture(self, turns):
        """A graph of so many turns through all calls, and the seconds of a replay that is not the first."""
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(turns):
                for call in self.contender.calls:
                    call()
        first = seconds_of(graph.replay)
        return graph, max(first if first > SLOW_S else seconds_of(graph.replay), 1e-7)

    @property
    def is_wrong(self):
        return not self.excess <= 1  # NaN is wrong, too.

    def sample(self):
        # Caches and clocks are as the one before left them: one replay does not count.
        if self.replays > 1:
            self.graph.replay()

        def replay():
            for _ in range(self.replays):
                self.graph.replay()

        self.samples.append(seconds_of(replay) / (self.replays * self.calls))

    def result(self):
        """As it goes to the file; times in microseconds."""
        microseconds = [sample * 1e6 for sample in self.samples]
        return dict(
            us=statistics.median(microseconds), low=min(microseconds), high=max(microseconds),
            rounds=len(microseconds), calls_per_graph=self.calls, weights=len(self.contender.calls),
            # JSON has no NaN and no infinity.
            excess=self.excess if math.isfinite(self.excess) else str(self.excess), wrong=self.is_wrong,
            detail=self.contender.detail,
        )


def attempt(name, make):
    """(Timed, None), or (None, why there is none). CardLost, with the name, if the card does not recover."""
    try:
        return Timed(make()), None
    except Missing as error:
        return None, str(error)
    except (CudaError, RuntimeError, ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        why = first_line(error)
    try:
        torch.cuda.synchronize()
        torch.zeros(1, device=DEVICE).item()
    except RuntimeError:
        raise CardLost(f"the card was lost by {name}: {why}") from None
    return None, why


def interleave(contenders, rounds, deadline=None):
    """A sample of each in every round, each time another one first; stops at the deadline after a whole round."""
    for turn in range(rounds):
        start = turn % len(contenders)
        for contender in contenders[start:] + contenders[:start]:
            contender.sample()
        if deadline and time.monotonic() > deadline:
            return


def choose(makers):
    """The fastest of Triton's configurations that is not wrong, or None; and what each of them did."""
    tried, best = {}, None
    for name, make in makers:
        timed, why = attempt(f"Triton, {name}", make)
        if why:
            tried[name] = dict(missing=why)
            continue
        interleave([timed], CHOOSING_ROUNDS)
        tried[name] = timed.result()
        key = (timed.is_wrong, statistics.median(timed.samples))
        if best is None or key < best[0]:
            best = key, timed
        else:
            del timed
        # Memory of what has lost, its graph included.
        torch.cuda.empty_cache()
    if best:
        best[1].samples.clear()
    return best and best[1], tried


class Session:
    """A folder of `gpu.py build`, a card, and seconds to spend."""

    def __init__(self, folder, manifest, entries, only):
        if not torch.cuda.is_available():
            raise CudaError("torch sees no CUDA card")
        torch.zeros(1, device=DEVICE)  # Makes torch's context current, in which the driver then works.
        self.folder, self.manifest, self.only = folder, manifest, only
        self.driver = Driver()
        self.triton, self.why_no_triton = None, None
        start = time.monotonic()
        if "triton" in only:
            try:
                self.triton = Triton(self.driver, [case for case, _ in entries])
            except Missing as error:
                self.why_no_triton = str(error)
        self.compile_s = time.monotonic() - start

    def describe(self):
        card = torch.cuda.get_device_properties(DEVICE)
        return dict(
            card=card.name, multiprocessors=card.multi_processor_count, capability=f"{card.major}.{card.minor}",
            torch=torch.__version__, cuda=torch.version.cuda, python=platform.python_version(),
            triton=self.triton.version if self.triton else None, triton_compile_s=round(self.compile_s, 1),
        )

    def measure(self, case, entry, seconds):
        """Results of all contenders of a case, by name, for about so many seconds."""
        deadline = time.monotonic() + seconds
        operands = Operands(case)
        makers = {
            "ours": lambda: make_ours(self.driver, self.folder, entry, operands),
            "torch bf16": lambda: make_torch_bf16(operands),
            "torch fp8": lambda: make_torch_fp8(operands),
            "torch blocks": lambda: make_torch_blocks(operands),
        }
        results, timed = {}, {}
        for name in makers:
            if name in self.only:
                timed[name], why = attempt(name, makers[name])
                if why:
                    results[name] = dict(missing=why)
        if "triton" in self.only:
            timed["triton"], results["triton"] = self._triton(operands)
        running = {name: contender for name, contender in timed.items() if contender}
        if running:
            cost = sum(contender.cost for contender in running.values())
            rounds = (deadline - time.monotonic()) / max(cost, 1e-6)
            # Three rounds even if that takes longer; only what is very slow gets a single one.
            least = MIN_ROUNDS if rounds > 0.5 or cost < 1 else 1
            interleave(list(running.values()), max(least, min(MAX_ROUNDS, int(rounds))))
        for name, contender in running.items():
            results[name] = dict(results.get(name, {}), **contender.result())
        return results

    def _triton(self, operands):
        if not self.triton:
            return None, dict(missing=self.why_no_triton)
        best, tried = choose(self.triton.makers(operands))
        if best:
            return best, dict(tried=tried)
        reasons = dict.fromkeys(result["missing"] for result in tried.values())
        return None, dict(tried=tried, missing="; ".join(reasons) or "no configuration")


def save(path, results):
    """Writes the file whole, or leaves what was there."""
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(results, indent=1) + "\n")
    part.replace(path)


def tune(folder, manifest, entries, seconds, show):
    """Measures what `entries` hold of each case in turns; the first of a case is that which is chosen.

    `show` is called with each case and its (microseconds, schedule) pairs, None for what is wrong or does not
    run, which is named. Raises CudaError without a card.
    """
    session = Session(folder, manifest, entries, ())
    cases = dict.fromkeys(case for case, _ in entries)
    start, status = time.monotonic(), 0
    for done, case in enumerate(cases):
        operands = Operands(case)
        # What is far behind after a first look is not looked at again.
        tries = []
        for entry in (entry for of, entry in entries if of == case):
            timed, why = attempt(entry["file"], lambda entry=entry: make_ours(session.driver, folder, entry, operands))
            if timed:
                interleave([timed], CHOOSING_ROUNDS)
                why = "wrong" if timed.is_wrong else None
            if why:
                print(f"{entry['schedule'] or 'chosen'}: {why}", flush=True)
                status = 1
            tries.append((timed if not why else None, entry["schedule"]))
        if tries[0][0]:
            medians = [statistics.median(timed.samples) for timed, _ in tries if timed]
            close = [timed for timed, _ in tries if timed and statistics.median(timed.samples) < 1.2 * min(medians)]
            left = (start + seconds - time.monotonic()) / (len(cases) - done)
            interleave(close, MAX_ROUNDS, time.monotonic() + left)
            show(case, [(timed and statistics.median(timed.samples) * 1e6, schedule) for timed, schedule in tries])
        del tries, timed
        torch.cuda.empty_cache()
    return status


def run(folder, manifest, entries, only, seconds, output, show):
    """Measures `entries`, (case, entry of the manifest) pairs, within about `seconds`; saves after each.

    `show` is called with each finished case's results. Raises CudaError without a card.
    """
    start = time.monotonic()
    session = Session(folder, manifest, entries, only)
    results = dict(version=1, target=manifest["target"], cases=[], **session.describe())
    lost = None
    for i, (case, entry) in enumerate(entries):
        left = start + seconds - time.monotonic()
        found = dict(format=case.format, m=case.m, n=case.n, k=case.k, schedule=entry.get("schedule"))
        if lost or left <= 0:
            why = lost or f"not measured: {seconds:g} s were over"
            found["contenders"] = {name: dict(missing=why) for name in only}
        else:
            try:
                found["contenders"] = session.measure(case, entry, left / (len(entries) - i))
            except (CardLost, torch.cuda.OutOfMemoryError) as error:
                lost = str(error) if isinstance(error, CardLost) else None
                why = lost or first_line(error)
                found["contenders"] = {name: dict(missing=why) for name in only}
            if not lost:
                torch.cuda.empty_cache()
        results["cases"].append(found)
        save(output, results)
        show(found)
    results["seconds"] = round(time.monotonic() - start, 1)
    save(output, results)
    return 1 if lost else 0
