package contract

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// inObject puts a fault into the reply of status 200.
func inObject(change func(map[string]any)) func(*reply) { return func(r *reply) { r.object(change) } }

// inChoice puts a fault into the first choice of a reply, plain or streamed.
func inChoice(change func(map[string]any)) func(*reply) {
	return func(r *reply) {
		r.object(func(o map[string]any) { change(child(o, "choices", 0)) })
	}
}

// inEvents puts a fault into the data of events.
func inEvents(change func(map[string]any)) func(*reply) {
	return func(r *reply) {
		r.events(func(e map[string]any) bool { change(e); return true })
	}
}

// add adds to a number.
func add(o map[string]any, name string, n float64) {
	if old, ok := o[name].(float64); ok {
		o[name] = old + n
	}
}

// chatFaults are faults of plain replies of chat completions.
func chatFaults() []mistake {
	logprobs := func(change func(map[string]any)) func(*reply) {
		return inChoice(func(c map[string]any) { change(child(c, "logprobs")) })
	}
	call := func(change func(f map[string]any)) func(*reply) {
		return inChoice(func(c map[string]any) { change(child(c, "message", "tool_calls", 0, "function")) })
	}
	return []mistake{
		{"all choices have the index 0", chatPath, inObject(func(o map[string]any) { child(o, "choices", -1)["index"] = 0 }), "openai/chat/choices/indexes", nil},
		{"one count too many", chatPath, inObject(func(o map[string]any) { add(child(o, "usage"), "total_tokens", 1) }), "openai/chat/usage/sum", nil},
		{"one token too many", chatPath, inObject(func(o map[string]any) { add(child(o, "usage"), "completion_tokens", 1) }), "openai/chat/usage/exact-limit", nil},
		{"another model's name", chatPath, inObject(func(o map[string]any) { o["model"] = "default" }), "openai/chat/model/as-requested", nil},
		{"all ids are equal", chatPath, inObject(func(o map[string]any) { o["id"] = "chatcmpl-1" }), "openai/chat/ids/unique", nil},
		{"the stop string stays", chatPath, func(r *reply) {
			stop, _ := r.sent["stop"].([]any)
			r.object(func(o map[string]any) {
				m := child(o, "choices", 0, "message")
				if text, ok := m["content"].(string); ok && len(stop) > 0 {
					m["content"] = text + fmt.Sprint(stop[0])
				}
			})
		}, "openai/chat/stop/across-tokens", nil},
		{"finish reason stop for length", chatPath, inChoice(func(c map[string]any) { c["finish_reason"] = "stop" }), "openai/chat/finish/length", nil},
		{"logprobs of one token less", chatPath, logprobs(func(l map[string]any) {
			if list, _ := l["content"].([]any); len(list) > 0 {
				l["content"] = list[:len(list)-1]
			}
		}), "openai/chat/logprobs/one-per-token", nil},
		{"a log probability above 0", chatPath, logprobs(func(l map[string]any) { child(l, "content", 0)["logprob"] = 0.5 }), "openai/chat/logprobs/values", nil},
		{"alternatives in the wrong order", chatPath, logprobs(func(l map[string]any) {
			if top, _ := child(l, "content", 0)["top_logprobs"].([]any); len(top) > 0 {
				slices.Reverse(top)
			}
		}), "openai/chat/logprobs/sorted", nil},
		{"arguments are cut", chatPath, call(func(f map[string]any) {
			text, _ := f["arguments"].(string)
			f["arguments"] = strings.TrimSuffix(text, "}")
		}), "openai/chat/tool-arguments-nested", nil},
		{"a call of another tool", chatPath, call(func(f map[string]any) { f["name"] = "other" }), "openai/chat/tool-choice-named", nil},
		{"calls with one id", chatPath, inChoice(func(c map[string]any) { child(c, "message", "tool_calls", 0)["id"] = "call_0" }), "openai/chat/ids/calls-unique", nil},
		{"JSON in a fence", chatPath, inChoice(func(c map[string]any) {
			m := child(c, "message")
			m["content"] = fmt.Sprintf("```json\n%v\n```", m["content"])
		}), "openai/chat/json-mode", nil},
		{"JSON that breaks the schema", chatPath, inChoice(func(c map[string]any) { child(c, "message")["content"] = `{"x":1}` }), "openai/chat/schema-nested", nil},
	}
}

// streamFaults are faults of streams of chat completions.
func streamFaults() []mistake {
	return []mistake{
		{"a second id", chatPath, inEvents(func(e map[string]any) {
			if child(e, "choices", 0)["finish_reason"] != nil {
				e["id"] = "chatcmpl-2"
			}
		}), "openai/chat/ids/one-per-stream", nil},
		{"the time runs on", chatPath, inEvents(func(e map[string]any) {
			if child(e, "choices", 0)["finish_reason"] != nil {
				add(e, "created", 1)
			}
		}), "openai/chat/stream/created-once", nil},
		{"no role", chatPath, inEvents(func(e map[string]any) { delete(child(e, "choices", 0, "delta"), "role") }), "openai/chat/stream/role-first", nil},
		{"no finish reason", chatPath, inEvents(func(e map[string]any) {
			if c := child(e, "choices", 0); c["finish_reason"] != nil {
				c["finish_reason"] = nil
			}
		}), "openai/chat/stream/finish-once", nil},
		{"two finish reasons", chatPath, func(r *reply) {
			r.frames(func(all []string) []string {
				i := slices.IndexFunc(all, func(f string) bool { return strings.Contains(f, `"finish_reason":"`) })
				if i < 0 {
					return all
				}
				return slices.Insert(all, i, all[i])
			})
		}, "openai/chat/stream/finish-once", nil},
		{"no [DONE]", chatPath, func(r *reply) {
			r.frames(func(all []string) []string {
				return slices.DeleteFunc(all, func(f string) bool { return f == "data: [DONE]" })
			})
		}, "openai/chat/stream/done-last", nil},
		{"a delta comes twice", chatPath, func(r *reply) {
			r.frames(func(all []string) []string { return slices.Insert(all, 2, all[min(2, len(all)-1)]) })
		}, "openai/chat/stream/same-text", nil},
		{"deltas change places", chatPath, func(r *reply) {
			r.frames(func(all []string) []string {
				if len(all) > 4 {
					all[2], all[3] = all[3], all[2]
				}
				return all
			})
		}, "openai/chat/stream/same-text", nil},
		{"a character is cut", chatPath, inEvents(func(e map[string]any) {
			d := child(e, "choices", 0, "delta")
			if text, ok := d["content"].(string); ok && strings.Trim(text, asciiLetters) != "" {
				d["content"] = text + "\ufffd"
			}
		}), "openai/chat/unicode/whole-cjk", nil},
		{"a call's index begins at 1", chatPath, inEvents(func(e map[string]any) {
			add(child(e, "choices", 0, "delta", "tool_calls", 0), "index", 1)
		}), "openai/chat/stream/same-call", nil},
		{"streamed arguments are cut", chatPath, inEvents(func(e map[string]any) {
			f := child(e, "choices", 0, "delta", "tool_calls", 0, "function")
			if text, ok := f["arguments"].(string); ok {
				f["arguments"] = strings.TrimSuffix(text, "}")
			}
		}), "openai/chat/stream/same-call", nil},
		{"no counts, though asked", chatPath, func(r *reply) {
			r.events(func(e map[string]any) bool { return child(e, "usage")["total_tokens"] == nil })
		}, "openai/chat/stream/usage-if-asked", nil},
		{"a stream counts one token more", chatPath, inEvents(func(e map[string]any) {
			add(child(e, "usage"), "completion_tokens", 1)
			add(child(e, "usage"), "total_tokens", 1)
		}), "openai/chat/stream/same-usage", nil},
	}
}

const asciiLetters = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz ."',!?0123456789`

// embeddingFaults are faults of embeddings.
func embeddingFaults() []mistake {
	return []mistake{{"base64 of other numbers", "/v1/embeddings", inObject(func(o map[string]any) {
		if text, ok := child(o, "data", 0)["embedding"].(string); ok {
			child(o, "data", 0)["embedding"] = text[8:16] + text[8:]
		}
	}), "openai/embeddings/base64-equals-floats", nil}}
}

// imageFaults are faults of streams of images.
func imageFaults() []mistake {
	const path = "/v1/images/generations"
	partial := func(e map[string]any) bool { return e["type"] == "image_generation.partial_image" }
	return []mistake{
		{"one whole image for two", path, func(r *reply) {
			r.frames(func(all []string) []string { return all[:1] })
		}, "openai/images/stream", nil},
		{"an image of another size than it says", path, inEvents(func(e map[string]any) { e["size"] = "3x5" }), "openai/images/stream", nil},
		{"partial images are all the first", path, inEvents(func(e map[string]any) {
			if partial(e) {
				e["partial_image_index"] = 0
			}
		}), "openai/images/stream-partial", nil},
		{"the whole image before the partial ones", path, func(r *reply) {
			r.frames(func(all []string) []string { slices.Reverse(all); return all })
		}, "openai/images/stream-partial", nil},
	}
}

// completionFaults are faults of completions.
func completionFaults() []mistake {
	return []mistake{
		{"an echo without the prompt", completionPath, inChoice(func(c map[string]any) {
			text, _ := c["text"].(string)
			c["text"] = text[min(3, len(text)):]
		}), "openai/completions/echo/begins-with-prompt", nil},
		{"offsets are off by one", completionPath, inChoice(func(c map[string]any) {
			offsets, _ := child(c, "logprobs")["text_offset"].([]any)
			for i := range offsets {
				if n, ok := offsets[i].(float64); ok {
					offsets[i] = n + 1
				}
			}
		}), "openai/completions/logprobs/text-offsets", nil},
		{"a choice is missing", completionPath, inObject(func(o map[string]any) {
			if list, _ := o["choices"].([]any); len(list) > 1 {
				o["choices"] = list[1:]
			}
		}), "openai/completions/choices/indexes", nil},
	}
}

// responseFaults are faults of responses.
func responseFaults() []mistake {
	return []mistake{
		{"a sequence number comes twice", responsePath, inEvents(func(e map[string]any) {
			if n, _ := e["sequence_number"].(float64); n > 3 {
				e["sequence_number"] = n - 1
			}
		}), "openai/responses/stream/sequence-numbers", nil},
		{"the output begins at 1", responsePath, inEvents(func(e map[string]any) { add(e, "output_index", 1) }), "openai/responses/stream/output-indexes", nil},
		{"the last event has another text", responsePath, inEvents(func(e map[string]any) {
			child(e, "response", "output", 0, "content", 0)["text"] = "other"
		}), "openai/responses/stream/last-event-repeats", nil},
		{"no last event", responsePath, func(r *reply) { r.frames(func(all []string) []string { return all[:len(all)-1] }) }, "openai/responses/stream/last-event", nil},
		{"completed for incomplete", responsePath, inObject(func(o map[string]any) { o["status"] = "completed" }), "openai/responses/finish/status", nil},
	}
}

// messageFaults are faults of messages.
func messageFaults() []mistake {
	return []mistake{
		{"blocks begin at 1", messagePath, inEvents(func(e map[string]any) { add(e, "index", 1) }), "anthropic/messages/stream/block-indexes", nil},
		{"a delta before its block", messagePath, func(r *reply) {
			r.frames(func(all []string) []string {
				i := slices.IndexFunc(all, func(f string) bool { return strings.Contains(f, "event: content_block_start") })
				if i >= 0 && i+1 < len(all) {
					all[i], all[i+1] = all[i+1], all[i]
				}
				return all
			})
		}, "anthropic/messages/stream-order", []string{"anthropic/messages/stream/same-text"}},
		{"two beginnings", messagePath, func(r *reply) {
			r.frames(func(all []string) []string { return slices.Insert(all, 0, all[0]) })
		}, "anthropic/messages/stream-order", []string{"anthropic/messages/stream/same-text"}},
		{"no message_stop", messagePath, func(r *reply) { r.frames(func(all []string) []string { return all[:len(all)-1] }) }, "anthropic/messages/stream/stop-last", nil},
		{"end_turn for max_tokens", messagePath, inObject(func(o map[string]any) { o["stop_reason"] = "end_turn" }), "anthropic/messages/finish/length", nil},
		{"message_delta without counts", messagePath, inEvents(func(e map[string]any) {
			if e["type"] == "message_delta" {
				delete(e, "usage")
			}
		}), "anthropic/messages/stream/usage-in-both-ends", nil},
		{"the stop string is not told", messagePath, inObject(func(o map[string]any) { o["stop_sequence"] = nil }), "anthropic/messages/stop/across-tokens", nil},
		{"one token less is counted beforehand", "/v1/messages/count_tokens", inObject(func(o map[string]any) { add(o, "input_tokens", -1) }), "anthropic/messages-count_tokens/equals-usage", nil},
		{"a stream of messages ends with [DONE]", messagePath, func(r *reply) {
			if r.streamed() && r.status == http.StatusOK {
				r.body = bytes.Join([][]byte{r.body, []byte("data: [DONE]\n\n")}, nil)
			}
		}, "anthropic/messages/stream-events", []string{"anthropic/messages/stream/same-text"}},
	}
}
