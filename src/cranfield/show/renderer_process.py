"""The program of the process that draws pictures: see `renderer.py`, which starts it by its path.

It imports nothing of cranfield, so it starts in a hundredth of a second. Its argument is the folder of vl-convert.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    requests = sys.stdin.buffer
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)  # whatever the library prints stays out of the replies
        sys.path.append(sys.argv[1])
        import vl_convert

        for request in requests:
            function, spec, options = json.loads(request)
            try:
                drawn = getattr(vl_convert, function)(spec, **options)
                known, content = True, drawn.encode() if isinstance(drawn, str) else drawn
            except Exception as error:  # a specification that it refuses; after a panic, the process ends
                known, content = False, str(error).encode(errors="replace")
            replies.write(json.dumps([known, len(content)]).encode() + b"\n" + content)
            replies.flush()


if __name__ == "__main__":
    main()
