"""ModelAssessor: which model is asked, where, with which prompt and which parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cranfield.errors import InputError
from cranfield.io.settings import check_settings
from cranfield.judging.models.prompts import GRADED, PromptTemplate, hash_of, read_prompt
from cranfield.judging.store.checked_input import checked_id
from cranfield.judging.store.scale import GradeScale

RULE = "lower median"  # how several replies become one grade, which is always on the scale
MOST_SAMPLES = 100
CHAT_COMPLETIONS = "/chat/completions"  # the path of requests, below the url of an endpoint

SETTINGS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("url", "model", "key", "api_version", "prompt", "object"), str),
    **dict.fromkeys(("seed", "max_tokens", "samples", "max_characters", "budget"), int),
    **dict.fromkeys(("temperature", "top_p", "timeout", "prompt_price", "reply_price"), (int, float)),
    **dict.fromkeys(("json", "logprobs"), bool),
    "body": dict,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAssessor:
    """A model that judges: behind an endpoint that speaks OpenAI's /v1/chat/completions, or your own function.

    name: under which its grades are kept.
    model: the model, as the endpoint calls it.
    url: where the endpoint is, such as https://api.openai.com/v1 or http://localhost:11434/v1.
    key: the environment variable that holds the key; "" for none.
    api_version: of Azure, whose key is then sent in the header "api-key".
    prompt: a text file with {query} and {document}, or the name of one of ours: "graded".
    temperature, top_p, seed: how the model draws its words; None leaves it to the endpoint. With several samples, each
        has a seed of its own: `seed`, `seed` + 1, …
    max_tokens: how long a reply may be.
    timeout: seconds to wait for the whole reply.
    samples: how often each document is asked about. The grade is the lower median.
    max_characters: how much of a document's text is shown.
    json: ask for JSON by `response_format`; an endpoint that does not support it is asked without.
    logprobs: also keep the probabilities of the words of a reply.
    body: further fields of the request, such as {"max_completion_tokens": 2000}, which then replaces max_tokens.
    budget: the most tokens that may be spent in one store on this assessor; None: no limit.
    prompt_price, reply_price: of a million tokens, in any currency; None: costs are not calculated.
    call: a function instead of an endpoint: of a prompt, or of `query` and `document`. It returns the reply as text,
        or a grade. Several threads call it, unless `jobs` is 1.
    folder: the folder that the prompt's path is relative to.

    >>> ModelAssessor(name="small", model="llama3.2:3b", url="http://localhost:11434/v1").samples
    1
    >>> ModelAssessor(name="words", call=lambda query, document: 1 if query in document else 0).model
    '<lambda>'
    """

    name: str
    model: str = ""
    url: str = ""
    key: str = ""
    api_version: str = ""
    prompt: str = GRADED
    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int = 300
    timeout: float = 120.0
    samples: int = 1
    max_characters: int = 8000
    json: bool = False
    logprobs: bool = False
    body: Mapping[str, Any] = field(default_factory=dict)
    budget: int | None = None
    prompt_price: float | None = None
    reply_price: float | None = None
    call: Callable[..., Any] | None = field(default=None, repr=False)
    folder: Path = field(default_factory=Path, repr=False)

    def __repr__(self) -> str:
        return f"<ModelAssessor {self.name}: {self.model} at {self.url or 'a function'}>"

    def __post_init__(self) -> None:
        checked_id(self.name, "a model", "the assessor")
        if self.call is not None:
            if not callable(self.call):
                raise InputError(self.name, "call is not a function.", hint="give a function of a prompt")
            if self.budget is not None:
                raise InputError(self.name, "a function counts no tokens, so it cannot have a budget.")
            own = f"{getattr(self.call, '__module__', '')}:{getattr(self.call, '__qualname__', '')}"
            object.__setattr__(self, "model", self.model or own.rpartition(":")[2] or type(self.call).__name__)
        elif not self.url or not self.model:
            lacking = "url" if not self.url else "model"
            raise InputError(self.name, f"the assessor has no {lacking}.", hint="an assessor needs url and model")
        for name, least, most in _RANGES:
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not (number and least <= value <= most):
                raise InputError(self.name, f"{name} must be a number from {least:g} to {most:g}.")
        for name in ("samples", "max_tokens", "max_characters", "seed", "budget"):
            if not isinstance(getattr(self, name), int | None):
                raise InputError(self.name, f"{name} must be a whole number.")
        if (self.prompt_price is None) != (self.reply_price is None):
            lacking = "prompt_price" if self.prompt_price is None else "reply_price"
            raise InputError(self.name, f"the assessor has no {lacking}.", hint="costs need both prices")
        self._check_body()

    def _check_body(self) -> None:
        """The budget depends on these fields."""
        if not isinstance(self.body, Mapping):
            raise InputError(self.name, "body must be a table.", hint='{"max_completion_tokens": 2000}')
        for name in ("messages", "stream"):
            if name in self.body:
                raise InputError(self.name, f"body must not set {name}.", hint="prompt is the file with the prompt")
        for name in (*_LENGTHS, "n"):
            value = self.body.get(name, 1)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_TOKENS:
                fact = f"{name} in body must be a whole number from 1 to {_MOST_TOKENS:,}."
                raise InputError(self.name, fact, hint="without it, max_tokens is the limit")
        try:
            json.dumps(dict(self.body), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(self.name, f"body is not JSON: {error}.") from None

    @classmethod
    def _of_settings(
        cls, name: str, settings: Mapping[str, Any], where: str, *, folder: Path, load: Callable[[str], Any]
    ) -> ModelAssessor:
        """From a table of cranfield.toml in a folder; `load` finds the object that "package.module:name" names."""
        check_settings(settings, SETTINGS, where)
        chosen = {key: value for key, value in settings.items() if key != "object"}
        if "object" in settings:
            chosen = {"model": settings["object"], **chosen, "call": load(settings["object"])}
        return cls(name=name, folder=folder, **chosen)

    @property
    def _host(self) -> str:
        try:
            parts = urlsplit(self.url)
            return parts.hostname or "" if parts.port is None or parts.port else ""  # reading it checks the port
        except ValueError:
            raise InputError(self.name, "the url is not a URL.", hint="https://host/v1") from None

    @property
    def _endpoint(self) -> str:
        """The machine with port and path: a server of its own, which may call another model by the same name."""
        if not self._host:
            return ""
        parts = urlsplit(self.url)
        port = "" if parts.port in (None, _USUAL_PORTS.get(parts.scheme)) else f":{parts.port}"
        return f"{self._host}{port}{parts.path.rstrip('/').removesuffix(CHAT_COMPLETIONS)}"

    @property
    def _fields(self) -> dict[str, Any]:
        """The fields of a request that are the same for all prompts, as they are sent."""
        own = {
            "model": self.model,
            "max_tokens": None if "max_completion_tokens" in self.body else self.max_tokens,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "logprobs": self.logprobs or None,
        }
        return {**{name: value for name, value in own.items() if value is not None}, "stream": False, **self.body}

    @property
    def _reply_tokens(self) -> int:
        """The most tokens of all replies to one request: of the limits sent, any may be the one that counts."""
        sent = self._fields
        return int(sent.get("n", 1)) * max(int(sent[name]) for name in _LENGTHS if name in sent)

    @property
    def _body_tokens(self) -> int:
        """The most that the further fields add to a prompt, such as the tools that a model may call."""
        texts = [value for value in self.body.values() if not isinstance(value, int | float | None)]
        return sum(len(json.dumps(value).encode()) for value in texts)

    def _cost(self, prompt: int, reply: int) -> float | None:
        if self.prompt_price is None or self.reply_price is None:
            return None
        return (prompt * self.prompt_price + reply * self.reply_price) / 1_000_000

    def _asked(self, prompt: PromptTemplate, scale: GradeScale) -> dict[str, Any]:
        return {
            "model": self.model,
            "endpoint": self._endpoint,  # elsewhere, the same name may be another model
            "prompt_sha256": prompt.sha256,
            "scale": [list(step) for step in scale],
            "temperature": None if self.temperature is None else float(self.temperature),  # 0 is 0.0
            "top_p": None if self.top_p is None else float(self.top_p),
            **{name: getattr(self, name) for name in ("seed", "max_tokens", "json", "logprobs")},
            "body": dict(self.body),
        }

    def _judge(self, scale: GradeScale) -> Judge:
        prompt = read_prompt(self.prompt, self.folder)
        asked = self._asked(prompt, scale)
        judged = {**asked, "samples": self.samples, "rule": RULE, "max_characters": self.max_characters}
        told = {"prompt": prompt.name, "prompt_text": prompt.text, "provider": self._host or "this process"}
        return Judge(fingerprint=hash_of(judged), asked=hash_of(asked), settings={**judged, **told}, prompt=prompt)


@dataclass(frozen=True, slots=True)
class Judge:
    """An assessor with a scale: what its grades depend on."""

    fingerprint: str  # the hash of all of it, which is recorded with every grade
    asked: str  # the hash of what one request depends on, so that a reply is found again when `samples` changes
    settings: Mapping[str, Any]
    prompt: PromptTemplate


_USUAL_PORTS = {"http": 80, "https": 443}
_MOST_TOKENS = 1_000_000
_LENGTHS = ("max_tokens", "max_completion_tokens")
_RANGES = (
    ("temperature", 0, 2),
    ("top_p", 0, 1),
    ("max_tokens", 1, _MOST_TOKENS),
    ("timeout", 0.001, 86_400),
    ("samples", 1, MOST_SAMPLES),
    ("max_characters", 1, 10_000_000),
    ("budget", 1, 10**15),
    ("prompt_price", 0, 1_000_000),
    ("reply_price", 0, 1_000_000),
    ("seed", -(2**63), 2**63 - 1),
)
