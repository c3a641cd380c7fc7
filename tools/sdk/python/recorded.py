"""Holds recorded replies against the models of the vendors' Python SDKs.

usage: python3 recorded.py FILE

FILE is a JSON list of {id, type, value}; a type is a path such as
openai.types.chat.ChatCompletion. For each value that is not exactly what its
type says, a line {id, problem} is printed.
"""

import importlib
import json
import sys
from typing import Annotated

import anthropic._models
import openai._models
import openai._utils
import pydantic


def named(name):
    """The type of that path; a page of a type is page[type]."""
    outer, _, inner = name.removesuffix("]").partition("[")
    module, _, attribute = outer.rpartition(".")
    found = getattr(importlib.import_module(module), attribute)
    return found[named(inner)] if inner else found


def close(model):
    """Makes a model and its subclasses forbid unknown fields and convert nothing.

    The SDKs leave building a validator to a model's first use, which comes later.
    """
    model.model_config.update(extra="forbid", strict=True)
    for below in model.__subclasses__():
        close(below)


def discriminate(marker, attribute):
    """Makes pydantic obey what the SDKs note on a union: which field tells its members apart."""

    def schema(self, source, handler):
        try:
            return handler.generate_schema(Annotated[source, pydantic.Field(discriminator=getattr(self, attribute))])
        except (TypeError, pydantic.PydanticUserError):
            return handler(source)  # no union, or one with a member that is no object

    marker.__get_pydantic_core_schema__ = schema


def main(file):
    with open(file, encoding="utf-8") as text:
        cases = json.load(text)
    types = {case["type"]: named(case["type"]) for case in cases}
    close(openai._models.BaseModel)
    close(anthropic._models.BaseModel)
    discriminate(openai._utils.PropertyInfo, "discriminator")
    discriminate(anthropic._models.UnionDiscriminator, "field_name")
    validators = {name: pydantic.TypeAdapter(found) for name, found in types.items()}
    for case in cases:
        try:
            validators[case["type"]].validate_json(json.dumps(case["value"]))
        except pydantic.ValidationError as error:
            print(json.dumps({"id": case["id"], "problem": str(error)}))


main(sys.argv[1])
