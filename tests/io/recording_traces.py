"""Writes `exported_traces.json`: traces of real applications, as their instrumentation and exporters write them.

    pip install opentelemetry-sdk opentelemetry-exporter-otlp-json-file opentelemetry-util-genai langgraph \
        langchain-classic llama-index-core haystack-ai openinference-instrumentation-{langchain,llama-index,haystack}
    python tests/io/recording_traces.py

Each application is recorded twice: by the SDK's console exporter, with a span on each line, and by the exporter of OTLP
files. Recorded with opentelemetry-sdk 1.45.2 and the OpenInference packages of November 2026.
"""

import io
import json
import os
import tempfile
from pathlib import Path

os.environ |= {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",  # by default queries and documents are left out
}
TEXTS = {
    "returns": "Shoes may be returned for thirty days.",
    "careers": "We return your calls about jobs.",
    "countries": "Sweden Denmark Norway Finland",
}
TASKS = {"t1": ("May I return shoes from Norway?", ["return shoes", "norway shoes"]), "t2": ("Cards?", ["cards"])}


def found(query):
    words = set(query.lower().split())
    return [name for name, text in TEXTS.items() if words & set(text.lower().replace("returned", "return").split())]


def langchain(provider):
    """An agent whose tasks have ids, searching through two retrievers whose results are merged."""
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda
    from openinference.instrumentation import using_attributes
    from openinference.instrumentation.langchain import LangChainInstrumentor

    class Retriever(BaseRetriever):
        backwards: bool = False

        def _get_relevant_documents(self, query, *, run_manager):
            documents = [Document(id=name, page_content=TEXTS[name], metadata={"page": 3}) for name in found(query)]
            return documents[::-1] if self.backwards else documents

    LangChainInstrumentor().instrument(tracer_provider=provider)
    both = EnsembleRetriever(retrievers=[Retriever(), Retriever(backwards=True)], weights=[0.6, 0.4])
    agent = RunnableLambda(lambda given: [both.invoke(query) for query in given["searches"]])
    for task, (question, queries) in TASKS.items():
        with using_attributes(metadata={"task_id": task, "user_id": "u7"}):
            agent.invoke({"question": question, "searches": queries})
    LangChainInstrumentor().uninstrument()


def langgraph(provider):
    """An agent of LangGraph, whose tasks are chats."""
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.retrievers import BaseRetriever
    from langgraph.graph import END, START, MessagesState, StateGraph
    from openinference.instrumentation.langchain import LangChainInstrumentor

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(id=name, page_content=TEXTS[name]) for name in found(query)]

    def node(state):
        queries = next(queries for question, queries in TASKS.values() if question == state["messages"][-1].content)
        for query in queries:
            Retriever().invoke(query)
        return {"messages": [AIMessage("Yes.")]}

    LangChainInstrumentor().instrument(tracer_provider=provider)
    graph = StateGraph(MessagesState)
    graph.add_node("search", node)
    graph.add_edge(START, "search")
    graph.add_edge("search", END)
    agent = graph.compile()
    agent.invoke({"messages": [HumanMessage(TASKS["t1"][0])]})
    agent.invoke({"messages": [("user", TASKS["t2"][0])]})
    LangChainInstrumentor().uninstrument()


def llama_index(provider):
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
    from llama_index.core.schema import NodeWithScore, TextNode
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    class Retriever(BaseRetriever):
        def _retrieve(self, query_bundle):
            names = found(query_bundle.query_str)
            return [
                NodeWithScore(node=TextNode(id_=name, text=TEXTS[name]), score=0.9 - at / 10)
                for at, name in enumerate(names)
            ]

    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    both = QueryFusionRetriever(
        [Retriever(), Retriever()], llm=MockLLM(), num_queries=1, use_async=False, mode="reciprocal_rerank"
    )
    for _, queries in TASKS.values():
        for query in queries:
            both.retrieve(query)
    LlamaIndexInstrumentor().uninstrument()


def haystack(provider):
    from haystack import Document, Pipeline
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from openinference.instrumentation.haystack import HaystackInstrumentor

    HaystackInstrumentor().instrument(tracer_provider=provider)
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=name, content=text) for name, text in TEXTS.items()])
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(document_store=store, top_k=2))
    for _, queries in TASKS.values():
        for query in queries:
            pipeline.run({"retriever": {"query": query}})
    HaystackInstrumentor().uninstrument()


def gen_ai(provider):
    from opentelemetry.util.genai.handler import TelemetryHandler

    handler = TelemetryHandler(tracer_provider=provider)
    for _, queries in TASKS.values():
        for query in queries:
            with handler.retrieval(data_source_id="shop", provider="own") as search:
                search.query_text = query
                names = enumerate(found(query))
                search.documents = [{"id": name, "score": 0.9 - at / 10} for at, name in names]


def recorded(application, path):
    from opentelemetry.exporter.otlp.json.file import FileSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor

    lines, provider = io.StringIO(), TracerProvider()
    console = ConsoleSpanExporter(out=lines, formatter=lambda span: span.to_json(indent=None) + "\n")
    provider.add_span_processor(SimpleSpanProcessor(console))
    provider.add_span_processor(BatchSpanProcessor(FileSpanExporter(str(path))))
    application(provider)
    provider.force_flush()
    provider.shutdown()
    return {"lines": lines.getvalue(), "otlp": path.read_text()}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        made = {
            each.__name__: recorded(each, Path(folder) / each.__name__)
            for each in (langchain, langgraph, llama_index, haystack, gen_ai)
        }
    Path(__file__).with_name("exported_traces.json").write_text(json.dumps(made, indent=1) + "\n")
