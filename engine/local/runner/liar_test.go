package runner

import (
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
)

// lie is an invalid reply to a request that names it.
type lie struct {
	name string
	send func(*sender) error
}

// told makes a lie of messages.
func told(name string, messages ...message) lie {
	return lie{name, func(s *sender) error {
		for _, m := range messages {
			if err := s.send(m, nil); err != nil {
				return err
			}
		}
		return nil
	}}
}

// raw makes a lie of bytes.
func raw(name string, bytes ...byte) lie {
	return lie{name, func(s *sender) error {
		_, err := s.conn.Write(bytes)
		return err
	}}
}

// erring makes a lie of an error that is valid but for what change does.
func erring(name string, change func(*wireError)) lie {
	w := wireError{coded: engine.Error{Code: engine.CodeInvalidArgument, Message: "bad"}}
	change(&w)
	return told(name, errorReply{w})
}

// announced is the header of a frame of so many bytes.
func announced(size uint32, rest ...byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, size), rest...)
}

var (
	opened  = engine.BlockStart{Kind: engine.BlockText}
	stopped = engine.BlockStop{}
	over    = engine.Finish{Reason: engine.FinishEndOfTurn}
	done    = engine.Done{}
)

// delta, usage, head and start are lies in otherwise valid replies.
func delta(name string, d engine.TextDelta) lie {
	return told(name, engine.Start{}, opened, d, stopped, over, done, endOfEvents{})
}

func usage(name string, u engine.Usage) lie {
	return told(name, engine.Start{}, over, engine.Done{Usage: u}, endOfEvents{})
}

func head(name string, b engine.BlockStart) lie {
	return told(name, engine.Start{}, b, engine.ToolCallDelta{Arguments: engine.NoArguments}, stopped, engine.Finish{Reason: engine.FinishToolCalls}, done, endOfEvents{})
}

func start(name string, s engine.Start) lie { return told(name, s, over, done, endOfEvents{}) }

func finish(name string, f engine.Finish) lie {
	return told(name, engine.Start{}, f, done, endOfEvents{})
}

// lies are those about a reply.
func lies() []lie {
	long := strings.Repeat("p", 100_000)
	call := engine.BlockStart{Kind: engine.BlockToolCall, CallID: "a", Name: "f"}
	return slices.Concat([]lie{
		told("a choice beyond all", engine.Start{}, engine.Finish{Choice: 1 << 33}),
		told("a block of a choice beyond all", engine.Start{}, engine.BlockStart{Choice: 1 << 33}),
		told("a choice that nobody asked for", engine.Start{}, over, engine.Finish{Choice: 1, Reason: engine.FinishMaxTokens}, done, endOfEvents{}),
		told("a choice before the first", engine.Start{}, engine.BlockStart{Choice: -1, Kind: engine.BlockText}),
		told("no start", opened, engine.TextDelta{Text: "x"}),
		told("two starts", engine.Start{}, engine.Start{}),
		told("text without a block", engine.Start{}, engine.TextDelta{Text: "x"}, over, done, endOfEvents{}),
		told("no end", engine.Start{}, opened, engine.TextDelta{Text: "x"}, endOfEvents{}),
		told("no end of a choice", engine.Start{}, done, endOfEvents{}),
		told("nothing", endOfEvents{}),
		told("an event after the end", engine.Start{}, over, done, opened),
		told("an end after the end", engine.Start{}, over, done, done),
		told("a second arrival", accepted{}),
		told("the answer to another question", tokenCount{3}),
		told("vectors", embeddingInfo{1, 1, 1}),
		told("bytes of nothing", engine.Start{}, payload{0}, over),
		told("two prompts", prompt{0}, prompt{0}, engine.Start{}),
		told("a prompt without end", prompt{1 << 40}),
		told("a prompt of less than nothing", prompt{-1}),
		told("a step beyond the last", heartbeat{5, 4}),
		told("bytes without end", payload{1 << 40}),
		raw("no form", announced(1, 255)...),
		raw("an empty frame", announced(0)...),
		raw("a frame that is short", announced(2, codecIndex[reflect.TypeFor[tokenCount]()], 128)...),
		raw("a frame that is long", announced(2, codecIndex[reflect.TypeFor[accepted]()], 0)...),
		raw("a frame of a gibibyte", announced(1<<30, 0)...),
		raw("a list that is longer than its frame", announced(4, codecIndex[reflect.TypeFor[modelList]()], 255, 255, 3)...),
		{"a frame that never ends", func(s *sender) error {
			_, err := s.conn.Write(announced(maxFrame, make([]byte, 100_000)...))
			return err
		}},
	}, []lie{
		finish("an unknown reason", engine.Finish{Reason: "weird"}),
		finish("a reason without a call", engine.Finish{Reason: engine.FinishToolCalls}),
		finish("a stop string of nobody", engine.Finish{Reason: engine.FinishStopSequence, StopSequence: "x"}),
		delta("no UTF-8", engine.TextDelta{Text: "a\xff"}),
		delta("an empty delta", engine.TextDelta{}),
		delta("another block", engine.TextDelta{Index: 1, Text: "x"}),
		delta("log probabilities for nobody", engine.TextDelta{Text: "x", Logprobs: []engine.TokenLogprob{{Token: []byte("x")}}}),
		told("a kind of block that there is not", engine.Start{}, engine.BlockStart{Kind: "foo"}),
		usage("usage of less than nothing", engine.Usage{PromptTokens: -3, CachedTokens: -3, CompletionTokens: -1}),
		usage("more cached than read", engine.Usage{PromptTokens: 1, CachedTokens: 99}),
		usage("usage beyond all numbers", engine.Usage{PromptTokens: math.MaxInt}),
		start("a prompt of less than nothing tokens", engine.Start{PromptTokens: -7}),
		start("messages left out that there are not", engine.Start{Dropped: 2}),
		start("a header in a name", engine.Start{Ignored: []string{"a\r\nSet-Cookie: x=1"}}),
		start("a temperature that is no number", engine.Start{Used: engine.Used{Sampling: engine.Sampling{Temperature: new(math.NaN())}}}),
		start("a limit of less than nothing", engine.Start{Used: engine.Used{MaxTokens: new(-1)}}),
		start("an effort that there is not", engine.Start{Used: engine.Used{Reasoning: engine.Reasoning{Effort: "\"x"}}}),
		start("a place beyond the tools", engine.Start{Unenforced: []engine.Place{{Field: engine.FieldTools, Index: 1 << 30}}}),
		head("the name of no tool", engine.BlockStart{Kind: engine.BlockToolCall, CallID: "a", Name: "x y\n\"<"}),
		head("an id that no style allows", engine.BlockStart{Kind: engine.BlockToolCall, CallID: "a b\n", Name: "f"}),
		head("an id of nothing", engine.BlockStart{Kind: engine.BlockToolCall, Name: "f"}),
		told("the same id twice", engine.Start{}, call, engine.ToolCallDelta{Arguments: "{}"}, stopped, engine.BlockStart{Index: 1, Kind: engine.BlockToolCall, CallID: "a", Name: "f"}),
	}, []lie{
		erring("an error of the door", func(w *wireError) { w.coded.Code = engine.CodeUnauthenticated }),
		erring("an unknown error", func(w *wireError) { w.coded.Code = "nonsense" }),
		erring("a long parameter", func(w *wireError) { w.coded.Param = long }),
		erring("a long message", func(w *wireError) { w.coded.Message = long }),
		erring("a long cause", func(w *wireError) { w.cause = long }),
		erring("a message that is no UTF-8", func(w *wireError) { w.coded.Message = "\xff" }),
		erring("a place before the first", func(w *wireError) { w.coded.Place = engine.Place{Field: engine.FieldTools, Index: -4} }),
		erring("a place beyond the last", func(w *wireError) { w.coded.Place = engine.Place{Field: engine.FieldMessages, Index: 1 << 40} }),
		erring("a place of nothing", func(w *wireError) { w.coded.Place = engine.Place{Field: "foo"} }),
		erring("a time to come back that is over", func(w *wireError) { w.coded.RetryAfter = -9 }),
	})
}

// vectorLies are those about the vectors of one input.
func vectorLies() []lie {
	vectors := func(name string, e embeddingInfo, numbers ...float32) lie {
		return lie{name, func(s *sender) error {
			var b []byte
			for _, x := range numbers {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
			if err := s.send(payload{len(b)}, b); err != nil {
				return err
			}
			return s.send(e, nil)
		}}
	}
	return []lie{
		vectors("50 million empty vectors", embeddingInfo{50_000_000, 0, 1}),
		vectors("no vectors", embeddingInfo{0, 0, 1}),
		vectors("two vectors", embeddingInfo{2, 1, 1}, 1, 1),
		vectors("more dimensions than numbers", embeddingInfo{1, math.MaxInt, 1}, 1),
		vectors("fewer dimensions than numbers", embeddingInfo{1, 1, 1}, 1, 1),
		vectors("no number", embeddingInfo{1, 2, 1}, 1, float32(math.NaN())),
		vectors("no finite number", embeddingInfo{1, 1, 1}, float32(math.Inf(1))),
		vectors("tokens of less than nothing", embeddingInfo{1, 1, -1}, 1),
		told("no bytes", embeddingInfo{1, 1, 1}),
		told("bytes twice", payload{0}, payload{0}),
		told("pictures", engine.Drawn{}),
	}
}

// pictureLies are those about one picture with one preview.
func pictureLies() []lie {
	type shown struct {
		data  string
		event engine.Event
	}
	pictures := func(name string, all ...shown) lie {
		return lie{name, func(s *sender) error {
			for _, one := range all {
				if err := s.sendBehind([]byte(one.data), one.event); err != nil {
					return err
				}
			}
			return s.send(endOfEvents{}, nil)
		}}
	}
	drawn := func(change func(*engine.Drawn)) shown {
		d := engine.Drawn{Image: engine.Image{MediaType: "image/png"}, Width: 1, Height: 1}
		change(&d)
		return shown{"a", d}
	}
	preview := func(choice, index int) shown {
		return shown{"a", engine.Preview{Index: index, Drawn: engine.Drawn{Choice: choice, Image: engine.Image{MediaType: "image/png"}, Width: 1, Height: 1}}}
	}
	good := drawn(func(*engine.Drawn) {})
	return []lie{
		pictures("no pictures"),
		pictures("two pictures", good, good),
		pictures("an empty picture", shown{"", good.event}),
		told("a picture without bytes", good.event),
		pictures("a preview alone", preview(0, 0)),
		pictures("two previews", preview(0, 0), preview(0, 1), good),
		pictures("a preview of nothing", preview(-1, 0), good),
		pictures("a preview of no picture", preview(1, 0), good),
		pictures("the second preview", preview(0, 1), good),
		pictures("a preview of no pixels", shown{"a", engine.Preview{Drawn: engine.Drawn{Image: engine.Image{MediaType: "image/png"}}}}, good),
		pictures("a start with bytes", shown{"a", engine.Start{}}, good),
		told("a start behind a start", engine.Start{}, engine.Start{}),
		pictures("text", shown{"a", engine.TextDelta{Text: "x"}}),
		pictures("a type with a header", drawn(func(d *engine.Drawn) { d.Image.MediaType = "image/png\r\nX: y" })),
		pictures("the second picture", drawn(func(d *engine.Drawn) { d.Choice = 1 })),
		pictures("no pixels", drawn(func(d *engine.Drawn) { d.Width = 0 })),
		pictures("more pixels than there are", drawn(func(d *engine.Drawn) { d.Height = math.MaxInt })),
		pictures("a quality with a header", drawn(func(d *engine.Drawn) { d.Quality = "low\r\nX: y" })),
		pictures("a background without end", drawn(func(d *engine.Drawn) { d.Background = strings.Repeat("b", 1000) })),
		pictures("tokens of less than nothing", drawn(func(d *engine.Drawn) { d.Usage.OutputTokens = -1 })),
	}
}

// countLies are those about a number of tokens.
func countLies() []lie {
	return []lie{told("less than nothing", tokenCount{-5}), told("beyond all numbers", tokenCount{math.MaxInt})}
}

// beLiar serves valid replies, and the lies that it is asked for.
func beLiar(models ...engine.Model) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	l, err := inherited(socketFD)
	if err != nil {
		return err
	}
	registerWire()
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go liar{&sender{conn: conn}, models}.serve(conn)
	}
}

type liar struct {
	*sender
	models []engine.Model
}

func (l liar) serve(conn net.Conn) {
	decoder := gob.NewDecoder(conn)
	for {
		var c call
		if decoder.Decode(&c) != nil {
			return
		}
		if err := l.answer(c); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

func (l liar) answer(c call) error {
	if c == (call{}) {
		return l.send(modelList{l.models}, nil)
	}
	if err := l.send(accepted{}, nil); err != nil {
		return err
	}
	said, all := question(c)
	if i := slices.IndexFunc(all, func(l lie) bool { return l.name == said }); i >= 0 {
		return all[i].send(l.sender)
	}
	var failure error
	newPuppet().say(func(e engine.Event, _ error) bool {
		failure = l.event(e)
		return failure == nil
	}, 1, func(int) string { return fmt.Sprint(os.Getpid(), " m") })
	if failure != nil {
		return failure
	}
	return l.send(endOfEvents{}, nil)
}

// question is the text of a call and the lies in reply to it.
func question(c call) (string, []lie) {
	switch {
	case c.Count != nil:
		return c.Count.Request.Messages[0].Parts[0].(engine.Text).Text, countLies()
	case c.Embed != nil:
		return c.Embed.Inputs[0].Text, vectorLies()
	case c.Images != nil:
		return c.Images.Prompt, pictureLies()
	}
	return c.Generate.Request.Messages[0].Parts[0].(engine.Text).Text, lies()
}
