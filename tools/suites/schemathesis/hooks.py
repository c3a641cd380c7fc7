"""Schemathesis's checks as they apply to diglot.

BEYOND lists what a valid request may still be refused for, since no schema can say it. An
entry that nothing needs fails the run: see schemathesis.go.
"""

import os
import re

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

# The error, and why no schema can say it.
BEYOND = {
    r"No earlier (message|item) (calls|holds|is) ": "a result follows its call, which is in another item",
    r"There is no message to answer": "instructions may stand anywhere, but not alone",
    r"has none named '": "the choice names a tool of another field",
    r"A tool call is required, but the request has no tools": "whether tools of the service are all there are depends on another field",
    r"There are two named '": "names differ between the items of a list, whatever else is in the items",
    r"top_logprobs needs logprobs to be true": "null and false count as absent, which dependentRequired does not know",
    r"best_of must be |best_of must be n": "a number is compared with that of another field",
    r"functions is the predecessor of tools|tool_choice is for tools|The function_call names a function": "an empty list counts as absent",
    r"tool_choice requires a call, but lists no function": "tools of the service are no functions",
    r"cannot hold a block of type|Only messages of the user may hold images": "the role is beside the content, and not in it",
    r"URL of an image must begin|data URI of an image must read|data of the image is not base64|The image|image at ": "bytes in base64 may be no image, and a URL lead nowhere",
    r"(schema|pattern|regular expression|keyword|format)\b.* (is not|cannot|must|may) ": "a JSON Schema of the client is checked by its own rules",
    r"dimensions; \d+ are not among them": "how long vectors are depends on the model",
    r"has the tokens 0 to": "which tokens there are depends on the model",
    r"The sides of images": "which sizes there are depends on the model",
    r"No model has the id": "which models there are is not the document's to say",
}

# Lists may be so long that making one takes minutes. Their bounds are tested by
# handlers/document_test.go.
LONG = 64


# This header asks for one of the two styles of /v1/models. A request without it is no
# mistake but one of the other style, so schemathesis.go has it sent with every request.
STYLE = "anthropic-version"


@schemathesis.hook
def before_load_schema(context, schema):
    shorten(schema)
    for item in schema["paths"].values():
        for operation in item.values():
            if parameters := operation.get("parameters"):
                operation["parameters"] = [p for p in parameters if p["name"] != STYLE]


def shorten(node):
    if isinstance(node, dict):
        for bound in ("maxItems", "maxProperties", "maxLength"):
            if isinstance(node.get(bound), int) and node[bound] > LONG:
                del node[bound]
        for value in node.values():
            shorten(value)
    elif isinstance(node, list):
        for value in node:
            shorten(value)


@schemathesis.check
def valid_requests_are_accepted(ctx, response, case):
    """Is positive_data_acceptance, but for what BEYOND allows."""
    if response.status_code == 400:
        try:
            message = response.json()["error"]["message"]
        except (ValueError, KeyError, TypeError):
            message = ""
        for error in BEYOND:
            if re.search(error, message):
                used(error)
                return None
    return positive_data_acceptance(ctx, response, case)


def used(error):
    """Tells schemathesis.go that an entry is needed."""
    if path := os.environ.get("BEYOND_USED"):
        with open(path, "a") as file:
            file.write(error + "\n")
