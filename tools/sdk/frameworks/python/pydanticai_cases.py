"""Pydantic AI. What the model says is in cassettes/script.yaml; here stands
what the framework made of it.
"""

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from harness import equal, holds, raised


def get_weather(city: str) -> str:
    """The weather in a city, now."""
    return f"18 degrees in {city}"


class Weather(BaseModel):
    city: str
    degrees: int


class Models:
    """Models of one style at one address."""

    def __init__(self, make, model):
        self.make = make
        self.model = make(model)


def chat(address, model):
    return Models(lambda name: OpenAIChatModel(
        name, provider=OpenAIProvider(base_url=address + "/v1", api_key="none")), model)


def responses(address, model):
    return Models(lambda name: OpenAIResponsesModel(
        name, provider=OpenAIProvider(base_url=address + "/v1", api_key="none")), model)


def messages(address, model):
    return Models(lambda name: AnthropicModel(
        name, provider=AnthropicProvider(base_url=address, api_key="none")), model)


def plain(models):
    result = Agent(models.model).run_sync("Hello")
    equal(result.output, "Hello there!", "output")
    equal(result.usage.output_tokens, 4, "output_tokens")


def stream(models):
    result = Agent(models.model).run_stream_sync("Hello")
    texts = list(result.stream_text(delta=True, debounce_by=None))
    equal("".join(texts), "Hello there!", "text")


def tool_loop(models):
    result = Agent(models.model, tools=[get_weather]).run_sync("What is the weather in Paris?")
    equal(result.output, "It is 18 degrees in Paris.", "output")
    parts = [p.part_kind for m in result.all_messages() for p in m.parts]
    holds("tool-call" in parts and "tool-return" in parts, f"parts are {parts}")


def tool_loop_stream(models):
    result = Agent(models.model, tools=[get_weather]).run_stream_sync("What is the weather in Paris and Rome?")
    equal(result.get_output(), "It is 18 degrees in Paris.", "output")


def parse_by_tool(models):
    agent = Agent(models.model, output_type=Weather)
    equal(agent.run_sync("The weather, through the tool final_result").output, Weather(city="Paris", degrees=18), "output")


def parse(models):
    agent = Agent(models.model, output_type=NativeOutput(Weather))
    equal(agent.run_sync("The weather as JSON").output, Weather(city="Paris", degrees=18), "output")


def unknown_model(models):
    error = raised(ModelHTTPError, lambda: Agent(models.make("nosuch")).run_sync("Hello"))
    equal(error.status_code, 404, "status_code")
    holds("nosuch" in str(error.body), f"the body does not name the model: {error.body}")


def generating(operation):
    return [
        (f"{operation}/plain", plain),
        (f"{operation}/stream", stream),
        (f"{operation}/tool-loop", tool_loop),
        (f"{operation}/tool-loop-stream", tool_loop_stream),
        (f"{operation}/parse-by-tool", parse_by_tool),
        (f"{operation}/unknown-model", unknown_model),
    ]


def run(harness):
    harness.run("openai", chat, generating("chat") + [("chat/parse", parse)])
    harness.run("openai", responses, generating("responses") + [("responses/parse", parse)])
    harness.run("anthropic", messages, generating("messages"))
