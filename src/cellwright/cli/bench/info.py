"""`cellwright bench info`: what is in a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellwright.cli.bench.options import SYNTHETIC, File, Json, hours
from cellwright.cli.figures import direction, jsonable, loss, metric_document
from cellwright.cli.help import examples
from cellwright.cli.output import count, emit_json
from cellwright.cli.tables import print_facts

if TYPE_CHECKING:
    from cellwright.bench import Benchmark
    from cellwright.tasks.metric import Metric

EXAMPLES = examples(
    SYNTHETIC,
    ("what is in it", "cellwright bench info my.bench"),
    ("for programs", "cellwright bench info my.bench --json"),
)


def run(file: File, as_json: Json = False) -> None:
    """Show what a benchmark has: architectures, runs, losses, time, features, settings.

    Architectures are counted as they are listed, and also as distinct graphs.
    The best test loss is the lowest of all runs and epochs, L* of the paper. In
    JSON, value is what the metric makes of a loss.
    """
    from cellwright.bench import load

    benchmark = load(file)
    facts = _facts(benchmark)
    if as_json:
        emit_json(jsonable(facts))
        return
    print_facts(_lines(facts, benchmark.metric))


def _facts(benchmark: Benchmark) -> dict[str, Any]:
    import numpy as np

    from cellwright.bench import STATUSES
    from cellwright.bench.summary import of_runs

    figures = of_runs(benchmark)
    runs = np.diff(benchmark.first_run)
    return {
        "title": benchmark.title,
        "corpus": benchmark.corpus,
        "kind": benchmark.kind,
        "metric": metric_document(benchmark.metric),
        "architectures": len(benchmark),
        "distinct_graphs": len(benchmark.by_graph),
        "runs": benchmark.run_count,
        "runs_by_status": {name: int(benchmark.has_status(name).sum()) for name in STATUSES},
        "architectures_by_runs": {int(n): int((runs == n).sum()) for n in np.unique(runs).tolist()},
        "epochs": benchmark.most_epochs,
        "seconds": float(figures.seconds.sum()),
        "best_valid": _best(benchmark, figures.valid),
        "best_test": _best(benchmark, figures.lowest_test),
        "features": {
            name: {
                "dimensions": matrix.shape[1],
                "architectures": int(np.isfinite(matrix).all(axis=1).sum()),
            }
            for name, matrix in benchmark.features.items()
        },
        "settings": [dict(settings) for settings in benchmark.settings],
    }


def _best(benchmark: Benchmark, losses: Any) -> dict[str, Any] | None:
    import numpy as np

    if not np.isfinite(losses).any():
        return None
    run = int(np.nanargmin(losses))
    name = benchmark.names[benchmark.architecture_of[run]]
    lowest = float(losses[run])
    return {
        "loss": lowest,
        "value": benchmark.metric.value(lowest),
        "architecture": name,
        "seed": int(benchmark.seed[run]),
    }


def _lines(facts: dict[str, Any], metric: Metric) -> list[tuple[str, str]]:
    statuses = ", ".join(f"{n:,} {name}" for name, n in facts["runs_by_status"].items() if n)
    repeats = ", ".join(
        f"{n:,} with {count(times, 'run')}" for times, n in facts["architectures_by_runs"].items()
    )
    lines = [
        ("title", facts["title"]),
        ("corpus", facts["corpus"] or "not known"),
        ("task", f"{facts['kind']}: {direction(metric)}"),
        ("architectures", f"{facts['architectures']:,}: {repeats}"),
        ("distinct graphs", f"{facts['distinct_graphs']:,}"),
        ("runs", f"{facts['runs']:,}: {statuses or 'none'}"),
        ("epochs", f"{facts['epochs']} at most"),
        ("wall time", hours(facts["seconds"])),
    ]
    for name in ("valid", "test"):
        best = facts[f"best_{name}"]
        if best is not None:
            text = f"{metric.name} {metric.shown(best['loss'])}"
            if metric.loss_name != metric.name:
                text += f" ({metric.loss_name} {loss(best['loss'])})"
            lines.append((f"best {name}", f"{text}: {best['architecture']}, seed {best['seed']}"))
    for name, about in facts["features"].items():
        of = f"{about['architectures']:,} architectures"
        lines.append((f"features {name}", f"{about['dimensions']} dimensions, {of}"))
    lines += _settings(facts["settings"])
    return lines


def _settings(settings: list[dict[str, Any]]) -> list[tuple[str, str]]:
    if not settings:
        return []
    common = {
        key: value
        for key, value in settings[0].items()
        if all(key in other and other[key] == value for other in settings)
    }
    text = ", ".join(f"{key}={value}" for key, value in common.items())
    if len(settings) > 1:
        text += f" ({len(settings)} different settings)"
    return [("settings", text.strip())]
