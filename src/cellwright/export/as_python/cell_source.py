"""The class of an exported file that is one layer of a cell, in one direction."""

from __future__ import annotations

from cellwright.cell import Cell
from cellwright.cell.names import parse_input
from cellwright.cell.ops import Kind
from cellwright.export.as_python.source_text import call, indented, plain_text
from cellwright.export.as_python.step_source import Names, arguments, step_lines

WEIGHTS = '''
class Weights(nn.Module):
    """Matrices and biases by their names; they start uniform in ± bound."""

    def __init__(self, bound: float, **shapes: Tuple[int, ...]) -> None:
        super().__init__()
        for name, shape in shapes.items():
            weight = torch.empty(shape).uniform_(-bound, bound)
            self.register_parameter(name, nn.Parameter(weight))
'''
"""What holds the weights of one linear."""


def cell_class(cell: Cell, names: Names, called: str) -> str:
    """The class: its weights, a step, and all steps after each other."""
    lines = [
        f"class {called}(nn.Module):",
        f'    """One layer of the cell {_title(cell)}, in one direction."""',
        "",
        "    def __init__(self, input_size: int, hidden_size: int) -> None:",
        "        super().__init__()",
        *_holders(cell, names),
        "",
        *_step(cell, names),
        "",
        *_all_steps(cell),
    ]
    return "\n".join(lines) + "\n"


def state_names(cell: Cell) -> list[list[str]]:
    """For each state the variables of its values, nearest step first.

    >>> from cellwright import zoo
    >>> state_names(zoo["lstm"])
    [['h0'], ['h1']]
    """
    back = range(2, cell.state_history + 1)
    return [[f"h{s}", *(f"h{s}_back{k}" for k in back)] for s in range(len(cell.states))]


def _title(cell: Cell) -> str:
    return f"{plain_text(cell.name)} ({cell.id})" if cell.name else cell.id


def _holders(cell: Cell, names: Names) -> list[str]:
    """The assignments that make the weights."""
    size = {"input": "input_size", "hidden": "hidden_size"}
    held: dict[str, dict[str, str]] = {}
    for node in cell.nodes:
        if node.spec.kind is not Kind.LINEAR:
            continue
        rows = size[node.width]
        for position, name in enumerate(node.inputs):
            holder, weight = names.weight(node, position)
            held.setdefault(holder, {})[weight] = f"({rows}, {size[cell.width(name)]})"
        if node.bias:
            holder, bias = names.bias(node)
            held.setdefault(holder, {})[bias] = f"({rows},)"
    lines = ["        bound = hidden_size**-0.5"] if held else []
    for holder, shapes in held.items():
        given = ["bound", *(f"{name}={shape}" for name, shape in shapes.items())]
        lines += call(f"self.{holder} = Weights", given, "", 8)
    return lines


def _step(cell: Cell, names: Names) -> list[str]:
    given = [f"{names.value(name)}: Tensor" for name in arguments(cell)]
    result = f"Tuple[{', '.join(['Tensor'] * (1 + len(cell.states)))}]"
    back = ", ".join(names.value(name) for name in (cell.output, *cell.states))
    states = " and ".join(f"h{state}" for state in range(len(cell.states)))
    return [
        *call("def step", ["self", *given], f" -> {result}:", 4),
        f'        """One time step: the output, and the new {states}."""',
        *indented(step_lines(cell, names), 8),
        f"        return {back}",
    ]


def _all_steps(cell: Cell) -> list[str]:
    """`forward`: all steps of one direction. Rows that have ended keep their states."""
    history, past = state_names(cell), cell.input_history
    flat = [name for names in history for name in names]
    new = ", ".join(["output", *(f"new_{names[0]}" for names in history)])
    given = []
    for name in arguments(cell):
        known = parse_input(name)
        assert known is not None
        if known.state is None:
            back = past - known.back
            given.append(f"x[{f't + {back}' if back else 't'}]")
        else:
            given.append(history[known.state][known.back - 1])
    moved, kept = [], []
    for names in history:
        nearer = [f"new_{names[0]}", *names[:-1]]
        for older, newer in zip(reversed(names), reversed(nearer), strict=True):
            moved.append(f"{older} = {newer}")
            kept.append(f"{older} = torch.where(inside[t], {newer}, {older})")
    steps = f"x.size(0) - {past}" if past else "x.size(0)"
    signature = ["self", "x: Tensor", "states: List[Tensor]", "inside: Optional[Tensor]"]
    note = f" x begins {past} steps before the first." if past else ""
    return [
        *call("def forward", signature, " -> Tuple[Tensor, List[Tensor]]:", 4),
        f'        """All steps, and the states after the last one.{note}"""',
        *(f"        {name} = states[{number}]" for number, name in enumerate(flat)),
        "        outputs: List[Tensor] = []",
        f"        for t in range({steps}):",
        *call(f"{new} = self.step", given, "", 12),
        "            if inside is None:",
        *(f"                {line}" for line in moved),
        "            else:",
        "                output = torch.where(inside[t], output, torch.zeros_like(output))",
        *(f"                {line}" for line in kept),
        "            outputs.append(output)",
        f"        return torch.stack(outputs), [{', '.join(flat)}]",
    ]
