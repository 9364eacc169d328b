"""Hosts that an answer names: of the same site or not, inside a private network or not."""

import socket
from ipaddress import IPv6Address, ip_address

_SHORT = 3
"""Letters at most of the part before a country's, where both together are no one's: `co.uk`."""


def same_site(host: str, home: str) -> bool:
    """Whether a host may have the password of another: the same, or beside or below it.

    Providers name servers such as `p34-caldav.icloud.com` at `caldav.icloud.com`.
    """
    if host == home:
        return True
    above = home if home.count(".") == 1 else home.partition(".")[2]
    labels = above.split(".")
    if len(labels) < 2 or _is_address(home) or _is_address(host):
        return False
    if len(labels) == 2 and len(labels[1]) == 2 and len(labels[0]) <= _SHORT:
        above = home
    return host == above or host.endswith(f".{above}")


def is_inside(host: str) -> bool:
    """Whether a host is this machine or in a private network; False for one that has no address."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return not all(_is_public(str(one[4][0])) for one in found)


def _is_public(text: str) -> bool:
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_global


def _is_address(host: str) -> bool:
    """Whether it is numbers in place of a name, however spelled: no name ends in a number."""
    return ":" in host or host.rpartition(".")[2].isdecimal()
