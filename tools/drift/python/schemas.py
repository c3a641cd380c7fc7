"""Prints types of the Python SDKs as JSON Schemas.

usage: python3 schemas.py FOLDER FILE

FOLDER has the packages of the SDKs, and FILE is a JSON list of types such as
openai.types.chat.ChatCompletion. Printed are their schemas by type, the schemas that
those refer to, and the versions of the packages. The types are read as Python and
pydantic see them, not from their source.
"""

import importlib
import importlib.metadata
import json
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])

from pydantic import TypeAdapter  # noqa: E402


def named(name):
    """The type of that path; a page of a type is page[type]."""
    outer, _, inner = name.removesuffix("]").partition("[")
    module, _, attribute = outer.rpartition(".")
    found = getattr(importlib.import_module(module), attribute)
    return found[named(inner)] if inner else found


def main(file):
    with open(file, encoding="utf-8") as text:
        names = json.load(text)
    # The SDKs leave building a validator to a model's first use.
    adapters = [(name, "validation", TypeAdapter(named(name))) for name in names]
    schemas, shared = TypeAdapter.json_schemas(adapters, ref_template="#/components/schemas/{model}")
    print(json.dumps({
        "types": {name: schema for (name, _), schema in schemas.items()},
        "schemas": shared.get("$defs", {}),
        "versions": {package: importlib.metadata.version(package) for package in sorted({name.split(".")[0] for name in names})},
    }))


main(sys.argv[2])
