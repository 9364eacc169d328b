"""From exceptions to one line on stderr and an exit code."""

import os
import sys
import traceback
from collections.abc import Callable

from ctrag.errors import CtragError
from ctrag.extras import EXTRA_OF, missing

USER_ERRORS = (CtragError, OSError)
"""User errors: wrong input, missing files, missing permissions, a full disk."""


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
    """The message for the user; for a defect of ctrag, with how to get the traceback."""
    if isinstance(error, OSError):
        path = f"{error.filename}: " if error.filename else ""
        message = f"{path}{error.strerror or error}"
    elif isinstance(error, ModuleNotFoundError) and _top(error) in EXTRA_OF:
        message = str(missing("this", _top(error)))
    elif isinstance(error, CtragError):
        message = str(error)
    else:
        message = f"internal error: {type(error).__name__}: {error}"
        message += "; set CTRAG_DEBUG=1 for the traceback"
    return " ".join(message.split())


def _top(error: ModuleNotFoundError) -> str:
    """The package that could not be found."""
    return (error.name or "").partition(".")[0]
