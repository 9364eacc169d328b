"""The installed version."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("ctrag")
except PackageNotFoundError:
    __version__ = "0"
