"""The command line: open, call one library function, print.

`main` is the entry point; one module per group of commands; `errors` turns exceptions into one
line and an exit code; `output` prints. Heavy imports stay inside the commands.
"""
