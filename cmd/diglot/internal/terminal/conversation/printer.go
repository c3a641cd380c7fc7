package conversation

import (
	"fmt"
	"io"
	"strings"

	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine"
)

// Screen is the output of a conversation.
type Screen struct {
	Answers io.Writer // output of the model
	Notes   io.Writer // messages of the program
	Person  bool      // Answers is a terminal
}

const (
	dim    = "\x1b[2m"
	normal = "\x1b[0m"
)

// note prints a message of the program.
func (s Screen) note(text string) {
	if s.Person {
		fmt.Fprintln(s.Notes, dim+terminal.Text(text)+normal)
		return
	}
	fmt.Fprintln(s.Notes, text)
}

// printer streams an answer. On a terminal it shows reasoning dimmed and removes
// control characters; otherwise it writes only the text, byte for byte.
type printer struct {
	screen   Screen
	text     strings.Builder // the answer, for the next request
	thinking bool            // dimmed output is on
	begun    bool            // the current block has printed more than white space
	last     byte            // last byte written
	err      error           // first error of writing
}

func newPrinter(s Screen) *printer { return &printer{screen: s} }

func (p *printer) show(event engine.Event) {
	switch e := event.(type) {
	case engine.Start:
		if e.Dropped > 0 {
			p.screen.note(fmt.Sprintf("The %d oldest messages are dropped: the conversation is too long.", e.Dropped))
		}
	case engine.BlockStart:
		p.begun = false
	case engine.ReasoningDelta:
		p.think(e.Text)
	case engine.TextDelta:
		p.text.WriteString(e.Text)
		p.say(e.Text)
	case engine.BlockStop:
		p.wake()
	case engine.Finish:
		if e.Reason == engine.FinishMaxTokens {
			p.newline()
			p.screen.note("The answer is cut off: it reached the token limit.")
		}
	}
}

func (p *printer) think(text string) {
	if !p.screen.Person {
		return
	}
	if text = p.trim(text); text == "" {
		return
	}
	if !p.thinking {
		p.thinking = true
		p.write(dim)
	}
	p.write(terminal.Text(text))
}

// wake ends the dimmed output with an empty line.
func (p *printer) wake() {
	if !p.thinking {
		return
	}
	p.thinking = false
	p.write(normal + "\n\n")
}

func (p *printer) say(text string) {
	if p.screen.Person {
		text = terminal.Text(p.trim(text))
	}
	p.write(text)
}

// trim removes leading white space of a block.
func (p *printer) trim(text string) string {
	if !p.begun {
		text = strings.TrimLeft(text, " \t\n")
		p.begun = text != ""
	}
	return text
}

func (p *printer) write(text string) {
	if text == "" || p.err != nil {
		return
	}
	p.last = text[len(text)-1]
	_, p.err = io.WriteString(p.screen.Answers, text)
}

func (p *printer) newline() {
	if p.last != 0 && p.last != '\n' {
		p.write("\n")
	}
}

// end ends an answer, complete or not, with a newline.
func (p *printer) end() error {
	p.wake()
	p.newline()
	return p.err
}
