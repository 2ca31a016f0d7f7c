"""The class of an exported file that stacks layers of a cell, called and shaped like `nn.LSTM`."""

from __future__ import annotations

from cellwright.cell import Cell
from cellwright.export.as_python.cell_source import state_names

HELPERS = '''
def backwards(x: Tensor, lengths: Optional[Tensor]) -> Tensor:
    """Each sequence from its end to its start; what stands behind its end stays there."""
    if lengths is None:
        return x.flip(0)
    steps = torch.arange(x.size(0), device=x.device).unsqueeze(1)
    back = lengths.unsqueeze(0) - 1 - steps
    index = torch.where(back >= 0, back, steps.expand_as(back))
    return x.gather(0, index.unsqueeze(2).expand_as(x))
'''

LAST_STEPS = '''
def last_steps(x: Tensor, count: int, lengths: Optional[Tensor]) -> Tensor:
    """The last steps of each sequence, the last one first, of x with so many more in front."""
    if lengths is None:
        return x[-count:].flip(0)
    steps = torch.arange(count - 1, -1, -1, device=x.device).unsqueeze(1)
    index = steps + lengths.unsqueeze(0)
    return x.gather(0, index.unsqueeze(2).expand(-1, -1, x.size(2)))
'''


def state_type(cell: Cell) -> str:
    """The carried state as an annotation: as `Recurrent` has it, but a list where the number of
    its tensors follows from the number of layers."""
    if cell.input_history:
        return "List[Tensor]"
    count = len(cell.states) * (2 if cell.state_history > 1 else 1)
    return "Tensor" if count == 1 else f"Tuple[{', '.join(['Tensor'] * count)}]"


def network_class(cell: Cell, called: str, cell_called: str, *, projects: bool) -> str:
    """The class.

    Args:
        cell: as the engine runs it.
        called: the name of the class.
        cell_called: that of the class which is one layer.
        projects: whether it can put a projection before the first layer.
    """
    state = state_type(cell)
    blocks = [
        [f"class {called}(nn.Module):", *_about(cell, projects), ""],
        [*_init(cell_called, projects), ""],
        _forward(cell, state, projects),
    ]
    return "\n".join(line for block in blocks for line in block) + "\n"


def _about(cell: Cell, projects: bool) -> list[str]:
    lines = [
        '    """Layers of the cell on top of each other; called and shaped like `nn.LSTM`.',
        "",
        "    x is (steps, batch, input_size), or batch first. The state is",
    ]
    parts = ["one tensor (layers * directions, batch, hidden_size) for each of its states"]
    if cell.state_history > 1:
        older = cell.state_history - 1
        parts.append(
            f"for each a second one with its {older} older value{'s' * (older > 1)}, "
            "nearest step first:\n    (layers * directions, steps back, batch, hidden_size)"
        )
    if cell.input_history:
        parts.append(
            "for each layer its past inputs, nearest step first:\n"
            f"    (directions, {cell.input_history}, batch, width of what it reads)"
        )
    lines += (";\n    ".join(parts) + ";").split("\n")
    lines += [
        "    zeros unless given. lengths are those of the sequences of a padded batch, from 1 to",
        "    steps: outputs behind a sequence's end are zero, and the state is that of its end.",
    ]
    lines = [line if line.startswith(" ") else f"    {line}" for line in lines if line]
    lines.insert(1, "")
    if projects:
        lines += ["    With project_input a projection to hidden_size stands before all layers."]
    return [*lines, '    """']


def _init(cell_called: str, projects: bool) -> list[str]:
    first = "hidden_size if project_input else input_size" if projects else "input_size"
    lines = [
        "    def __init__(",
        "        self,",
        "        input_size: int,",
        "        hidden_size: int,",
        "        num_layers: int = 1,",
        "        batch_first: bool = False,",
        "        bidirectional: bool = False,",
        "        dropout: float = 0.0,",
        *(["        project_input: bool = False,"] if projects else []),
        "    ) -> None:",
        "        super().__init__()",
        "        self.hidden_size = hidden_size",
        "        self.batch_first = batch_first",
        "        self.directions = 2 if bidirectional else 1",
        "        self.dropout = dropout",
        f"        first = {first}",
        "        self.widths = [first] + [self.directions * hidden_size] * (num_layers - 1)",
    ]
    if projects:
        lines += [
            "        projection = nn.Linear(input_size, hidden_size, bias=False)",
            "        self.projection = projection if project_input else None",
        ]
    lines += [
        "        # layers[k] goes with state[k]: the first layer in each direction, then the next.",
        "        self.layers = nn.ModuleList(",
        f"            {cell_called}(width, hidden_size)",
        "            for width in self.widths",
        "            for _ in range(self.directions)",
        "        )",
    ]
    return lines


def _forward(cell: Cell, state: str, projects: bool) -> list[str]:
    history, past = state_names(cell), cell.input_history
    nearest = [names[0] for names in history]
    older = [f"older_{name}" for name in nearest] if cell.state_history > 1 else []
    tensors = nearest + older
    lines = [
        "    def forward(",
        "        self,",
        "        x: Tensor,",
        f"        state: Optional[{state}] = None,",
        "        lengths: Optional[Tensor] = None,",
        f"    ) -> Tuple[Tensor, {state}]:",
        '        """The output of the last layer at every step, and the state behind the last."""',
        "        if self.batch_first:",
        "            x = x.transpose(0, 1)",
        "        inside: Optional[Tensor] = None",
        "        if lengths is not None:",
        "            lengths = lengths.to(x.device)",
        "            steps = torch.arange(x.size(0), device=x.device).unsqueeze(1)",
        "            inside = (steps < lengths).unsqueeze(2)",
        "            x = torch.where(inside, x, torch.zeros_like(x))",
    ]
    if projects:
        lines += ["        if self.projection is not None:", "            x = self.projection(x)"]
    lines += _before(cell, tensors, past)
    lines += [f"        last_{name}: List[Tensor] = []" for name in tensors]
    if past:
        lines += [
            "        last_x: List[Tensor] = []",
            "        last_of_layer: List[Tensor] = []",
        ]
    initial = [
        name if not number else f"older_{names[0]}[at, {number - 1}]"
        for names in history
        for number, name in enumerate(names)
    ]
    initial = [f"{one}[at]" if one in nearest else one for one in initial]
    lines += [
        "        outputs: List[Tensor] = []",
        "        for at, layer in enumerate(self.layers):",
        "            reads_back = at % self.directions == 1",
        "            seen = backwards(x, lengths) if reads_back else x",
    ]
    if past:
        lines += [
            "            before = past[at // self.directions][at % self.directions]",
            "            seen = torch.cat([before.flip(0), seen])",
            f"            last_of_layer.append(last_steps(seen, {past}, lengths))",
        ]
    lines += [
        f"            output, states = layer(seen, [{', '.join(initial)}], inside)",
        "            outputs.append(backwards(output, lengths) if reads_back else output)",
    ]
    step = cell.state_history
    for number, name in enumerate(nearest):
        lines.append(f"            last_{name}.append(states[{number * step}])")
    for number, name in enumerate(older):
        chosen = f"states[{number * step + 1} : {(number + 1) * step}]"
        lines.append(f"            last_{name}.append(torch.stack({chosen}))")
    lines += [
        "            if len(outputs) == self.directions:",
        "                x = torch.cat(outputs, 2)",
        "                outputs.clear()",
    ]
    if past:
        lines += [
            "                last_x.append(torch.stack(last_of_layer))",
            "                last_of_layer.clear()",
        ]
    lines += [
        "                if self.dropout > 0.0 and at + 1 < len(self.layers):",
        "                    x = F.dropout(x, self.dropout, self.training)",
        "        if self.batch_first:",
        "            x = x.transpose(0, 1)",
    ]
    stacked = [f"torch.stack(last_{name})" for name in tensors]
    if past:
        lines.append(f"        return x, [{', '.join(stacked)}] + last_x")
    elif len(stacked) == 1:
        lines.append(f"        return x, {stacked[0]}")
    else:
        lines.append(f"        return x, ({', '.join(stacked)})")
    return lines


def _before(cell: Cell, tensors: list[str], past: int) -> list[str]:
    """The tensors of the state before the first step."""
    sizes = ["len(self.layers), x.size(1), self.hidden_size"] * len(cell.states)
    back = cell.state_history - 1
    sizes += [f"len(self.layers), {back}, x.size(1), self.hidden_size"] * (
        len(tensors) - len(cell.states)
    )
    lines = ["        if state is None:"]
    lines += [
        f"            {name} = x.new_zeros({size})"
        for name, size in zip(tensors, sizes, strict=True)
    ]
    if past:
        lines += [
            "            past = [",
            f"                x.new_zeros(self.directions, {past}, x.size(1), width)",
            "                for width in self.widths",
            "            ]",
        ]
    lines.append("        else:")
    if len(tensors) == 1 and not past:
        return [*lines, f"            {tensors[0]} = state"]
    lines += [f"            {name} = state[{number}]" for number, name in enumerate(tensors)]
    if past:
        lines.append(f"            past = list(state[{len(tensors)} :])")
    return lines
