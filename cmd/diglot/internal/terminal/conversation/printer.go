package conversation

import (
	"fmt"
	"io"
	"strings"

	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine"
)

// Screen is where a conversation is shown.
type Screen struct {
	Answers io.Writer // what the model says
	Notes   io.Writer // what the program says
	Person  bool      // Answers is read by a person on a terminal, not by a program
}

const (
	dim    = "\x1b[2m"
	normal = "\x1b[0m"
)

// note says something that is not the model's.
func (s Screen) note(text string) {
	if s.Person {
		fmt.Fprintln(s.Notes, dim+terminal.Text(text)+normal)
		return
	}
	fmt.Fprintln(s.Notes, text)
}

// printer writes an answer as it comes. A person sees the model think, in
// dimmed letters, and nothing that would steer the terminal; a program gets
// the text alone, byte for byte.
type printer struct {
	screen   Screen
	text     strings.Builder // of the answer, for the next request
	thinking bool            // dimmed letters are on
	begun    bool            // of what is being shown now, something is not white space
	last     byte            // that was written
	err      error           // of writing, the first
}

func newPrinter(s Screen) *printer { return &printer{screen: s} }

func (p *printer) show(event engine.Event) {
	switch e := event.(type) {
	case engine.Start:
		if e.Dropped > 0 {
			p.screen.note(fmt.Sprintf("%d of the oldest messages are left out: the conversation is too long.", e.Dropped))
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
			p.screen.note("The answer is cut off: it may have no more tokens.")
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

// wake ends the dimmed letters, and leaves a line free.
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

// trim leaves out the white space that a block begins with.
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

// end ends the answer, also one that was cut off, with the end of a line.
func (p *printer) end() error {
	p.wake()
	p.newline()
	return p.err
}
