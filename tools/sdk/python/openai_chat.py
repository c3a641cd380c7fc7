"""Chat completions and models through the openai package.

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
    "function": {
        "name": "get_weather",
        "description": "The weather in a city, now.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Name of the city"}},
            "required": ["city"],
        },
    },
}


class Weather(BaseModel):
    city: str
    degrees: int


class GetWeather(BaseModel):
    """The weather in a city, now."""

    city: str


def user(text):
    return [{"role": "user", "content": text}]


def plain(client, model):
    reply = client.chat.completions.create(model=model, messages=user("Hello"))
    choice = reply.choices[0]
    equal(choice.message.content, "Hello there!", "content")
    equal(choice.message.role, "assistant", "role")
    equal(choice.finish_reason, "stop", "finish_reason")
    equal((choice.index, reply.object, reply.model), (0, "chat.completion", model), "index, object, model")
    usage = reply.usage
    equal(usage.completion_tokens, 4, "completion_tokens")
    equal(usage.total_tokens, usage.prompt_tokens + 4, "total_tokens")
    holds(reply._request_id, "x-request-id is missing")


def system_and_parts(client, model):
    reply = client.chat.completions.create(
        model=model,
        messages=[
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]},
            {"role": "assistant", "content": "Yes?"},
            {"role": "system", "content": "Still brief."},
            {"role": "user", "content": "Hello again", "name": "Ann"},
        ],
    )
    equal(reply.choices[0].message.content, "Hello there!", "content")


def explicit_nulls(client, model):
    reply = client.chat.completions.create(
        model=model, messages=user("Hello"), max_tokens=None, stop=None, temperature=None, top_p=None, n=None,
        seed=None, logprobs=None, response_format=openai.omit, stream=None, logit_bias=None,
    )
    equal(reply.choices[0].message.content, "Hello there!", "content")


def sampling(client, model):
    reply = client.chat.completions.create(
        model=model, messages=user("Hello"), temperature=0, top_p=0.5, seed=0, frequency_penalty=0.5,
        presence_penalty=-0.5, logit_bias={"1": -100}, max_completion_tokens=100, user="someone",
    )
    equal(reply.choices[0].message.content, "Hello there!", "content")


def stream(client, model):
    chunks = list(client.chat.completions.create(model=model, messages=user("Hello"), stream=True))
    equal(chunks[0].choices[0].delta.role, "assistant", "role of the first chunk")
    text = "".join(c.choices[0].delta.content or "" for c in chunks)
    equal(text, "Hello there!", "text")
    equal([c.choices[0].finish_reason for c in chunks if c.choices[0].finish_reason], ["stop"], "finish reasons")
    equal(len({c.id for c in chunks}), 1, "ids")
    equal([c.usage for c in chunks if c.usage], [], "usage nobody asked for")


def usage_chunk(client, model):
    chunks = list(client.chat.completions.create(
        model=model, messages=user("Hello"), stream=True, stream_options={"include_usage": True}))
    last = chunks[-1]
    equal(last.choices, [], "choices of the last chunk")
    equal(last.usage.completion_tokens, 4, "completion_tokens")
    equal(last.usage.total_tokens, last.usage.prompt_tokens + 4, "total_tokens")


def stream_helper(client, model):
    with client.chat.completions.stream(model=model, messages=user("Hello")) as events:
        deltas = [e.delta for e in events if e.type == "content.delta"]
        final = events.get_final_completion()
    equal("".join(deltas), "Hello there!", "deltas")
    equal(final.choices[0].message.content, "Hello there!", "final message")
    equal(final.choices[0].finish_reason, "stop", "finish_reason")


def split_characters(client, model):
    chunks = client.chat.completions.create(model=model, messages=user("Greet me in pieces"), stream=True)
    text = "".join(c.choices[0].delta.content or "" for c in chunks)
    equal(text, "Grüße 🙂!", "text")


def tools_auto(client, model):
    reply = client.chat.completions.create(
        model=model, messages=user("What is the weather in Paris?"), tools=[WEATHER])
    choice = reply.choices[0]
    equal(choice.finish_reason, "tool_calls", "finish_reason")
    call, = choice.message.tool_calls
    equal((call.type, call.function.name), ("function", "get_weather"), "call")
    equal(json.loads(call.function.arguments), {"city": "Paris"}, "arguments")
    holds(call.id, "the call has no id")
    equal(choice.message.content, None, "content")


def tools_required(client, model):
    reply = client.chat.completions.create(
        model=model, messages=user("What is the weather in Paris?"), tools=[WEATHER], tool_choice="required")
    equal(reply.choices[0].message.tool_calls[0].function.name, "get_weather", "name")


def tools_named(client, model):
    reply = client.chat.completions.create(
        model=model, messages=user("What is the weather in Paris?"), tools=[WEATHER], parallel_tool_calls=False,
        tool_choice={"type": "function", "function": {"name": "get_weather"}})
    equal(reply.choices[0].message.tool_calls[0].function.name, "get_weather", "name")


def tools_none(client, model):
    reply = client.chat.completions.create(
        model=model, messages=user("Hello"), tools=[WEATHER], tool_choice="none")
    equal(reply.choices[0].message.content, "Hello there!", "content")
    equal(reply.choices[0].message.tool_calls, None, "tool_calls")


def two_calls(client, model):
    reply = client.chat.completions.create(
        model=model, messages=user("What is the weather in Paris and Rome?"), tools=[WEATHER])
    calls = reply.choices[0].message.tool_calls
    equal([json.loads(c.function.arguments)["city"] for c in calls], ["Paris", "Rome"], "cities")
    equal(len({c.id for c in calls}), 2, "different ids")


def tools_stream(client, model):
    with client.chat.completions.stream(
            model=model, messages=user("What is the weather in Paris and Rome?"), tools=[WEATHER]) as events:
        for _ in events:
            pass
        final = events.get_final_completion()
    equal(final.choices[0].finish_reason, "tool_calls", "finish_reason")
    calls = final.choices[0].message.tool_calls
    equal([json.loads(c.function.arguments)["city"] for c in calls], ["Paris", "Rome"], "cities")


def tool_loop(client, model):
    messages = user("What is the weather in Paris?")
    reply = client.chat.completions.create(model=model, messages=messages, tools=[WEATHER])
    message = reply.choices[0].message
    messages += [message, {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "18 degrees"}]
    reply = client.chat.completions.create(model=model, messages=messages, tools=[WEATHER])
    equal(reply.choices[0].message.content, "It is 18 degrees in Paris.", "content")


def parse_tool(client, model):
    reply = client.chat.completions.parse(
        model=model, messages=user("What is the weather in Paris?"),
        tools=[openai.pydantic_function_tool(GetWeather, name="get_weather")])
    equal(reply.choices[0].message.tool_calls[0].function.parsed_arguments, GetWeather(city="Paris"), "arguments")


def json_mode(client, model):
    reply = client.chat.completions.create(
        model=model, messages=user("The weather as JSON"), response_format={"type": "json_object"})
    equal(json.loads(reply.choices[0].message.content), {"city": "Paris", "degrees": 18}, "content")


def parse(client, model):
    reply = client.chat.completions.parse(
        model=model, messages=user("The weather as JSON"), response_format=Weather)
    equal(reply.choices[0].message.parsed, Weather(city="Paris", degrees=18), "parsed")


def parse_stream(client, model):
    with client.chat.completions.stream(
            model=model, messages=user("The weather as JSON"), response_format=Weather) as events:
        for _ in events:
            pass
        final = events.get_final_completion()
    equal(final.choices[0].message.parsed, Weather(city="Paris", degrees=18), "parsed")


def parse_cut_off(client, model):
    raised(openai.LengthFinishReasonError, lambda: client.chat.completions.parse(
        model=model, messages=user("The weather as JSON"), response_format=Weather, max_tokens=2))


def logprobs(client, model):
    reply = client.chat.completions.create(
        model=model, messages=user("Please count to five"), logprobs=True, top_logprobs=2)
    tokens = reply.choices[0].logprobs.content
    equal("".join(t.token for t in tokens), "one two three four five", "tokens")
    equal(bytes(tokens[1].bytes), b" two", "bytes")
    holds(all(t.logprob <= 0 for t in tokens), "a logprob is above 0")


def choices(client, model):
    reply = client.chat.completions.create(model=model, messages=user("Hello"), n=3)
    equal([c.index for c in reply.choices], [0, 1, 2], "indexes")
    equal({c.message.content for c in reply.choices}, {"Hello there!"}, "contents")
    equal(reply.usage.completion_tokens, 12, "completion_tokens")


def choices_stream(client, model):
    texts = {0: "", 1: ""}
    for chunk in client.chat.completions.create(model=model, messages=user("Hello"), n=2, stream=True):
        for choice in chunk.choices:
            texts[choice.index] += choice.delta.content or ""
    equal(texts, {0: "Hello there!", 1: "Hello there!"}, "texts")


def stop(client, model):
    reply = client.chat.completions.create(
        model=model, messages=user("Please count to five"), stop=["ee f", "nowhere"])
    equal(reply.choices[0].message.content, "one two thr", "content")
    equal(reply.choices[0].finish_reason, "stop", "finish_reason")


def length(client, model):
    reply = client.chat.completions.create(model=model, messages=user("Please count to five"), max_tokens=2)
    equal(reply.choices[0].message.content, "one two", "content")
    equal(reply.choices[0].finish_reason, "length", "finish_reason")


def reasoning(client, model):
    reply = client.chat.completions.create(model=model, messages=user("Please think first"), reasoning_effort="low")
    message = reply.choices[0].message
    equal(message.content.strip(), "It is four.", "content")
    equal(message.reasoning_content.strip(), "Two and two make four.", "reasoning_content")
    equal(message.reasoning, message.reasoning_content, "reasoning")


def unknown_model(client, model):
    error = raised(openai.NotFoundError, lambda: client.chat.completions.create(model="nosuch", messages=user("Hello")))
    equal(error.code, "model_not_found", "code")
    holds("nosuch" in error.message, f"the message does not name the model: {error.message}")
    holds(error.request_id, "the error has no request id")


def bad_temperature(client, model):
    error = raised(openai.BadRequestError, lambda: client.chat.completions.create(
        model=model, messages=user("Hello"), temperature=3))
    equal((error.type, error.param), ("invalid_request_error", "temperature"), "type, param")


def bad_messages(client, model):
    error = raised(openai.BadRequestError, lambda: client.chat.completions.create(model=model, messages=[]))
    equal(error.param, "messages", "param")


def bad_role(client, model):
    error = raised(openai.BadRequestError, lambda: client.chat.completions.create(
        model=model, messages=[{"role": "robot", "content": "Hello"}]))
    holds(error.param.startswith("messages[0]"), f"param is {error.param}")


def result_without_call(client, model):
    error = raised(openai.BadRequestError, lambda: client.chat.completions.create(
        model=model, messages=[{"role": "tool", "tool_call_id": "nosuch", "content": "18 degrees"}]))
    holds(error.param.startswith("messages[0]"), f"param is {error.param}")


def refused_field(client, model):
    error = raised(openai.BadRequestError, lambda: client.chat.completions.create(
        model=model, messages=user("Hello"), modalities=["text", "audio"],
        audio={"voice": "alloy", "format": "wav"}))
    holds(error.code in ("unsupported_parameter", "unsupported_value"), f"code is {error.code}")
    holds(error.param in ("audio", "modalities", "modalities[1]"), f"param is {error.param}")


def image_without_vision(client, model):
    error = raised(openai.BadRequestError, lambda: client.chat.completions.create(model=model, messages=[
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]}]))
    holds("image" in error.message.lower(), f"the message does not speak of images: {error.message}")


def image(client, model):
    reply = client.chat.completions.create(model="seer", messages=vision.chat_messages("red"))
    equal(reply.choices[0].message.content, "It is red.", "content")


def bad_image(client, model):
    error = raised(openai.BadRequestError, lambda: client.chat.completions.create(model="seer", messages=[
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]}]))
    holds(error.param.startswith("messages[0]"), f"param is {error.param}")


def image_of_this_machine(client, model):
    error = raised(openai.BadRequestError, lambda: client.chat.completions.create(model="seer", messages=[
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://127.0.0.1:9/picture.png"}}]}]))
    holds(error.param.startswith("messages[0]"), f"param is {error.param}")


def too_long(client, model):
    error = raised(openai.BadRequestError, lambda: client.chat.completions.create(
        model="tiny", messages=user("a word " * 50)))
    equal(error.code, "context_length_exceeded", "code")
    holds("16" in error.message, f"the message does not name the limit: {error.message}")


def crash(client, model):
    error = raised(openai.InternalServerError, lambda: client.chat.completions.create(
        model=model, messages=user("Please break down")))
    equal((error.status_code, error.type), (502, "server_error"), "status, type")


def crash_stream(client, model):
    text = []

    def read():
        for chunk in client.chat.completions.create(model=model, messages=user("Please break down"), stream=True):
            text.append(chunk.choices[0].delta.content or "")

    error = raised(openai.APIError, read)
    equal("".join(text), "Hello", "text before the crash")
    equal(error.type, "server_error", "type")


def ignored_fields(client, model):
    reply = client.chat.completions.with_raw_response.create(
        model=model, messages=user("Hello"), store=False, metadata={"a": "b"}, extra_body={"no_such_field": 1})
    equal(reply.parse().choices[0].message.content, "Hello there!", "content")
    ignored = reply.headers["diglot-ignored"]
    holds("no_such_field" in ignored, f"Diglot-Ignored is {ignored}")


def models_list(client, model):
    names = [m.id for m in client.models.list()]
    holds({"scripted", "lib/sub:tag", "tiny"} <= set(names), f"models are {names}")


def models_retrieve(client, model):
    one = client.models.retrieve("lib/sub:tag")
    equal((one.id, one.object), ("lib/sub:tag", "model"), "id, object")
    holds(one.created > 0 and one.owned_by, "created or owned_by is missing")


def models_unknown(client, model):
    error = raised(openai.NotFoundError, lambda: client.models.retrieve("nosuch"))
    equal(error.code, "model_not_found", "code")


ONE_TRY = {"max_retries": 0}  # a crash is worth a retry, which is not the subject here

CASES = [
    ("chat/plain", plain),
    ("chat/system-and-parts", system_and_parts),
    ("chat/explicit-nulls", explicit_nulls),
    ("chat/sampling", sampling),
    ("chat/stream", stream),
    ("chat/usage-chunk", usage_chunk),
    ("chat/stream-helper", stream_helper),
    ("chat/split-characters", split_characters),
    ("chat/tools-auto", tools_auto),
    ("chat/tools-required", tools_required),
    ("chat/tools-named", tools_named),
    ("chat/tools-none", tools_none),
    ("chat/two-calls", two_calls),
    ("chat/tools-stream", tools_stream),
    ("chat/tool-loop", tool_loop),
    ("chat/parse-tool", parse_tool),
    ("chat/json-mode", json_mode),
    ("chat/parse", parse),
    ("chat/parse-stream", parse_stream),
    ("chat/parse-cut-off", parse_cut_off),
    ("chat/logprobs", logprobs),
    ("chat/choices", choices),
    ("chat/choices-stream", choices_stream),
    ("chat/stop", stop),
    ("chat/length", length),
    ("chat/reasoning", reasoning),
    ("chat/unknown-model", unknown_model),
    ("chat/bad-temperature", bad_temperature),
    ("chat/bad-messages", bad_messages),
    ("chat/bad-role", bad_role),
    ("chat/result-without-call", result_without_call),
    ("chat/refused-field", refused_field),
    ("chat/image-without-vision", image_without_vision),
    ("chat/image", image),
    ("chat/bad-image", bad_image),
    ("chat/image-of-this-machine", image_of_this_machine),
    ("chat/too-long", too_long),
    ("chat/crash", crash, ONE_TRY),
    ("chat/crash-stream", crash_stream, ONE_TRY),
    ("chat/ignored-fields", ignored_fields),
    ("models/list", models_list),
    ("models/retrieve", models_retrieve),
    ("models/unknown", models_unknown),
]
