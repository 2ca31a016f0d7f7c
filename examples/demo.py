"""What exists today, in one minute: draw the zoo, run cells, train two of them on a toy task.

    python examples/demo.py [FOLDER]

Pictures and an `index.html` with all of them go into FOLDER, `demo` unless said.
"""

from __future__ import annotations

import base64
import html
import sys
from pathlib import Path

import cellwright as cw

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>The zoo of cellwright</title>
<style>
  body {{ font: 15px/1.4 system-ui, sans-serif; margin: 2rem; color: #1d2433;
         background: #f6f7f9; }}
  main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(34rem, 1fr)); gap: 1rem; }}
  figure {{ margin: 0; padding: 1rem; background: #fff; border: 1px solid #dde1e8;
           border-radius: 8px; overflow-x: auto; }}
  img {{ max-width: 100%; height: auto; }}
  figcaption {{ margin-bottom: .5rem; }}
  code, small {{ color: #667085; }}
</style>
<h1>The zoo: {count} cells</h1>
<main>
{figures}
</main>
</html>
"""

FIGURE = """<figure id="{name}">
<figcaption><b>{name}</b> <code>{id}</code><br>
<small>{nodes} nodes, depth {depth}, {parameters:,} parameters at 300 → 300. {source}</small>
</figcaption>
<img alt="the graph of {name}" src="data:image/svg+xml;base64,{picture}">
</figure>"""


def draw_the_zoo(folder: Path) -> None:
    """One SVG per cell, and one self-contained page with all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = []
    for name, cell in cw.zoo.items():
        svg = cell.draw(folder / f"{name}.svg", legend=False).read_bytes()
        figures.append(
            FIGURE.format(
                name=html.escape(name),
                id=cell.id,
                nodes=len(cell.nodes),
                depth=cell.depth,
                parameters=cell.parameters(300, 300),
                source=html.escape(str(cell.notes.get("source", ""))),
                picture=base64.b64encode(svg).decode(),
            )
        )
    page = PAGE.format(count=len(figures), figures="\n".join(figures))
    (folder / "index.html").write_text(page, encoding="utf-8")
    print(f"drew {len(figures)} cells; open {folder / 'index.html'}")


def print_cells(*names: str) -> None:
    """Cells as text."""
    for name in names:
        print(f"\n{cw.zoo[name].to_text().rstrip()}")


def compare_with_torch() -> None:
    """`lstm` from the zoo, with the weights of an `nn.LSTM`, computes what that computes."""
    import torch

    torch.manual_seed(0)
    lstm = torch.nn.LSTM(300, 300)
    ours = cw.Recurrent(cw.zoo["lstm"], 300, 300)
    weights = {}
    stacked = (lstm.weight_ih_l0, lstm.weight_hh_l0, lstm.bias_ih_l0, lstm.bias_hh_l0)
    for gate, *parts in zip("ifgo", *(tensor.chunk(4) for tensor in stacked), strict=True):
        names = (f"{gate}_x.weight_x", f"{gate}_h.weight_h0", f"{gate}_x.bias", f"{gate}_h.bias")
        weights |= {f"layer0.{name}": part for name, part in zip(names, parts, strict=True)}
    ours.load_state_dict(weights)
    x = torch.randn(35, 16, 300)
    with torch.no_grad():
        expected, _ = lstm(x)
        y, _ = ours(x)
    difference = (y - expected).abs().max().item()
    print(
        f"\nlstm as a cell against nn.LSTM, {tuple(y.shape)}: largest difference {difference:.1e}"
    )


def train(name: str, steps: int = 60) -> None:
    """Next-token prediction on sequences in which each token is 3 times the last plus 1."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    vocabulary, width = 17, 64
    embed = nn.Embedding(vocabulary, width)
    rnn = cw.Recurrent(cw.zoo[name], width, width)
    decode = nn.Linear(width, vocabulary)
    parameters = [p for module in (embed, rnn, decode) for p in module.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=5e-3)
    losses = []
    for _ in range(steps):
        tokens = [torch.randint(vocabulary, (32,))]
        for _ in range(16):
            tokens.append((3 * tokens[-1] + 1) % vocabulary)
        batch = torch.stack(tokens)
        y, _state = rnn(embed(batch[:-1]))
        loss = nn.functional.cross_entropy(decode(y).flatten(0, 1), batch[1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    shown = " → ".join(f"{losses[i]:.3f}" for i in (0, steps // 4, steps // 2, steps - 1))
    print(f"{name:10} loss over {steps} training steps: {shown}")


def main() -> None:
    """Run all parts."""
    draw_the_zoo(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
    print_cells("gru", "darts-v1")
    compare_with_torch()
    for name in ("lstm", "darts-v1"):
        train(name)


if __name__ == "__main__":
    main()
