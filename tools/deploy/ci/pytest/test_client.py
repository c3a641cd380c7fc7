"""What a client does when the server fails, without a model and without a network."""

import json

import anthropic
import openai
import pytest

MODEL = "any-name"
QUESTION = [{"role": "user", "content": "How warm is it in Oslo?"}]
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Oslo", "Lima"]}},
    "required": ["city"],
}

TWICE_BUSY = """
faults:
  - fault: status=503;retry-after=1
    path: /v1/chat/completions
    times: 2
  - fault: status=529;retry-after=1
    path: /v1/messages
    times: 2
"""


def test_openai_client_retries(replay):
    client = openai.OpenAI(base_url=replay(TWICE_BUSY) + "/v1", api_key="none", max_retries=2)
    answer = client.chat.completions.create(model=MODEL, messages=QUESTION)
    assert "Oslo" in answer.choices[0].message.content


def test_openai_client_gives_up(replay):
    client = openai.OpenAI(base_url=replay(TWICE_BUSY) + "/v1", api_key="none", max_retries=0)
    with pytest.raises(openai.InternalServerError) as error:
        client.chat.completions.create(model=MODEL, messages=QUESTION)
    assert error.value.status_code == 503


def test_anthropic_client_retries(replay):
    client = anthropic.Anthropic(base_url=replay(TWICE_BUSY), api_key="none", max_retries=2)
    answer = client.messages.create(model=MODEL, max_tokens=64, messages=QUESTION)
    assert "Oslo" in answer.content[0].text


def test_openai_stream_breaks_off(replay):
    client = openai.OpenAI(base_url=replay() + "/v1", api_key="none", max_retries=0)
    text = ""
    with pytest.raises(Exception):
        for chunk in client.chat.completions.create(
            model=MODEL, messages=QUESTION, stream=True, extra_headers={"Diglot-Fault": "cut;after=4"}
        ):
            text += chunk.choices[0].delta.content or ""
    assert text, "the pieces before the cut arrive"


def test_anthropic_error_in_a_stream(replay):
    client = anthropic.Anthropic(base_url=replay(), api_key="none", max_retries=0)
    with pytest.raises(anthropic.APIStatusError):
        with client.messages.stream(
            model=MODEL, max_tokens=64, messages=QUESTION, extra_headers={"Diglot-Fault": "error=overloaded;after=2"}
        ) as stream:
            stream.get_final_message()


def test_openai_tool_call(replay):
    client = openai.OpenAI(base_url=replay() + "/v1", api_key="none")
    answer = client.chat.completions.create(
        model=MODEL,
        messages=QUESTION,
        tools=[{"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}],
        tool_choice="required",
    )
    assert json.loads(answer.choices[0].message.tool_calls[0].function.arguments) == {"city": "Oslo"}


def test_anthropic_tool_call(replay):
    client = anthropic.Anthropic(base_url=replay(), api_key="none")
    answer = client.messages.create(
        model=MODEL,
        max_tokens=256,
        messages=QUESTION,
        tools=[{"name": "get_weather", "input_schema": WEATHER}],
        tool_choice={"type": "any"},
    )
    assert [block.input for block in answer.content if block.type == "tool_use"] == [{"city": "Oslo"}]
