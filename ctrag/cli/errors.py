"""From exceptions to one line on stderr and an exit code."""

import os
import sys
from collections.abc import Callable

from ctrag.extras import EXTRA_OF, missing


def exit_code(run: Callable[[], None]) -> int:
    """Run a command; errors that a person can mend become one line and code 1.

    Anything else is a defect of ctrag and keeps its traceback.
    """
    try:
        run()
    except KeyboardInterrupt:
        print("ctrag: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        line = one_line(error)
        if line is None:
            raise
        print(f"ctrag: {line}", file=sys.stderr)
        return 1
    return 0


def one_line(error: Exception) -> str | None:
    """What to tell a person, or None when the error is a defect."""
    if isinstance(error, OSError):
        path = f"{error.filename}: " if error.filename else ""
        reason = error.strerror or str(error)
        return " ".join(f"{path}{reason}".split())
    if isinstance(error, ModuleNotFoundError) and (name := (error.name or "").partition(".")[0]):
        return str(missing("this", name)) if name in EXTRA_OF else None
    if isinstance(error, ValueError) or type(error).__name__ in {
        "ModelMissing",
        "StoreUnavailable",
        "EndpointError",
        "BudgetSpent",
        "ProviderError",
        "Unusable",
    }:
        return " ".join(str(error).split())
    return None
