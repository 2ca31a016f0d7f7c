"""`cellwright bench …`: benchmarks of trained architectures. One command, one file."""

from __future__ import annotations

import typer

from cellwright.cli.bench import analyze, build, compare, export, importing, info, query, top
from cellwright.cli.help import Command, Group, examples

app = typer.Typer(
    cls=Group,
    help="Make, query and analyse benchmarks of trained architectures.",
    epilog=examples(
        (
            "a made-up benchmark, to try the commands on",
            "cellwright bench import --synthetic 30 -o my.bench",
        ),
        ("what is in it", "cellwright bench info my.bench"),
        ("its best architectures", "cellwright bench top my.bench"),
        ("what it knows of one of them", "cellwright bench query my.bench nbnlp-lstm"),
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.command("import", cls=Command, epilog=importing.EXAMPLES)(importing.run)
app.command("build", cls=Command, epilog=build.EXAMPLES)(build.run)
app.command("info", cls=Command, epilog=info.EXAMPLES)(info.run)
app.command("query", cls=Command, epilog=query.EXAMPLES)(query.run)
app.command("top", cls=Command, epilog=top.EXAMPLES)(top.run)
app.command("export", cls=Command, epilog=export.EXAMPLES)(export.run)
app.command("analyze", cls=Command, epilog=analyze.EXAMPLES)(analyze.run)
app.command("compare", cls=Command, epilog=compare.EXAMPLES)(compare.run)
