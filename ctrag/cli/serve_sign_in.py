"""`ctrag serve token` and `login`: who may call a gateway, and as whom it calls its servers."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json
from ctrag.errors import InputError


def token(json: Json = False) -> None:
    """Make a bearer token: it is shown once, its hash goes into the file of --access.

    Example: ctrag serve token
    """
    from ctrag.serving.tokens import new_token

    made, kept = new_token()
    if json:
        print_json({"token": made, "hash": kept})
        return
    line(f"token  {made}")
    line(f"hash   {kept}")


def login(
    name: Annotated[str, typer.Argument(help="The server, as the file names it.")],
    upstream: Annotated[Path, typer.Option("--upstream", help="The file of servers.")],
    user: Annotated[
        str | None, typer.Option("--user", help="The caller under `users` whose sign-in it is.")
    ] = None,
) -> None:
    """Sign in to a server that wants a person: its tokens are kept for `ctrag serve mcp`.

    Example: ctrag serve login --upstream servers.json crm
    """
    import anyio

    from ctrag.agents.server.config import Upstreams
    from ctrag.agents.server.sign_in import login as sign_in

    servers = Upstreams.from_file(upstream)
    if name not in servers.servers:
        why = servers.problems.get(name, "is not there")
        raise InputError(f"{upstream}: {name!r} {why}")
    spec = servers.servers[name]
    if user is not None:
        if user not in spec.users:
            raise InputError(f"--user: {user!r} is not among the users of {name!r}")
        spec = spec.of_user(user)

    def show(address: str) -> None:
        line(f"open this address and sign in:\n{address}")

    line(f"signed in; tokens are in {anyio.run(sign_in, spec, show)}")
