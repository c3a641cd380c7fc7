package format

import "strings"

// harmony is what gpt-oss writes. Each part of an answer is a message with a
// header that names its channel, and for a call, whom it is for:
//
//	<|channel|>analysis<|message|>…<|end|>
//	<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{…}<|call|>
//	<|start|>assistant<|channel|>final<|message|>…<|return|>
var harmony = &Format{
	Name: "harmony",
	Markers: []string{harmonyStart, harmonyChannel, harmonyMessage, harmonyConstrain, harmonyEnd, harmonyCall,
		harmonyReturn},
	channels: true,
}

const (
	harmonyStart     = "<|start|>"
	harmonyChannel   = "<|channel|>"
	harmonyMessage   = "<|message|>"
	harmonyConstrain = "<|constrain|>"
	harmonyEnd       = "<|end|>"
	harmonyCall      = "<|call|>"
	harmonyReturn    = "<|return|>"

	harmonyFunctions = "functions." // before the names of the request's tools
)

// harmonyHeader says what the content of a message is.
type harmonyHeader struct{ channel, recipient string }

// readHarmonyHeader reads a header without the mark at its end. The recipient
// may stand with the role or with the channel.
func readHarmonyHeader(b []byte) harmonyHeader {
	var h harmonyHeader
	role, channel, _ := strings.Cut(string(b), harmonyChannel)
	channel, _, _ = strings.Cut(channel, harmonyConstrain)
	if words := strings.Fields(channel); len(words) > 0 {
		h.channel = words[0]
	}
	for _, word := range strings.Fields(role + " " + channel) {
		if name, ok := strings.CutPrefix(word, "to="); ok {
			h.recipient = name
		}
	}
	return h
}
