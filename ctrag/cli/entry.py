"""The console command. While the commands are still being imported, Ctrl-C ends it silently."""

import signal


def main() -> None:
    """Import the commands and run the one that is asked for."""
    own = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not started with nohup
    if own:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from ctrag.cli.main import main as run

    if own:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()
