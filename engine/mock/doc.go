// Package mock is an engine without a model. It makes each reply from the request alone:
// the same request has the same reply, and the reply has the shape that the request asks
// for. It is for developers who test a client, and needs neither a model file nor cgo.
//
// Below it is a raw model for package chat, so that everything above a token is real:
// templates, stop strings, counts, logprobs, choices, grammars. The rules of the replies:
//
//   - Text is one or two sentences that quote the start of the last message.
//   - Tools are called if the request demands it. If the model may decide, they are called
//     unless a result has come back since the assistant's last turn, which ends every loop
//     of tools after one round. Called are all offered tools whose names are in the last
//     user message, or else the first one. Arguments follow the tool's schema.
//   - A format (JSON mode or a schema) makes the text a JSON value that follows it. Where
//     tools are called, the format applies to the turn after them.
//   - Values are made by package value: constants, examples and defaults of the schema, else
//     the name of a property for a string, and 1 for a number.
//   - A stop string, if the request has any, comes after the text, so that the reply ends
//     with it.
//   - Reasoning comes first if the request turns it on, as one sentence.
//   - Text is as long as it is; max_tokens cuts it.
//   - A token is a word of up to eight letters and digits, or any other character, with one
//     space before it. Prompts are counted alike, after the chat template; each special
//     token of the template is one token, and each image 64. The markup of reasoning and
//     calls is counted as it is generated.
//   - The token itself has the probability 1/2; its alternatives 1/4, 1/8 and so on.
//   - Embeddings have [Dimensions] dimensions. Texts with tokens in common are close.
//   - Images are test cards of the requested size.
//
// Sampling parameters and logit_bias have no effect. Any model name is served, except
// [Missing].
package mock
