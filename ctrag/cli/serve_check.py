"""`ctrag serve mcp --check`: what would be served, before it is."""

from typing import TYPE_CHECKING

import typer

from ctrag.cli.output import line, print_json

if TYPE_CHECKING:
    from ctrag.agents.server.check import Report
    from ctrag.agents.server.config import Upstreams
    from ctrag.agents.server.gateway import Gateway


def show_check(gateway: "Gateway", servers: "Upstreams", json: bool) -> None:
    """Print the report; ends with 1 when a server cannot be used."""
    import anyio

    from ctrag.agents.server.check import check

    report = anyio.run(check, gateway, servers)
    if json:
        print_json(report.as_json())
    else:
        _show_report(report)
    if report.fails:
        raise typer.Exit(1)


def _show_report(report: "Report") -> None:
    for one in report.servers:
        size = f"  {one.tools} tools, {one.tokens} tokens" if one.state == "ok" else ""
        line(f"{one.name}: {one.state}{size}{'  ' if one.why else ''}{one.why}", bold=True)
        for name, why in one.left_out.items():
            line(f"  left out: {name} {why}")
        for name, marks in one.marked.items():
            line(f"  marked: {name} ({', '.join(marks)})")
        for pattern in one.unused:
            line(f"  no tool has the name {pattern!r}, which the file gives")
    line(
        f"{report.tools} tools: {report.tokens} tokens if they were listed, "
        f"{report.meta_tokens} for the meta-tools that are listed instead"
    )
    for title, several in (
        ("same name", report.same_names),
        ("same name for a model's API but for a hash", report.same_wire_names),
    ):
        for name, ids in several.items():
            line(f"{title}: {name} ({', '.join(ids)})")
    for tool in report.not_found:
        line(f"not found by the words of its name or description: {tool}")
    for said in report.notes:
        line(f"note: {said}")
