"""From exceptions to one line on stderr and an exit code."""

import os
import sys
import traceback
from collections.abc import Callable

from ctrag.errors import CtragError
from ctrag.extras import EXTRA_OF, missing

MENDABLE = (CtragError, OSError)
"""What a person can mend: mistakes, files that are not there, no rights, a full disk."""


def exit_code(run: Callable[[], None]) -> int:
    """Run a command; an error becomes one line and code 1, and a traceback with `CTRAG_DEBUG=1`."""
    try:
        run()
    except KeyboardInterrupt:
        print("ctrag: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("CTRAG_DEBUG", "0") not in ("", "0"):
            traceback.print_exc()
        print(f"ctrag: {one_line(error)}", file=sys.stderr)
        return 1
    return 0


def one_line(error: Exception) -> str:
    """What to tell a person; of a defect of ctrag, how to see more of it."""
    if isinstance(error, OSError):
        path = f"{error.filename}: " if error.filename else ""
        told = f"{path}{error.strerror or error}"
    elif isinstance(error, ModuleNotFoundError) and _top(error) in EXTRA_OF:
        told = str(missing("this", _top(error)))
    elif isinstance(error, CtragError):
        told = str(error)
    else:
        told = f"internal error: {type(error).__name__}: {error}"
        told += "; set CTRAG_DEBUG=1 for the traceback"
    return " ".join(told.split())


def _top(error: ModuleNotFoundError) -> str:
    """The package that could not be found."""
    return (error.name or "").partition(".")[0]
