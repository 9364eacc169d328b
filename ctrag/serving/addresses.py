"""Addresses that a server is reached at, and whose requests it answers there."""

from collections.abc import Sequence

from mcp.server.transport_security import TransportSecuritySettings

from ctrag.errors import InputError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_HERE = ("127.0.0.1", "localhost", "[::1]")


def url_of(host: str, port: int, path: str) -> str:
    """The address as clients take it."""
    named = f"[{host}]" if ":" in host else host  # an IPv6 address
    return f"http://{named}:{port}{path}"


def refuse_without_tokens(host: str) -> None:
    """Refuse to serve at an address that others can reach where no token is asked for.

    Raises:
        ValueError: `host` is such an address.
    """
    if host not in LOOPBACK:
        raise InputError(
            f"http: {host} can be reached from outside; give --access with tokens, or serve "
            "at 127.0.0.1"
        )


def security(
    host: str, hosts: Sequence[str], origins: Sequence[str]
) -> TransportSecuritySettings | None:
    """Which `Host` and `Origin` headers are answered; None: all, at an address that others reach.

    Args:
        host: Where it is served. A loopback address answers to names of this machine alone, so
            that no web page can reach it by DNS rebinding.
        hosts: Names that a reverse proxy is called by.
        origins: Origins of web pages that may call.
    """
    if not hosts and host not in LOOPBACK:
        return None
    named = [one for name in hosts for one in (name, f"{name}:*")]
    return TransportSecuritySettings(
        allowed_hosts=[*named, *_HERE, *(f"{one}:*" for one in _HERE)],
        allowed_origins=[
            *origins,
            *(f"https://{name}" for name in hosts),
            *(f"http://{one}{port}" for one in _HERE for port in ("", ":*")),  # port 80 is not said
        ],
    )
