package format

import "strings"

// harmony is what gpt-oss writes. Each part of an answer is a message whose header
// names its channel and, for a call, its recipient:
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

// harmonyHeader is the header of a message.
type harmonyHeader struct{ channel, recipient string }

// readHarmonyHeader parses a header without <|message|>. The recipient may follow
// the role or the channel.
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
