// Package script is a language model that replays a script: the tokens that a
// model would emit, written in YAML. It needs no model file and no cgo, and
// everything above it (templates, grammars, parsing, styles) is real. It is for
// tests, and for developers who test their own client.
//
//	models:
//	  scripted:                       # name of the model
//	    format: hermes                # output format, one of format.Names; default plain
//	    context: 4096                 # context length in tokens; default 4096
//	    vision: false                 # accepts images
//	    fim: false                    # accepts a prompt with a suffix
//	    embedding: 8                  # dimension of made-up embeddings; default none
//	    image: false                  # only generates test cards
//	    replies:                      # the first whose `when` matches is played; none for an embedding model
//	      - when: {contains: weather} # matches the last user or tool text, or the raw prompt
//	        pieces: ["It ", {sleep: 20ms}, {base64: "4pw="}, {base64: "kw=="}]
//	        finish: stop              # stop, length, crash, stall
//	        prompt_tokens: 7          # default: number of words in the prompt
//
// A string or base64 piece is one token; base64 is for incomplete characters.
// Unknown keys and wrong types are errors that name the line.
//
// Embeddings are the same in every run, and texts that share words are close.
//
// A test card is an image of the requested size that shows the prompt, the size
// and the seed.
//
// A script cannot fake enforcement: a reply that violates the tool choice or
// format of its request fails.
package script
