package conversation

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

func TestSetAndShow(t *testing.T) {
	program := Program{
		Show: func(_ context.Context, model string) (string, error) { return "about " + model, nil },
		Part: func(_ context.Context, model, part string) (string, error) {
			if part == "license" {
				return "", nil
			}
			return "the " + part + " of " + model + "\n", nil
		},
	}
	checkLoops(t, program, []loopCase{
		{"system", "/set system \"Be brief.\"\rhi\r", []string{"system: Be brief.", "user: hi"}, "ok"},
		{"settings", "/set temperature 0.5\r/set\r", nil, "temperature        0.5 "},
		{"settings as ollama has them", "/set parameter temperature 0.5\r/set parameter num_predict 7\r/set\r", nil, "temperature        0.5 "},
		{"its name for the most tokens", "/set parameter num_predict 7\r/set parameter\r", nil, "max_tokens         7 "},
		{"think", "/set think\r/set\r", nil, "think              on "},
		{"nothink", "/set nothink\r/set\r", nil, "think              off "},
		{"think as it likes", "/set think\r/set think default\r/set\r", nil, "think              - "},
		{"verbose", "/set verbose\rhi\r", []string{"user: hi"}, "first token:"},
		{"quiet", "/set verbose\r/set quiet\r/set\r", nil, "verbose            off "},
		{"what belongs to the model", "/set parameter num_ctx 4096\r", nil, "add PARAMETER num_ctx 4096 to a Modelfile"},
		{"said what is set", "/set temperature 0.5\r/set temperature\r", nil, "temperature: model default"},
		{"nothing kept", "one\r/set nohistory\rtwo\r\x1b[A\x1b[A\r", []string{"user: one", "assistant: ok", "user: two", "assistant: ok", "user: one"}, "ok"},
		{"kept again", "/set nohistory\rone\r/set history\rtwo\r\x1b[A\r", []string{"user: one", "assistant: ok", "user: two", "assistant: ok", "user: two"}, "ok"},
		{"wrong setting", "/set temperature x\r", nil, `temperature is a number from 0 to 100, not "x"`},
		{"shown", "/show\r", nil, "about m\x1b[0m"},
		{"shown with what is set", "/set seed 7\r/show info\r", nil, "about m\r\n\r\nSet in this conversation\r\n  seed               7\x1b[0m"},
		{"a part of the model", "/show system\r", nil, "\x1b[2mthe system of m\x1b[0m"},
		{"a part that is set", "/set system \"Be brief.\"\r/show system\r", nil, "\x1b[2mBe brief.\x1b[0m"},
		{"its parameters", "/set seed 7\r/show parameters\r", nil, "\x1b[2mthe parameters of m\r\n\r\nSet in this conversation:\r\nseed               7\x1b[0m"},
		{"a part that there is not", "/show license\r", nil, "The model has no license."},
		{"a part that nothing has", "/show colour\r", nil, `/show does not support "colour"; want one of system, parameters, template, license, modelfile`},
	})
	checkLoops(t, Program{}, []loopCase{
		{"a part that is not at hand", "/show template\r", nil, "not available here; try diglot show m --template"},
	})
}

// TestEarlier has models whose definitions begin the conversation: what they
// say is shown, at the start and after /load, and is not sent by us.
func TestEarlier(t *testing.T) {
	program := Program{
		Open: func(_ context.Context, name string) (engine.Engine, string, error) {
			return says(text("", "ok")...), name, nil
		},
		Earlier: func(_ context.Context, model string) ([]engine.Message, error) {
			if model == "lost" {
				return nil, errors.New("its messages cannot be read")
			}
			return []engine.Message{
				{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: "Be brief."}}},
				{Role: engine.RoleUser, Parts: []engine.Part{engine.Image{}, engine.Text{Text: "What is\nthis?"}}},
				{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{Text: "It is " + model + ".\x1b[2J"}}},
			}, nil
		},
	}
	p := says(text("", "ok")...)
	_, screen := chat(t, p, program, "hi\r/load other\r/load lost\r")
	for _, want := range []string{
		"\x1b[2m>>> (a picture) What is\r\n... this?\x1b[0m\r\n\x1b[2mIt is m.[2J\r\n\x1b[0m\r\n>>> hi",
		"It is other.", "its messages cannot be read",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("there is no %q in\n%q", want, screen)
		}
	}
	if strings.Contains(screen, "brief") {
		t.Errorf("the system text is shown:\n%q", screen)
	}
	if diff := cmp.Diff([]string{"user: hi"}, said(p.asked[0].Messages)); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
