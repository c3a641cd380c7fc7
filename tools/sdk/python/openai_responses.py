"""Responses through the openai package.

What the model says is in cassettes/script.yaml; here stands what the SDK made
of it.
"""

import json

import openai
from pydantic import BaseModel

import vision
from harness import equal, holds, raised

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city, now.",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Name of the city"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}


class Weather(BaseModel):
    city: str
    degrees: int


def calls_of(reply):
    return [item for item in reply.output if item.type == "function_call"]


def cities(reply):
    return [json.loads(c.arguments)["city"] for c in calls_of(reply)]


def plain(client, model):
    reply = client.responses.create(model=model, input="Hello")
    equal(reply.output_text, "Hello there!", "output_text")
    equal((reply.object, reply.status, reply.model), ("response", "completed", model), "object, status, model")
    message, = reply.output
    equal((message.type, message.role, message.status), ("message", "assistant", "completed"), "message")
    equal(reply.usage.output_tokens, 4, "output_tokens")
    equal(reply.usage.total_tokens, reply.usage.input_tokens + 4, "total_tokens")
    holds(reply.created_at > 0 and reply._request_id, "created_at or x-request-id is missing")


def instructions(client, model):
    reply = client.responses.create(model=model, instructions="Be brief.", input="Hello", temperature=0, top_p=0.5,
                                    max_output_tokens=100, metadata={"a": "b"}, store=False)
    equal(reply.output_text, "Hello there!", "output_text")
    equal((reply.instructions, reply.temperature, reply.top_p, reply.max_output_tokens), ("Be brief.", 0, 0.5, 100), "echo")


def items(client, model):
    reply = client.responses.create(model=model, input=[
        {"role": "developer", "content": "Be brief."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
         "content": [{"type": "output_text", "text": "Yes?", "annotations": []}]},
        {"type": "item_reference", "id": "rs_1"},
        {"type": "reasoning", "id": "rs_2", "summary": [{"type": "summary_text", "text": "They greet."}]},
        {"role": "user", "content": "Hello again"},
    ])
    equal(reply.output_text, "Hello there!", "output_text")


def explicit_nulls(client, model):
    reply = client.responses.create(
        model=model, input="Hello", instructions=None, temperature=None, top_p=None, max_output_tokens=None,
        truncation=None, previous_response_id=None, conversation=None, include=None, reasoning=None, metadata=None,
        parallel_tool_calls=None, store=None, stream=None, service_tier=None)
    equal(reply.output_text, "Hello there!", "output_text")


def stream(client, model):
    events = list(client.responses.create(model=model, input="Hello", stream=True))
    equal([e.sequence_number for e in events], list(range(len(events))), "sequence numbers")
    equal((events[0].type, events[-1].type), ("response.created", "response.completed"), "first and last event")
    equal("".join(e.delta for e in events if e.type == "response.output_text.delta"), "Hello there!", "deltas")
    equal(events[-1].response.output_text, "Hello there!", "final text")
    equal(events[-1].response.usage.output_tokens, 4, "output_tokens")


def stream_helper(client, model):
    with client.responses.stream(model=model, input="Hello") as events:
        snapshots = [e.snapshot for e in events if e.type == "response.output_text.delta"]
        final = events.get_final_response()
    equal((snapshots[-1], final.output_text), ("Hello there!", "Hello there!"), "texts")


def split_characters(client, model):
    events = client.responses.create(model=model, input="Greet me in pieces", stream=True)
    equal("".join(e.delta for e in events if e.type == "response.output_text.delta"), "Grüße 🙂!", "text")


def tools_auto(client, model):
    reply = client.responses.create(model=model, input="What is the weather in Paris?", tools=[WEATHER])
    call, = calls_of(reply)
    equal((call.name, call.status, cities(reply)), ("get_weather", "completed", ["Paris"]), "call")
    holds(call.call_id and call.id, "the call has no ids")


def tools_required(client, model):
    reply = client.responses.create(
        model=model, input="What is the weather in Paris?", tools=[WEATHER], tool_choice="required")
    equal(cities(reply), ["Paris"], "cities")


def tools_named(client, model):
    reply = client.responses.create(
        model=model, input="What is the weather in Paris?", tools=[WEATHER], parallel_tool_calls=False,
        tool_choice={"type": "function", "name": "get_weather"})
    equal(cities(reply), ["Paris"], "cities")


def tools_allowed(client, model):
    other = {**WEATHER, "name": "get_news"}
    reply = client.responses.create(
        model=model, input="What is the weather in Paris?", tools=[WEATHER, other],
        tool_choice={"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_weather"}]})
    equal(cities(reply), ["Paris"], "cities")


def tools_none(client, model):
    reply = client.responses.create(model=model, input="Hello", tools=[WEATHER], tool_choice="none")
    equal((reply.output_text, calls_of(reply)), ("Hello there!", []), "text, calls")


def two_calls(client, model):
    reply = client.responses.create(model=model, input="What is the weather in Paris and Rome?", tools=[WEATHER])
    equal(cities(reply), ["Paris", "Rome"], "cities")
    equal(len({c.call_id for c in calls_of(reply)}), 2, "different ids")


def tools_stream(client, model):
    with client.responses.stream(
            model=model, input="What is the weather in Paris and Rome?", tools=[WEATHER]) as events:
        pieces = [e for e in events if e.type == "response.function_call_arguments.delta"]
        final = events.get_final_response()
    holds(len(pieces) > 2, f"the arguments came in {len(pieces)} pieces")
    equal(cities(final), ["Paris", "Rome"], "cities")


def tool_loop(client, model):
    history = [{"role": "user", "content": "What is the weather in Paris?"}]
    reply = client.responses.create(model=model, input=history, tools=[WEATHER])
    history += reply.output
    history.append({"type": "function_call_output", "call_id": calls_of(reply)[0].call_id, "output": "18 degrees"})
    reply = client.responses.create(model=model, input=history, tools=[WEATHER])
    equal(reply.output_text, "It is 18 degrees in Paris.", "output_text")


def json_mode(client, model):
    reply = client.responses.create(
        model=model, input="The weather as JSON", text={"format": {"type": "json_object"}})
    equal(json.loads(reply.output_text), {"city": "Paris", "degrees": 18}, "output_text")


def parse(client, model):
    reply = client.responses.parse(model=model, input="The weather as JSON", text_format=Weather)
    equal(reply.output_parsed, Weather(city="Paris", degrees=18), "output_parsed")


def parse_stream(client, model):
    with client.responses.stream(model=model, input="The weather as JSON", text_format=Weather) as events:
        for _ in events:
            pass
        final = events.get_final_response()
    equal(final.output_parsed, Weather(city="Paris", degrees=18), "output_parsed")


def reasoning(client, model):
    reply = client.responses.create(model=model, input="Please think first", reasoning={"effort": "low", "summary": "auto"})
    equal([item.type for item in reply.output], ["reasoning", "message"], "items")
    equal(reply.output[0].summary[0].text.strip(), "Two and two make four.", "summary")
    equal(reply.output_text.strip(), "It is four.", "output_text")


def reasoning_stream(client, model):
    with client.responses.stream(model=model, input="Please think first", reasoning={"summary": "auto"}) as events:
        deltas = [e.delta for e in events if e.type == "response.reasoning_summary_text.delta"]
        final = events.get_final_response()
    equal("".join(deltas).strip(), "Two and two make four.", "deltas")
    equal(final.output[0].summary[0].text.strip(), "Two and two make four.", "summary")


def logprobs(client, model):
    reply = client.responses.create(
        model=model, input="Please count to five", top_logprobs=2, include=["message.output_text.logprobs"])
    found = reply.output[0].content[0].logprobs
    equal("".join(t.token for t in found), "one two three four five", "tokens")
    equal(len(found[0].top_logprobs), 2, "alternatives")


def length(client, model):
    reply = client.responses.create(model=model, input="Please count to five", max_output_tokens=2)
    equal((reply.status, reply.incomplete_details.reason), ("incomplete", "max_output_tokens"), "status")
    equal(reply.output_text, "one two", "output_text")


def length_stream(client, model):
    events = list(client.responses.create(model=model, input="Please count to five", max_output_tokens=2, stream=True))
    equal(events[-1].type, "response.incomplete", "last event")
    equal(events[-1].response.output_text, "one two", "output_text")


def previous_response(client, model):
    error = raised(openai.BadRequestError, lambda: client.responses.create(
        model=model, input="Hello", previous_response_id="resp_1"))
    equal(error.param, "previous_response_id", "param")


def bad_temperature(client, model):
    error = raised(openai.BadRequestError, lambda: client.responses.create(model=model, input="Hello", temperature=3))
    equal((error.type, error.param), ("invalid_request_error", "temperature"), "type, param")


def bad_item(client, model):
    error = raised(openai.BadRequestError, lambda: client.responses.create(
        model=model, input=[{"role": "robot", "content": "Hello"}]))
    holds(error.param.startswith("input"), f"param is {error.param}")


def result_without_call(client, model):
    error = raised(openai.BadRequestError, lambda: client.responses.create(
        model=model, input=[{"type": "function_call_output", "call_id": "nosuch", "output": "18 degrees"}]))
    holds(error.param.startswith("input[0]"), f"param is {error.param}")


def image_without_vision(client, model):
    error = raised(openai.BadRequestError, lambda: client.responses.create(model=model, input=[{"role": "user", "content": [
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"}]}]))
    holds("image" in error.message.lower(), f"the message does not speak of images: {error.message}")


def image(client, model):
    reply = client.responses.create(model="seer", input=vision.responses_input("red"))
    equal(reply.output_text, "It is red.", "output_text")


def unknown_model(client, model):
    error = raised(openai.NotFoundError, lambda: client.responses.create(model="nosuch", input="Hello"))
    equal(error.code, "model_not_found", "code")


def too_long(client, model):
    error = raised(openai.BadRequestError, lambda: client.responses.create(model="tiny", input="a word " * 50))
    equal(error.code, "context_length_exceeded", "code")


def truncation(client, model):
    turns = [{"role": role, "content": "a word of it"} for role in ("user", "assistant")] * 6
    reply = client.responses.create(
        model="tiny", input=turns + [{"role": "user", "content": "Hi"}], truncation="auto", max_output_tokens=1)
    equal(reply.output_text, "Hi.", "output_text")
    equal(reply.truncation, "auto", "truncation")


def crash(client, model):
    error = raised(openai.InternalServerError, lambda: client.responses.create(model=model, input="Please break down"))
    equal((error.status_code, error.type), (502, "server_error"), "status, type")


def crash_stream(client, model):
    seen = []

    def read():
        for event in client.responses.create(model=model, input="Please break down", stream=True):
            seen.append(event)

    raised(openai.APIError, read)
    equal("".join(e.delta for e in seen if e.type == "response.output_text.delta"), "Hello", "text before the crash")
    equal(seen[-1].type, "response.failed", "last event")


ONE_TRY = {"max_retries": 0}  # a crash is worth a retry, which is not the subject here

CASES = [
    ("responses/plain", plain),
    ("responses/instructions", instructions),
    ("responses/items", items),
    ("responses/explicit-nulls", explicit_nulls),
    ("responses/stream", stream),
    ("responses/stream-helper", stream_helper),
    ("responses/split-characters", split_characters),
    ("responses/tools-auto", tools_auto),
    ("responses/tools-required", tools_required),
    ("responses/tools-named", tools_named),
    ("responses/tools-allowed", tools_allowed),
    ("responses/tools-none", tools_none),
    ("responses/two-calls", two_calls),
    ("responses/tools-stream", tools_stream),
    ("responses/tool-loop", tool_loop),
    ("responses/json-mode", json_mode),
    ("responses/parse", parse),
    ("responses/parse-stream", parse_stream),
    ("responses/reasoning", reasoning),
    ("responses/reasoning-stream", reasoning_stream),
    ("responses/logprobs", logprobs),
    ("responses/length", length),
    ("responses/length-stream", length_stream),
    ("responses/truncation", truncation),
    ("responses/previous-response", previous_response),
    ("responses/bad-temperature", bad_temperature),
    ("responses/bad-item", bad_item),
    ("responses/result-without-call", result_without_call),
    ("responses/image-without-vision", image_without_vision),
    ("responses/image", image),
    ("responses/unknown-model", unknown_model),
    ("responses/too-long", too_long),
    ("responses/crash", crash, ONE_TRY),
    ("responses/crash-stream", crash_stream, ONE_TRY),
]
