"""From exceptions to one line on stderr and an exit code."""

import os
import sys
from collections.abc import Callable

import typer

from ctrag.cli.interrupts import interrupted
from ctrag.cli.output import note, show_traceback
from ctrag.errors import CtragError
from ctrag.extras import EXTRA_OF, missing
from ctrag.text.terminal import message

USER_ERRORS = (CtragError, OSError)
"""User errors: wrong input, missing files, missing permissions, a full disk."""
# typer has its own copy of click, or in older versions needs it beside: the classes come from it.
_UsageError = typer.BadParameter.__base__ or Exception
STOPPED = 130
_DEBUG = "; set CTRAG_DEBUG=1 for the traceback"


def exit_code(run: Callable[[], object]) -> int:
    """Run a command; an error becomes one line and code 1, and a traceback with `CTRAG_DEBUG=1`.

    Args:
        run: The command, which may return an exit code.
    """
    try:
        code = run()
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if isinstance(error, _UsageError):
            return _told_usage(error)
        if interrupted():
            note("stopped")
            return STOPPED
        if os.environ.get("CTRAG_DEBUG", "0") not in ("", "0"):
            show_traceback()
        note(one_line(error))
        return 1
    if code == STOPPED:
        note("stopped")
    return code if isinstance(code, int) else 0


def one_line(error: Exception) -> str:
    """The message for the user; for a defect of ctrag, with how to get the traceback."""
    if isinstance(error, OSError):
        path = f"{error.filename}: " if error.filename else ""
        return message(f"{path}{error.strerror or error}")
    if isinstance(error, ModuleNotFoundError) and _top(error) in EXTRA_OF:
        return message(str(missing("this", _top(error))))
    if isinstance(error, CtragError):
        return message(str(error))
    return message(f"internal error: {type(error).__name__}: {error}{_DEBUG}")


def _told_usage(error: Exception) -> int:
    """A wrong option or argument on one line, with where to read of it; exit code 2."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "ctrag"
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined]  # the help of a group, which was asked for nothing
        return 2
    problem = error.format_message().strip().rstrip(".")  # type: ignore[attr-defined]
    note(f"{problem}; see {path} --help")
    return 2


def _top(error: ModuleNotFoundError) -> str:
    """The package that could not be found."""
    return (error.name or "").partition(".")[0]
