// Package script is a language model that plays a script: what a model would
// emit, token by token, written down in YAML. It needs no model file and no
// cgo, and everything above it (templates, grammars, parsing, styles) is the
// real thing. Tests use it, and so do people who test their own client.
//
//	models:
//	  scripted:                       # the name that a client asks for
//	    format: hermes                # one of format.Names, which the parser expects; default plain
//	    context: 4096                 # tokens of prompt and answer; default 4096
//	    vision: false                 # whether images are accepted
//	    fim: false                    # whether a prompt with a suffix is accepted
//	    embedding: 8                  # dimension of made-up embeddings; default none
//	    image: false                  # whether it draws test cards, and does nothing else
//	    replies:                      # the first whose `when` fits is played; none where embedding is all it does
//	      - when: {contains: weather} # a part of the last user or tool text, or of the raw prompt
//	        pieces: ["It ", {sleep: 20ms}, {base64: "4pw="}, {base64: "kw=="}]
//	        finish: stop              # stop, length, crash, stall
//	        prompt_tokens: 7          # default: the words of the prompt
//
// A string or base64 piece is one token; base64 is for bytes that are not
// whole characters. A script is read strictly: what it says and this package
// does not know is an error that names the line.
//
// An embedding is made from the words of the input, or from its tokens: the
// same in every run, and texts that share words are near each other.
//
// A test card is a picture of the size that was asked for. It shows the prompt,
// the size and the seed in letters, and its colours are made from them.
//
// A script cannot fake enforcement. Where the request constrains the output
// (a tool choice, a format), a reply that violates the constraint fails.
package script
