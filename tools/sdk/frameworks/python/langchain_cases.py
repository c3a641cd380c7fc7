"""LangChain for Python. What the model says is in cassettes/script.yaml; here
stands what the framework made of it.
"""

from functools import reduce
from operator import add

import anthropic
import openai
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAI, OpenAIEmbeddings
from pydantic import BaseModel

from harness import equal, holds, raised


@tool
def get_weather(city: str) -> str:
    """The weather in a city, now."""
    return f"18 degrees in {city}"


class Weather(BaseModel):
    """The weather in a city."""

    city: str
    degrees: int


class Style:
    """The model class of one style, made for one address."""

    def __init__(self, make, address, model, not_found, ask_for_object):
        self.make = lambda name: make(address, name)
        self.model = self.make(model)
        self.not_found = not_found
        self.ask_for_object = ask_for_object


def chat(address, model):
    return Style(lambda a, name: ChatOpenAI(model=name, base_url=a + "/v1", api_key="none"),
                 address, model, openai.NotFoundError, "The weather as JSON")


def responses(address, model):
    return Style(lambda a, name: ChatOpenAI(model=name, base_url=a + "/v1", api_key="none", use_responses_api=True),
                 address, model, openai.NotFoundError, "The weather as JSON")


def messages(address, model):
    return Style(lambda a, name: ChatAnthropic(model=name, base_url=a, api_key="none"),
                 address, model, anthropic.NotFoundError, "The weather, through the tool Weather")


def loop(ask, question):
    """Asks, runs the calls and sends back the results, until an answer in words."""
    history = [HumanMessage(question)]
    for _ in range(3):
        reply = ask(history)
        history.append(reply)
        if not reply.tool_calls:
            return reply.text, history
        history += [ToolMessage(get_weather.invoke(c["args"]), tool_call_id=c["id"]) for c in reply.tool_calls]
    raise AssertionError("no end of calls")


def plain(style):
    reply = style.model.invoke("Hello")
    equal(reply.text, "Hello there!", "text")
    equal(reply.usage_metadata["output_tokens"], 4, "output_tokens")


def stream(style):
    texts = [c.text for c in style.model.stream("Hello") if c.text]
    equal("".join(texts), "Hello there!", "text")
    holds(len(texts) > 1, "the text came in one chunk")


def tool_loop(style):
    text, history = loop(style.model.bind_tools([get_weather]).invoke, "What is the weather in Paris?")
    equal(text, "It is 18 degrees in Paris.", "text")
    equal([(c["name"], c["args"]) for c in history[1].tool_calls], [("get_weather", {"city": "Paris"})], "calls")


def tool_loop_stream(style):
    bound = style.model.bind_tools([get_weather])
    text, history = loop(lambda turns: reduce(add, bound.stream(turns)), "What is the weather in Paris and Rome?")
    equal(text, "It is 18 degrees in Paris.", "text")
    equal([c["args"]["city"] for c in history[1].tool_calls], ["Paris", "Rome"], "cities")


def parse(style):
    reply = style.model.with_structured_output(Weather).invoke(style.ask_for_object)
    equal(reply, Weather(city="Paris", degrees=18), "value")


def parse_by_tool(style):
    structured = style.model.with_structured_output(Weather, method="function_calling")
    equal(structured.invoke("The weather, through the tool Weather"), Weather(city="Paris", degrees=18), "value")


def parse_by_format(style):
    structured = style.model.with_structured_output(Weather, method="json_schema")
    equal(structured.invoke("The weather as JSON"), Weather(city="Paris", degrees=18), "value")


def json_mode(style):
    structured = style.model.with_structured_output(Weather, method="json_mode")
    equal(structured.invoke("The weather as JSON"), Weather(city="Paris", degrees=18), "value")


def unknown_model(style):
    error = raised(style.not_found, lambda: style.make("nosuch").invoke("Hello"))
    holds("nosuch" in error.message, f"the message does not name the model: {error.message}")


def complete(address):
    model = OpenAI(model="scripted", base_url=address + "/v1", api_key="none")
    equal(model.invoke("Once upon a time"), " there was a server.", "text")


def complete_stream(address):
    model = OpenAI(model="scripted", base_url=address + "/v1", api_key="none")
    equal("".join(model.stream("Once upon a time")), " there was a server.", "text")


def embed(address):
    # It would fetch a tokenizer to cut long texts itself.
    model = OpenAIEmbeddings(model="embedder", base_url=address + "/v1", api_key="none", check_embedding_ctx_length=False)
    vectors = model.embed_documents(["one text", "another text"])
    equal([len(v) for v in vectors], [8, 8], "lengths")
    holds(vectors[0] != vectors[1], "two texts have one embedding")


def generating(operation):
    return [
        (f"{operation}/plain", plain),
        (f"{operation}/stream", stream),
        (f"{operation}/tool-loop", tool_loop),
        (f"{operation}/tool-loop-stream", tool_loop_stream),
        (f"{operation}/parse", parse),
        (f"{operation}/unknown-model", unknown_model),
    ]


def run(harness):
    harness.run("openai", chat, generating("chat") + [("chat/parse-by-tool", parse_by_tool), ("chat/json-mode", json_mode)])
    harness.run("openai", responses, generating("responses") + [("responses/parse-by-tool", parse_by_tool)])
    harness.run("openai", lambda address, model: address, [
        ("completions/plain", complete),
        ("completions/stream", complete_stream),
        ("embeddings/many", embed),
    ])
    harness.run("anthropic", messages, generating("messages") + [("messages/parse-by-format", parse_by_format)])
