"""PyTorch's tools on three networks: each gives what plain eager mode gives.

Tools that make graphs of operations, or other processes, are tried in processes of their own.
"""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from support import core_calls, on
from surroundings_cases import marks
from tool_networks import NETWORKS, Network, X, gap, learned, loss_of, made, numbers
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functional_call, grad, jvp, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint

from effort import EFFORT

pytestmark = marks


def trace(network: Network, expected: dict[str, Tensor]) -> float:
    return gap(learned(torch.jit.trace(network, (X + 1,), strict=False), network), expected)


def fake_tensors(network: Network, expected: dict[str, Tensor]) -> float:
    with FakeTensorMode() as mode:
        found = learned(twin := made_like(network), twin, mode.from_tensor(X))
    assert {name: t.shape for name, t in found.items()} == {
        name: t.shape for name, t in expected.items()
    }
    return 0.0


def made_like(network: Network) -> Network:
    return NETWORKS[next(name for name in NETWORKS if repr(made(name)) == repr(network))]()


def recorded_operations(network: Network, expected: dict[str, Tensor]) -> float:
    graph = make_fx(lambda x: network(x))(X + 1)
    ours = [node for node in graph.graph.nodes if str(node.target).startswith("cellwright.layer")]
    assert len(ours) == network.layers
    found = {f"output {i}": tensor.detach() for i, tensor in enumerate(graph(X))}
    return gap(found, {name: expected[name] for name in found})


def func_grad(network: Network, expected: dict[str, Tensor]) -> float:
    weights = {name: weight.detach() for name, weight in network.named_parameters()}

    def loss(weights: dict[str, Tensor], x: Tensor) -> Tensor:
        return loss_of(functional_call(network, weights, (x,)))

    of_weights, of_x = grad(loss, argnums=(0, 1))(weights, X)
    found = {**of_weights, "x": of_x}
    return gap(found, {name: expected[name] for name in found})


def func_vmap(network: Network, expected: dict[str, Tensor]) -> float:
    many = vmap(lambda x: network(x))(torch.stack([X, numbers(*X.shape, seed=2)]))
    found = {f"output {i}": tensor[0].detach() for i, tensor in enumerate(many)}
    return gap(found, {name: expected[name] for name in found})


def func_jvp(network: Network, expected: dict[str, Tensor]) -> float:
    direction = numbers(*X.shape, seed=3)
    _, found = jvp(lambda x: loss_of(network(x)), (X,), (direction,))
    return gap({"slope": found}, {"slope": (expected["x"] * direction).sum()})


def func_functional_call(network: Network, expected: dict[str, Tensor]) -> float:
    own = dict(network.named_parameters())
    with core_calls() as calls:
        found = learned(lambda x: functional_call(network, own, (x,)), network)
    assert len(calls) == network.layers
    return gap(found, expected)


def checkpointed(network: Network, expected: dict[str, Tensor]) -> float:
    return max(
        gap(
            learned(lambda x, way=way: checkpoint(network, x, use_reentrant=way), network), expected
        )
        for way in (False, True)
    )


def autocast(network: Network, expected: dict[str, Tensor]) -> float:
    def cast(x: Tensor) -> tuple[Tensor, ...]:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return tuple(tensor.float() for tensor in network(x))

    found = learned(cast, network)
    assert 0 < gap(found, expected) < 0.1  # eight bits of each number
    on(network.recurrent, "torch")
    return gap(found, learned(cast, network))


def inference_mode(network: Network, expected: dict[str, Tensor]) -> float:
    with torch.inference_mode(), core_calls() as calls:
        found = {f"output {i}": tensor.clone() for i, tensor in enumerate(network(X))}
    assert len(calls) == network.layers
    return gap(found, {name: expected[name] for name in found})


def deepcopy(network: Network, expected: dict[str, Tensor]) -> float:
    return apart(copy.deepcopy(network), network, expected)


def pickled(network: Network, expected: dict[str, Tensor]) -> float:
    return apart(pickle.loads(pickle.dumps(network)), network, expected)


def apart(copied: Network, network: Network, expected: dict[str, Tensor]) -> float:
    """A copy has weights of its own."""
    with torch.no_grad():
        for weight in network.parameters():
            weight.zero_()
    with core_calls() as calls:
        found = learned(copied, copied)
    assert len(calls) == network.layers
    return gap(found, expected)


def double_backward(network: Network, expected: dict[str, Tensor]) -> float:
    def second() -> dict[str, Tensor]:
        x = X.clone().requires_grad_()
        wanted = [x, *network.parameters()]
        first = torch.autograd.grad(loss_of(network(x)), wanted, create_graph=True)
        size = torch.stack([gradient.square().sum() for gradient in first]).sum()
        return dict(zip("x" + "w" * len(wanted), torch.autograd.grad(size, wanted), strict=False))

    found = second()
    on(network.recurrent, "torch")
    return gap(found, second())


def hooks(network: Network, expected: dict[str, Tensor]) -> float:
    seen: list[str] = []
    recurrent = network.recurrent
    weight = next(recurrent.parameters())
    handles = [
        recurrent.register_forward_pre_hook(lambda *_: seen.append("before")),
        recurrent.register_forward_hook(lambda *_: seen.append("forward")),
        recurrent.register_full_backward_pre_hook(lambda *_: seen.append("backward begins")),
        recurrent.register_full_backward_hook(lambda *_: seen.append("backward")),
        weight.register_hook(lambda gradient: seen.append("weight")),
    ]

    def call(x: Tensor) -> tuple[Tensor, ...]:
        outputs = network(x)
        outputs[0].register_hook(lambda gradient: seen.append("output"))
        return outputs

    found = learned(call, network)
    for handle in handles:
        handle.remove()
    assert sorted(seen) == [
        "backward", "backward begins", "before", "forward", "output", "weight",
    ]  # fmt: skip
    return gap(found, expected)


def meta_device(network: Network, expected: dict[str, Tensor]) -> float:
    outputs = network.to("meta")(X.to("meta"))
    assert all(tensor.is_meta for tensor in outputs)
    found = [tensor.shape for tensor in outputs]
    assert found == [expected[f"output {i}"].shape for i in range(len(found))]
    return 0.0


ON_TORCH = [trace, func_grad, func_vmap, func_jvp, autocast, double_backward, meta_device]
ON_THE_CORE = [
    fake_tensors, recorded_operations, func_functional_call, checkpointed, inference_mode, hooks,
    deepcopy, pickled,
]  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("tool", [*ON_THE_CORE, *ON_TORCH], ids=lambda tool: tool.__name__)
def test_a_tool_gives_what_eager_mode_gives(tool: Callable[..., float], name: str) -> None:
    network = made(name)
    expected = learned(network, network)
    difference = tool(network, expected)
    assert difference <= (1e-5 if tool in ON_TORCH else 0.0)


# -- in processes of their own -------------------------------------------------------------------


def tried(*arguments: str) -> str:
    """What a process prints that tries some tools, one line for each that went well."""
    script = Path(__file__).with_name("tools_in_a_process.py")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=False,
    )
    return f"{done.stdout}\n{done.stderr}\nended with {done.returncode}"


def test_a_layer_is_one_operation_of_a_graph(tmp_path: Path) -> None:
    """In one test, because a process that compiles takes long."""
    printed = tried("graphs", str(tmp_path)) + tried("load", str(tmp_path))
    for tool in ("compile eager", "compile aot_eager", "export", "load"):
        for name in NETWORKS:
            assert f"{tool}, {name}: as in eager mode" in printed, printed


def test_processes_share_a_network() -> None:
    printed = tried("processes")
    for name in NETWORKS:
        assert f"share_memory, {name}: as in eager mode" in printed, printed
        assert f"workers of a DataLoader, {name}: as in eager mode" in printed, printed


@pytest.mark.skipif(EFFORT < 2, reason="compiles C++, which takes a minute")
def test_the_default_compiler() -> None:
    printed = tried("inductor")
    for name in NETWORKS:
        assert f"compile inductor, {name}: as in eager mode" in printed, printed
