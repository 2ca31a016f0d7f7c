"""Tools of PyTorch that make graphs or processes, tried for `test_tools.py`.

Prints a line for each tool and network where it went well, and a traceback where it did not.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.multiprocessing as processes
from tool_networks import LENGTHS, NETWORKS, WIDTH, Network, X, gap, learned, loss_of, made, numbers
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

LONGER, LONGER_LENGTHS = numbers(7, 4, WIDTH, seed=4), torch.tensor([7, 1, 6, 6])


# In a graph a projection reads padded rows, so its gradient is summed in another order.
ROUNDING = {"darts-v1 in both directions": 1e-6}


def report(tool: str, name: str, attempt: Callable[[], float], most: float = 0.0) -> None:
    try:
        difference = attempt()
        assert difference <= most, f"off by {difference}"
    except Exception:
        traceback.print_exc(limit=-8)
        print(f"{tool}, {name}: FAILED", flush=True)
    else:
        print(f"{tool}, {name}: as in eager mode", flush=True)


def ours(graph: Any) -> int:
    return sum(str(node.target).startswith("cellwright.layer") for node in graph.nodes)


def compiled(name: str, backend: str) -> float:
    """Whole, with rows of different lengths, and then in another size."""
    torch._dynamo.reset()
    network, seen = made(name), []

    def kept(graph: Any, inputs: Any) -> Any:
        seen.append(graph.graph)
        return (
            graph.forward
            if backend == "eager"
            else torch._dynamo.lookup_backend(backend)(graph, inputs)
        )

    quick = torch.compile(network, backend=kept, fullgraph=True)
    calls = [(X, LENGTHS), (LONGER, LONGER_LENGTHS)]
    difference = max(
        gap(learned(quick, network, *call), learned(network, network, *call)) for call in calls
    )
    assert [ours(graph) for graph in seen] == [network.layers] * 2
    return difference


def exported(name: str, folder: Path) -> float:
    """For any length and batch; run again here, and kept for another process."""
    network = made(name)
    steps, batch = torch.export.Dim("steps"), torch.export.Dim("batch")
    program = torch.export.export(
        network, (X, LENGTHS), dynamic_shapes=({0: steps, 1: batch}, {0: batch})
    )
    assert ours(program.graph) == network.layers
    torch.export.save(program, folder / f"{name}.pt2")
    again = program.module()
    found = learned(again, again, LONGER, LONGER_LENGTHS)
    return gap(found, learned(network, network, LONGER, LONGER_LENGTHS))


def loaded(name: str, folder: Path) -> float:
    program = torch.export.load(folder / f"{name}.pt2").module()
    network = made(name)
    found = learned(program, program, LONGER, LONGER_LENGTHS)
    return gap(found, learned(network, network, LONGER, LONGER_LENGTHS))


def inductor(name: str) -> float:
    network = made(name)
    quick = torch.compile(network, fullgraph=True)
    return gap(learned(quick, network), learned(network, network))


def one_step_each(networks: list[Network]) -> None:
    """What Hogwild training does in each of its processes."""
    for network in networks:
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        optimizer.zero_grad()
        loss_of(network(X)).backward()
        optimizer.step()


def share() -> None:
    """This process and another train the same networks in turn, and each sees the other's work."""
    networks, twins = [made(name).share_memory() for name in NETWORKS], [*map(made, NETWORKS)]
    for _ in range(3):
        one_step_each(twins)
    one_step_each(networks)
    process = processes.get_context("spawn").Process(target=one_step_each, args=(networks,))
    process.start()
    process.join()
    one_step_each(networks)
    for name, network, twin in zip(NETWORKS, networks, twins, strict=True):
        pair = dict(network.named_parameters()), dict(twin.named_parameters())
        report("share_memory", name, lambda pair=pair: gap(*pair))


class Encoded(Dataset[Tensor]):
    def __init__(self, network: Network) -> None:
        self.network = network

    def __len__(self) -> int:
        return 4

    def __getitem__(self, number: int) -> Tensor:
        with torch.no_grad():
            return self.network(numbers(*X.shape, seed=number))[0]


def in_workers(name: str) -> float:
    data = Encoded(made(name))
    found = list(DataLoader(data, batch_size=None, num_workers=2))
    return max(float((found[i] - data[i]).abs().max()) for i in range(len(data)))


def main(what: str, *folder: str) -> None:
    if what == "processes":
        share()
    for name in NETWORKS:
        most = ROUNDING.get(name, 0.0)
        if what == "graphs":
            report("compile eager", name, lambda name=name: compiled(name, "eager"), most)
            report("compile aot_eager", name, lambda name=name: compiled(name, "aot_eager"), most)
            report("export", name, lambda name=name: exported(name, Path(*folder)), most)
        elif what == "load":
            report("load", name, lambda name=name: loaded(name, Path(*folder)), most)
        elif what == "inductor":
            report("compile inductor", name, lambda name=name: inductor(name), 1e-5)
        elif what == "processes":
            report("workers of a DataLoader", name, lambda name=name: in_workers(name))


if __name__ == "__main__":
    main(*sys.argv[1:])
