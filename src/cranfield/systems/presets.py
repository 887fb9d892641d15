"""The request and the answer of well-known search servers, so that their settings shrink to a URL.

Any of these settings can be overridden. A preset without a score trusts the server's order: Typesense's text_match does
not fit into a 64-bit float, and Meilisearch orders by rules that its _rankingScore only approximates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Service(NamedTuple):
    """How a job starts a server: its image, its port, its environment, and the command that says whether it is up."""

    image: str
    port: str
    env: Mapping[str, str]
    health: str


class Preset(NamedTuple):
    """A server's API: what it is, for documentation, and the settings of its requests and answers.

    service: how a job starts one, where nothing else is needed
    """

    meaning: str
    settings: dict[str, Any]
    service: Service | None = None


_ELASTIC: dict[str, Any] = {
    "method": "POST",
    "body": {
        "query": {"multi_match": {"query": "{query}", "fields": ["*"], "lenient": True}},
        "size": "{k}",
        "_source": False,
    },
    "results": "hits.hits",
    "id": "_id",
    "score": "_score",
}

PRESETS: dict[str, Preset] = {
    "http": Preset(
        "any server that answers a query over HTTP with JSON",
        {"method": "POST", "body": {"query": "{query}", "k": "{k}"}, "results": "results", "id": "id"},
    ),
    "elasticsearch": Preset(
        "Elasticsearch's _search",
        _ELASTIC,
        Service(
            "elasticsearch:8.15.3",
            "9200",
            {"discovery.type": "single-node", "xpack.security.enabled": "false"},
            "curl -sf localhost:9200",
        ),
    ),
    "opensearch": Preset(
        "OpenSearch's _search",
        _ELASTIC,
        Service(
            "opensearchproject/opensearch:2.17.1",
            "9200",
            {"discovery.type": "single-node", "DISABLE_SECURITY_PLUGIN": "true"},
            "curl -sf localhost:9200",
        ),
    ),
    "solr": Preset(
        "Solr's select",
        {
            "method": "GET",
            "params": {"q": "{query}", "rows": "{k}", "fl": "id,score", "defType": "edismax", "wt": "json"},
            "results": "response.docs",
            "id": "id",
            "score": "score",
        },
    ),
    "vespa": Preset(
        "Vespa's search API",
        {
            "method": "POST",
            "body": {
                "yql": "select * from sources * where userQuery()",
                "query": "{query}",
                "type": "any",
                "hits": "{k}",
            },
            "results": "root.children",
            "id": "id",
            "id_pattern": "(?:.*::)?(.+)",  # id:namespace:type::the-id
            "score": "relevance",
            "empty": "root",  # Vespa leaves children out where nothing was found
        },
    ),
    "typesense": Preset(
        "Typesense's documents/search",
        {
            "method": "GET",
            "params": {"q": "{query}", "per_page": "{k}"},
            "results": "hits",
            "id": "document.id",
            "order": "rank",
        },
    ),
    "meilisearch": Preset(
        "Meilisearch's search",
        {
            "method": "POST",
            "body": {"q": "{query}", "limit": "{k}", "attributesToRetrieve": ["id"]},
            "results": "hits",
            "id": "id",
            "order": "rank",
        },
    ),
}
