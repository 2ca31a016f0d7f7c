"""What people can rely on in drawings: all is shown, nothing is hidden, files are whole."""

from __future__ import annotations

import io
import random
import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image

from cellwright.cell import Cell, CellError, Node
from cellwright.cell.draw import picture, png, save, scene, svg, text
from cellwright.cell.draw.diagram import Look, diagram
from cellwright.cell.ops import OPS

SVG = "{http://www.w3.org/2000/svg}"


def rnn() -> Cell:
    nodes = [Node("s", "linear", ("x", "h0")), Node("h", "tanh", ("s",))]
    return Cell(nodes, ["h"], name="rnn")


def lstm() -> Cell:
    nodes = []
    for gate, act in (("i", "sigmoid"), ("f", "sigmoid"), ("g", "tanh"), ("o", "sigmoid")):
        nodes += [
            Node(f"{gate}x", "linear", ("x",)),
            Node(f"{gate}h", "linear", ("h0",)),
            Node(f"{gate}s", "add", (f"{gate}x", f"{gate}h")),
            Node(gate, act, (f"{gate}s",)),
        ]
    nodes += [
        Node("fc", "mul", ("f", "h1")),
        Node("ig", "mul", ("i", "g")),
        Node("c", "add", ("fc", "ig")),
        Node("tc", "tanh", ("c",)),
        Node("h", "mul", ("o", "tc")),
    ]
    return Cell(nodes, ["h", "c"], name="lstm")


def highway(number: int, act: str, inputs: tuple[str, ...]) -> list[Node]:
    return [
        Node(f"c{number}", "linear", inputs, bias=False),
        Node(f"g{number}", "sigmoid", (f"c{number}",)),
        Node(f"l{number}", "linear", inputs, bias=False),
        Node(f"a{number}", act, (f"l{number}",)),
        Node(f"s{number}", "blend", (f"g{number}", f"a{number}", inputs[-1])),
    ]


def darts() -> Cell:
    acts = ["relu0", "relu1", "tanh2", "relu3", "relu4", "identity1", "relu5", "relu1"]
    nodes = highway(0, "tanh", ("x", "h0"))
    for number, act in enumerate(acts, start=1):
        nodes += highway(number, act[:-1], (f"s{act[-1]}",))
    nodes.append(Node("h", "mean", tuple(f"s{i}" for i in range(1, 9))))
    return Cell(nodes, ["h"], name="darts")


def with_history() -> Cell:
    nodes = [
        Node("a", "linear", ("x@1",)),
        Node("b", "linear", ("x@2",)),
        Node("m", "mean", ("a", "b")),
        Node("hh", "mul", ("h0", "m")),
        Node("c", "linear", ("h0@3",), width="input"),
        Node("xx", "mul", ("x", "c")),
        Node("s", "linear", ("xx", "hh")),
        Node("h", "tanh", ("s",)),
    ]
    return Cell(nodes, ["h"], name="history")


def supernet() -> Cell:
    nodes = [Node("s", "linear", ("x", "h0")), Node("g", "sigmoid", ("s",))]
    acts = ("tanh", "relu", "identity")
    for act in acts:
        nodes += [Node(act, act, ("s",)), Node(f"b_{act}", "blend", ("g", act, "h0"))]
    nodes += [Node("m", "mix", tuple(f"b_{act}" for act in acts)), Node("n", "norm", ("m",))]
    return Cell(nodes, ["n"])


def odd() -> Cell:
    """Shared weights, a value read twice by one node, dead ends, one node for two states."""
    nodes = [
        Node("z0", "zero"),
        Node("d", "sub", ("h0", "h1")),
        Node("sq", "mul", ("d", "d")),
        Node("k1", "linear", ("x", "sq"), keys=("wa", "wb")),
        Node("k2", "linear", ("z0",), bias=False, keys=("wb",)),
        Node("dead", "tanh", ("h0",)),
        Node("q", "blend", ("k1", "k1", "k2")),
        Node("zz", "zero", ("q",)),
        Node("o", "add", ("zz", "q", "k2", "d")),
    ]
    return Cell(nodes, ["q", "q"], output="o", name='<odd> & "quoted" \x00\x1b ü 中 \ud800')


def sampled(seed: int, count: int = 24, states: int = 3) -> Cell:
    chance = random.Random(seed)
    known = [f"h{i}" for i in range(states)]
    nodes = []
    for number in range(count):
        op = chance.choice([op for op in OPS.values() if op.least > 0])
        wanted = chance.randint(op.least, min(op.most or 4, 4))
        inputs = [chance.choice(known[-12:]) for _ in range(wanted)]
        if op.name == "linear":
            inputs.append("x")
        nodes.append(Node(f"n{number}", op.name, tuple(inputs)))
        known.append(f"n{number}")
    return Cell(nodes, [f"n{count - 1 - i}" for i in range(states)])


CELLS = {
    **{make.__name__: make() for make in (rnn, lstm, darts, with_history, supernet, odd)},
    **{f"sampled {seed}": sampled(seed) for seed in range(4)},
    "sampled, large": sampled(1, count=90),
}


@pytest.fixture(params=CELLS, ids=str)
def cell(request: pytest.FixtureRequest) -> Cell:
    return CELLS[request.param]


@pytest.mark.parametrize("fold", [True, False])
def test_each_node_is_shown_exactly_once(cell: Cell, fold: bool) -> None:
    shown = [name for vertex in diagram(cell, fold=fold).vertices for name in vertex.covers]
    assert sorted(shown) == sorted(node.name for node in cell.nodes)


def test_without_folding_each_edge_of_the_graph_is_an_edge_of_the_picture(cell: Cell) -> None:
    edges = diagram(cell, fold=False).edges
    drawn = sorted((e.source, e.target) for e in edges if e.target in cell)
    assert drawn == sorted((name, node.name) for node in cell.nodes for name in node.inputs)


def test_folding_hides_no_value_that_is_used_elsewhere(cell: Cell) -> None:
    kept = {vertex.covers[-1] for vertex in diagram(cell).vertices if vertex.covers}
    assert {*cell.states, cell.output} <= kept
    for name in {node.name for node in cell.nodes} - kept:
        assert sum(node.inputs.count(name) for node in cell.nodes) == 1


def test_highways_are_folded_whatever_their_names() -> None:
    shown = [v for v in diagram(darts()).vertices if v.look is Look.HIGHWAY]
    labels = [vertex.labels[0] for vertex in shown]
    assert labels == ["tanh", "relu", "relu", "tanh", "relu", "relu", "identity", "relu", "relu"]


@pytest.mark.parametrize("change", ["gate used twice", "other order", "not a sigmoid"])
def test_what_is_not_a_highway_is_not_folded_as_one(change: str) -> None:
    nodes = highway(0, "tanh", ("x", "h0"))
    last = Node("h", "identity", ("s0",))
    if change == "gate used twice":
        last = Node("h", "mul", ("s0", "g0"))
    elif change == "other order":
        nodes[-1] = Node("s0", "blend", ("g0", "h0", "a0"))
    else:
        nodes[1] = Node("g0", "tanh", ("c0",))
    looks = {vertex.look for vertex in diagram(Cell([*nodes, last], ["h"])).vertices}
    assert Look.HIGHWAY not in looks
    assert Look.HIGHWAY in {
        v.look for v in diagram(Cell(highway(0, "tanh", ("h0",)), ["s0"])).vertices
    }


def test_inputs_are_left_results_right_and_every_edge_goes_right(cell: Cell) -> None:
    made = picture.arrange(cell)
    x = {v.key: c[0] for v, c in zip(made.diagram.vertices, made.layout.centres, strict=True)}
    looks = {v.key: v.look for v in made.diagram.vertices}
    inputs = {x[key] for key, look in looks.items() if look is Look.INPUT}
    finals = [x[key] for key, look in looks.items() if look is Look.FINAL]
    inner = [x[key] for key, look in looks.items() if look not in (Look.INPUT, Look.FINAL)]
    assert len(inputs) == 1
    assert max(inputs) < min(inner)
    assert max(inner) < min(finals)
    assert all(x[edge.source] < x[edge.target] for edge in made.diagram.edges)


@pytest.mark.parametrize("fold", [True, False])
def test_no_edge_and_no_vertex_touches_another_vertex(cell: Cell, fold: bool) -> None:
    made = picture.arrange(cell, fold=fold)
    rooms = {}
    for vertex, box, (x, y) in zip(
        made.diagram.vertices, made.boxes, made.layout.centres, strict=True
    ):
        half = box.width / 2
        rooms[vertex.key] = (x - half, y - box.above, x + half, y + box.below)
    for key, a in rooms.items():
        for other, b in rooms.items():
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert key == other or apart, (key, other)
    for edge, route in zip(made.diagram.edges, made.layout.routes, strict=True):
        own = {edge.source, edge.target}
        for x, y in curve(route.points):
            for key, (left, top, right, bottom) in rooms.items():
                inside = left < x < right and top < y < bottom
                assert key in own or not inside, (edge, key)


def curve(points: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """Points along an edge as it is drawn: level, then a curve, then level, …"""
    found = []
    for i, ((ax, ay), (bx, by)) in enumerate(pairwise(points)):
        for step in range(21):
            t = step / 20
            if i % 2 == 0:
                found.append((ax + (bx - ax) * t, ay + (by - ay) * t))
                continue
            s, middle = 1 - t, (ax + bx) / 2
            weights = s**3, 3 * s * s * t, 3 * s * t * t, t**3
            xs, ys = (ax, middle, middle, bx), (ay, ay, by, by)
            found.append(
                (
                    sum(w * x for w, x in zip(weights, xs, strict=True)),
                    sum(w * y for w, y in zip(weights, ys, strict=True)),
                )
            )
    return found


def test_edges_end_at_their_own_vertices(cell: Cell) -> None:
    made = picture.arrange(cell)
    number = {vertex.key: i for i, vertex in enumerate(made.diagram.vertices)}
    for edge, route in zip(made.diagram.edges, made.layout.routes, strict=True):
        source, target = number[edge.source], number[edge.target]
        (x0, y0), (x1, y1) = made.layout.centres[source], made.layout.centres[target]
        assert route.points[0] == pytest.approx((x0 + made.boxes[source].width / 2, y0))
        assert route.points[-1][0] == pytest.approx(x1 - made.boxes[target].width / 2)
        assert abs(route.points[-1][1] - y1) <= made.boxes[target].reach + 1e-6


def test_arrows_into_one_vertex_end_apart(cell: Cell) -> None:
    made = picture.arrange(cell)
    ends: dict[str, list[float]] = {}
    for edge, route in zip(made.diagram.edges, made.layout.routes, strict=True):
        ends.setdefault(edge.target, []).append(route.points[-1][1])
    for heights in ends.values():
        assert all(b - a > 3 for a, b in pairwise(sorted(heights)))


@pytest.mark.parametrize(("make", "most"), [(rnn, 0), (lstm, 6), (darts, 0), (with_history, 0)])
def test_few_crossings(make: object, most: int) -> None:
    assert callable(make)
    # Four gates that all read x and h0 cannot do with fewer than 6: K(2,4) in two columns.
    assert picture.arrange(make()).layout.crossings <= most


def test_drawing_is_deterministic(cell: Cell) -> None:
    again = Cell.from_json(cell.to_json()) if "\ud800" not in cell.name else cell
    assert svg.render(again) == svg.render(cell)


@pytest.mark.parametrize("legend", [True, False])
def test_svg_is_xml_that_needs_nothing_else(cell: Cell, legend: bool) -> None:
    drawn = svg.render(cell, legend=legend)
    root = ElementTree.fromstring(drawn.encode())
    assert root.tag == f"{SVG}svg"
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "rect", "g", "path", "text"}
    assert "href" not in drawn
    assert "url(" not in drawn
    titles = "\n".join(element.text or "" for element in root.iter(f"{SVG}title"))
    for node in cell.nodes:
        assert re.search(rf"^{re.escape(node.name)} = ", titles, re.MULTILINE)


def test_everything_is_painted_inside_the_picture(cell: Cell) -> None:
    root = ElementTree.fromstring(svg.render(cell).encode())
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for path in root.iter(f"{SVG}path"):
        for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path.attrib["d"]):
            assert 0 <= float(x) <= width
            assert 0 <= float(y) <= height


def test_names_are_escaped() -> None:
    drawn = svg.render(rnn().renamed("<script>&amp;</script>"))
    assert "<script>" not in drawn
    root = ElementTree.fromstring(drawn)
    assert root.findtext(f"{SVG}title") == "<script>&amp;</script>"


def words(cell: Cell, legend: bool = True) -> list[str]:
    root = ElementTree.fromstring(svg.render(cell, legend=legend).encode())
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_history_inputs_are_marked_as_such() -> None:
    shown = words(with_history(), legend=False)
    assert {"x(t)", "x(t−1)", "x(t−2)", "h0(t−1)", "h0(t−3)"} <= set(shown)
    dashed = svg.render(with_history(), legend=False).count("stroke-dasharray")
    assert dashed == 3


def test_roles_of_ordered_inputs_are_written() -> None:
    shown = words(odd(), legend=False)
    assert {"z", "a", "b"} <= set(shown)
    roles = {(e.source, e.target): e.role for e in diagram(odd()).edges}
    assert roles["h0", "d"] == ""
    assert roles["h1", "d"] == "−"


def test_the_legend_shows_only_what_occurs() -> None:
    def legend(cell: Cell) -> set[str]:
        return set(words(cell)) - set(words(cell, legend=False))

    assert not any("highway" in entry or "steps ago" in entry for entry in legend(rnn()))
    assert any("highway" in entry for entry in legend(darts()))
    assert "k steps ago" in legend(with_history())
    assert OPS["mix"].formula in legend(supernet())
    assert OPS["mix"].formula not in legend(lstm())


def test_a_state_has_the_same_hue_at_both_ends() -> None:
    drawn = svg.render(lstm(), legend=False)
    colours = {}
    for group in drawn.split("<g>"):
        label = re.search(r">(h\d)\((t|t−1)\)</text>", group)
        stroke = re.search(r'stroke="(#\w+)"', group)
        if label and stroke:
            colours[label.groups()] = stroke.group(1)
    assert colours["h0", "t"] == colours["h0", "t−1"]
    assert colours["h1", "t"] == colours["h1", "t−1"]
    assert colours["h0", "t"] != colours["h1", "t"]


def test_png_is_the_same_picture(cell: Cell) -> None:
    root = ElementTree.fromstring(svg.render(cell).encode())
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    image = Image.open(io.BytesIO(png.render(cell, scale=1)))
    assert image.format == "PNG"
    assert abs(image.width - width) <= 1
    assert abs(image.height - height) <= 1
    pixels = image.convert("RGB")
    assert pixels.getpixel((0, 0)) == (255, 255, 255)
    colours = pixels.getcolors(1 << 24)
    assert colours is not None
    ink = sum(count for count, colour in colours if colour != (255, 255, 255))
    assert 0.02 < ink / (image.width * image.height) < 0.6


def test_png_scale() -> None:
    small = Image.open(io.BytesIO(png.render(rnn(), scale=1)))
    large = Image.open(io.BytesIO(png.render(rnn(), scale=3)))
    assert abs(large.width - 3 * small.width) <= 3


def test_text_defines_every_value_or_folds_it_into_its_only_reader(cell: Cell) -> None:
    drawn = text.render(cell)
    defined = set(re.findall(r"^  (\S+) += ", drawn, re.MULTILINE))
    folded = {node.name for node in cell.nodes} - defined
    assert {*cell.states, cell.output} <= defined
    for name in folded:
        assert sum(node.inputs.count(name) for node in cell.nodes) == 1
    for name in cell.inputs:
        assert re.search(rf"(?<![\w@]){re.escape(name)}(?![\w@])", drawn)
    assert max(map(len, drawn.splitlines())) < 80
    assert drawn.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "line",
    [
        "i  = sigmoid(W[x, h0] + b)",
        "fc = f · h1",
        "c  = fc + ig  → new h1",
        "h  = o · tc  → new h0, output",
    ],
)
def test_text_of_an_lstm(line: str) -> None:
    assert f"  {line}\n" in lstm().to_text()


@pytest.mark.parametrize(
    "line",
    [
        "z0   = zero()",
        "d    = h0 − h1",
        "k1   = wa·x + wb·sq + b",
        "k2   = wb·z0",
        "q    = k1·k1 + (1 − k1)·k2  → new h0, new h1",
        "o    = zz + q + k2 + d  → output",
    ],
)
def test_text_of_every_sort_of_operation(line: str) -> None:
    assert f"  {line}\n" in odd().to_text()


def test_text_of_supernets_highways_and_history() -> None:
    assert "  m          = Σ θ[m]·(b_tanh, b_relu, b_identity)\n" in supernet().to_text()
    assert "  n          = norm(m)  → new h0, output\n" in supernet().to_text()
    assert "s0 = highway(tanh, [x, h0], h0)\n" in darts().to_text()
    assert "s6 = highway(identity, s1)\n" in darts().to_text()
    assert "looks back to x@1, x@2, h0@3" in with_history().to_text()


@pytest.mark.parametrize("ending", ["svg", "png", "SVG", "pdf"])
def test_save_writes_the_file_and_nothing_else(tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"cell.{ending}"
    target.write_text("old")
    assert save(lstm(), target) == target
    if ending == "pdf":
        pytest.importorskip("matplotlib")
    start = {"png": b"\x89PNG", "pdf": b"%PDF-1."}.get(ending, b"<svg")
    assert target.read_bytes().startswith(start)
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("name", ["cell.gif", "cell", "svg"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CellError, match=r"\.svg, \.pdf or \.png"):
        lstm().draw(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(CellError, match=r"no folder .*nowhere"):
        lstm().draw(tmp_path / "nowhere" / "cell.svg")


def test_a_folder_in_the_way_is_an_error_and_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "cell.svg"
    target.mkdir()
    with pytest.raises(CellError, match="cannot write"):
        lstm().draw(target)
    assert list(tmp_path.iterdir()) == [target]


def test_notebooks_show_the_svg() -> None:
    assert lstm()._repr_svg_() == svg.render(lstm())


@pytest.mark.parametrize("room", [0.0, 4.0, 37.5, 100.0, 299.0, 1e4])
def test_a_long_name_is_cut_where_it_no_longer_fits(room: float):
    name = "Wi→mθ… " * 6
    longest = max(
        (n for n in range(len(name)) if scene.text_width(name[:n] + "…", 12) <= room), default=0
    )
    fits = scene.text_width(name, 12) <= room
    assert scene.shortened(name, 12, room) == (name if fits else name[:longest] + "…")


def test_a_name_of_any_length_is_drawn():
    cell = Cell(rnn().nodes, ["h"], name="long " * 20_000)  # letter by letter it would take hours
    assert len(svg.render(cell)) < 200_000
