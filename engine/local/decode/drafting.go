package decode

import (
	"bytes"
	"context"
	"slices"
	"unicode/utf8"

	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/local/decode/draft"
)

// Drafting: rows of a batch beyond the token that a sequence has to decode check a
// guess of what follows. See package draft.

// drafter is what a loop knows of guesses.
type drafter struct {
	tokenizer *tokenizer.Tokenizer // nil: nothing is known of text that a grammar forces
	vocab     *Vocabulary
	record    draft.Record
	pace      draft.Pace
	spacing   *draft.Spacing
	second    *speculator // nil: there is no second model
}

func newDrafter(vocab *Vocabulary, t *tokenizer.Tokenizer) *drafter {
	return &drafter{tokenizer: t, vocab: vocab, record: draft.NewRecord(), pace: draft.NewPace(), spacing: draft.NewSpacing()}
}

// guesser is what is known of the text of one sequence.
type guesser struct {
	draft.Guess
	index   draft.Index
	record  draft.Record
	spacing *draft.Spacing // nil: nothing constrains the text
}

// draft gives rows to guesses for the sequences that generate, which have a row each.
func (l *loop) draft(generating []*sequence) {
	if l.drafter == nil || len(generating) == 0 {
		return
	}
	for _, s := range generating {
		l.drafter.guess(s, s.most(l.context))
	}
	tokens, rows := l.planRows(generating)
	if p := l.drafter.second; p != nil && l.speculate(generating, draft.NewDepth(tokens, rows, &l.drafter.pace, &p.pace)) {
		l.planRows(generating)
	}
	for _, s := range generating {
		s.rows += s.drafted
		if s.canceled() { // meanwhile
			s.rows, s.drafted = 0, 0
		}
	}
}

// most is how many tokens may be guessed of a text within a context, so that the one that
// is sampled behind them is still wanted.
func (s *sequence) most(context int) int {
	return min(s.job.MaxTokens-s.generated, context-len(s.tokens)) - 1
}

// planRows decides how many tokens of each guess are checked.
func (l *loop) planRows(generating []*sequence) (tokens float64, rows int) {
	guesses, records := make([]draft.Guess, len(generating)), make([]*draft.Record, len(generating))
	for i, s := range generating {
		guesses[i], records[i] = s.guesser.Guess, &s.guesser.record
	}
	tokens, rows = draft.Plan(guesses, records, &l.drafter.pace, l.room(len(generating)))
	for i, s := range generating {
		s.drafted = guesses[i].Rows
	}
	return tokens, rows
}

// room is how many rows guesses may have beside those of the sequences that generate.
func (l *loop) room(generating int) int {
	return min(min(l.cells.available(), BatchRows)-generating, draft.MaxRows)
}

// guess guesses at most most tokens that follow s.
func (d *drafter) guess(s *sequence, most int) {
	if s.guesser == nil {
		s.guesser = &guesser{record: d.record.Begin()}
		if s.sampler.constraint != nil {
			s.guesser.spacing = d.spacing.Begin()
			for _, token := range s.tokens[len(s.job.Prompt):] { // sampled beside prompts
				s.guesser.spacing.Read(d.vocab.output(token, s.sampler.markers))
			}
		}
	}
	g := s.guesser
	g.index.Add(s.tokens)
	most = min(most, draft.MaxTokens)
	forced, kinds := d.forced(s)
	forced = forced[:max(0, min(len(forced), most))]
	tokens, matched := g.index.Guess(s.tokens, forced, most-len(forced))
	g.Tokens = d.possible(s, tokens)
	g.Kinds = kinds[:min(len(kinds), len(g.Tokens))]
	for len(g.Kinds) < len(g.Tokens) {
		g.Kinds = append(g.Kinds, draft.KindOf(matched))
	}
}

// possible cuts a guess before the first token that cannot be part of the text.
func (d *drafter) possible(s *sequence, guess []int32) []int32 {
	var text []byte
	for i, token := range guess {
		out := d.vocab.output(token, s.sampler.markers)
		if len(out) == 0 || d.vocab.Is(token, KindEndOfTurn) {
			guess = guess[:i]
			break
		}
		text = append(text, out...)
	}
	if s.sampler.constraint == nil {
		return guess
	}
	allowed := s.sampler.constraint.Follows(text)
	for i, token := range guess {
		if allowed -= len(d.vocab.Bytes(token)); allowed < 0 {
			return guess[:i]
		}
	}
	return guess
}

// mostForced is how many bytes that a grammar forces are looked at.
const mostForced = 160

// forced returns the tokens of the text that the grammar forces, white space being
// guessed.
func (d *drafter) forced(s *sequence) ([]int32, []draft.Kind) {
	if s.sampler.constraint == nil || d.tokenizer == nil {
		return nil, nil
	}
	var guessed []int // where white space is, or could have been
	text := s.sampler.constraint.Ahead(nil, mostForced, func(text []byte, next byte) string {
		guessed = append(guessed, len(text))
		return s.guesser.spacing.Guess(text, next)
	})
	text = bytes.TrimRight(text, " \t\r\n")
	for len(text) > 0 && !utf8.Valid(text) {
		text = text[:len(text)-1]
	}
	if len(text) == 0 {
		return nil, nil
	}
	var tokens []int32
	if last := s.tokens[len(s.tokens)-1]; last >= 0 && s.generated > 0 {
		tokens = d.tokenize(d.vocab.output(last, s.sampler.markers), text)
	}
	if tokens == nil {
		tokens = d.tokenize(nil, text)
	}
	return tokens, d.kinds(tokens, guessed)
}

// kinds tells tokens with white space that was guessed from others.
func (d *drafter) kinds(tokens []int32, guessed []int) []draft.Kind {
	kinds := make([]draft.Kind, len(tokens))
	at := 0
	for i, token := range tokens {
		at += len(d.vocab.Bytes(token))
		for len(guessed) > 0 && guessed[0] < at {
			kinds[i], guessed = draft.Styled, guessed[1:]
		}
	}
	return kinds
}

// tokenize returns the tokens of text behind other text; nil if no token begins
// where text does.
func (d *drafter) tokenize(behind, text []byte) []int32 {
	whole := string(behind) + string(text)
	if !utf8.ValidString(whole) {
		return nil
	}
	tokens, err := d.tokenizer.Encode(context.Background(), nil, []tokenizer.Part{{Text: whole}}, len(whole))
	if err != nil {
		return nil
	}
	rest := text
	for i, token := range slices.Backward(tokens) {
		var ok bool
		if rest, ok = bytes.CutSuffix(rest, d.vocab.Bytes(token)); !ok {
			return nil
		}
		if len(rest) == 0 {
			return tokens[i:]
		}
	}
	return nil
}

// learn compares the last guess for s with what was sampled. What s has learned of
// white space is where later texts begin.
func (d *drafter) learn(s *sequence, sampled []int32) {
	s.guesser.Learn(sampled, &s.guesser.record, &d.record)
	if s.guesser.spacing == nil {
		return
	}
	for _, token := range sampled {
		s.guesser.spacing.Read(d.vocab.output(token, s.sampler.markers))
	}
	if s.done {
		d.spacing = s.guesser.spacing
	}
}

// sample samples a token for each row of the sequence, as long as the next row is of
// the token that was sampled, and drops the others. It returns how many tokens were
// emitted, and how many of the guess held.
func (l *loop) sample(s *sequence) (emitted, held int) {
	before := len(s.tokens)
	first := s.lastRow - s.drafted
	for ; ; held++ {
		l.sampleRow(s, first+held, s.fewAt(held))
		if held == s.drafted || len(s.tokens) == before+held || s.tokens[before+held] != s.guesser.Tokens[held] {
			break
		}
		if s.done {
			held++
			break
		}
	}
	if keep := before + held; keep < len(s.cells) {
		l.backend.Truncate(s.id, s.position(keep))
		s.cells = l.cells.release(s.cells, keep)
	}
	if s.guesser != nil {
		l.drafter.learn(s, s.tokens[before:])
	}
	return len(s.tokens) - before, held
}
