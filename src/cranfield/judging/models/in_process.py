"""A function in place of an endpoint: of a prompt, or of a query and a document."""

from __future__ import annotations

import inspect
import json
from typing import Any

from cranfield.errors import InputError
from cranfield.judging.models.assessor import ModelAssessor
from cranfield.judging.models.endpoint import NoReplyError, RawReply


class InProcess:
    """Calls a function of the user. If it raises, that document has failed and is asked about again next time."""

    def __init__(self, assessor: ModelAssessor) -> None:
        assert assessor.call is not None
        self._call = assessor.call
        try:
            taken = set(inspect.signature(self._call).parameters)
        except (TypeError, ValueError):  # built in
            taken = set()
        self.of_texts = {"query", "document"} <= taken
        self._name = assessor.name

    def reply(self, prompt: str, sample: int = 0, query: str = "", document: str = "") -> RawReply:
        """Call it."""
        try:
            reply = self._call(query=query, document=document) if self.of_texts else self._call(prompt)
        except Exception as error:
            raise NoReplyError(f"{type(error).__name__}: {error}") from error
        except SystemExit as error:  # a function that ends the program would end the run
            raise NoReplyError(f"SystemExit: {error}") from error
        return RawReply(_as_text(reply, self._name), tokens=0)

    def close(self) -> None:
        """Nothing to close: the function belongs to the user."""


def _as_text(reply: Any, name: str) -> str:
    """A reply as text; a number is a grade."""
    if isinstance(reply, str):
        return reply
    if hasattr(reply, "item"):  # a number of numpy or torch
        reply = reply.item()
    if reply is None:
        return ""
    if isinstance(reply, int | float) and not isinstance(reply, bool):
        return json.dumps({"grade": reply})
    raise InputError(
        name, f"the function returned {type(reply).__name__}.", hint="return the reply as text, or a grade"
    )
