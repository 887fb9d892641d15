"""The program `cranfield`: how it starts and how it ends."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the program; every error ends in a message and an exit code, never in a traceback."""
    # Everything is imported in here, so that Ctrl-C during an import prints no traceback.
    try:
        from importlib import import_module

        from cranfield.cli import process

        process.start()
        # Bounds need the documents, which are not read ahead.
        if sys.argv[1:2] == ["evaluate"] or (sys.argv[1:2] == ["compare"] and "--no-bounds" in sys.argv):
            from cranfield.cli.run_files import scan_plain_files

            scan_plain_files(sys.argv[2:])
            # Imported here, where the stack is shallow: deep down, Python maps and unmaps memory for nearly every call.
            import_module("numpy")
    except KeyboardInterrupt:
        os._exit(130)
    process.run("cranfield", _run)


def _run() -> int:
    import click

    from cranfield.cli import output, process
    from cranfield.cli.commands import program, usage_message

    process.collect_garbage()
    try:
        return program(prog_name="cranfield", standalone_mode=False) or 0
    except click.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as ended:
        if "_CRANFIELD_COMPLETE" in os.environ:  # click has printed completions, and exits by itself
            return int(ended.code or 0)
        raise
    except click.exceptions.NoArgsIsHelpError as error:
        output.say(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        output.say_error(*usage_message(error))
        return 2
