package terminal

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Step is the progress of one part, such as the download of a layer.
type Step struct {
	Key   string // identifies the part
	Label string // its name for the user
	Done  int64  // bytes
	Total int64  // bytes; 0: unknown
}

// Progress shows progress. It is safe for concurrent use.
type Progress interface {
	// Update updates a part.
	Update(s Step)
	// Say prints a line above the bars.
	Say(line string)
	// Close stops the bars and leaves them on the screen. Say still works.
	Close()
}

// NewProgress shows bars with speed and remaining time on a terminal, and
// otherwise a line for the start, the end and each tenth of a part.
func NewProgress(w io.Writer) Progress {
	if Is(w) {
		return newBars(w)
	}
	return &lines{w: w, tenths: map[string]int64{}}
}

// Silent shows nothing, not even lines of Say.
func Silent() Progress { return silent{} }

type silent struct{}

func (silent) Update(Step) {}
func (silent) Say(string)  {}
func (silent) Close()      {}

// short is the size, in bytes, up to which only the end of a part is printed.
const short = 1 << 20

// lines shows progress as lines.
type lines struct {
	mu     sync.Mutex
	w      io.Writer
	tenths map[string]int64 // last printed, by part
}

func (l *lines) Update(s Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.tenths[s.Key]
	tenth := tenths(s)
	if known && tenth <= last || tenth < 10 && s.Total > 0 && s.Total < short {
		return
	}
	l.tenths[s.Key] = tenth
	switch {
	case s.Total <= 0:
		fmt.Fprintln(l.w, Plain(s.Label))
	case tenth == 10:
		fmt.Fprintf(l.w, "%s: done, %s\n", Plain(s.Label), Size(s.Total))
	default:
		fmt.Fprintf(l.w, "%s: %d %% of %s\n", Plain(s.Label), s.Done*100/s.Total, Size(s.Total))
	}
}

// tenths is the number of completed tenths of s, or -1 if unknown.
func tenths(s Step) int64 {
	switch {
	case s.Total <= 0:
		return -1
	case s.Done >= s.Total:
		return 10
	}
	return s.Done * 10 / s.Total
}

func (l *lines) Say(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.w, Plain(line))
}

func (l *lines) Close() {}

// bars shows progress as bars.
type bars struct {
	mu     sync.Mutex
	w      io.Writer
	all    *mpb.Progress
	parts  map[string]*part
	closed bool
}

type part struct {
	bar   *mpb.Bar
	speed speed
}

func newBars(w io.Writer, more ...mpb.ContainerOption) *bars {
	columns, _ := size(w)
	options := append([]mpb.ContainerOption{mpb.WithOutput(w), mpb.WithWidth(columns), mpb.WithRefreshRate(100 * time.Millisecond)}, more...)
	return &bars{w: w, all: mpb.New(options...), parts: map[string]*part{}}
}

func (b *bars) Update(s Step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	p, known := b.parts[s.Key]
	if !known {
		p = b.add(s)
		b.parts[s.Key] = p
	}
	p.speed.add(time.Now(), s.Done)
	p.bar.SetTotal(s.Total, false)
	p.bar.SetCurrent(s.Done)
	if s.Total > 0 && s.Done >= s.Total {
		p.bar.SetTotal(s.Total, true)
	}
}

func (b *bars) add(s Step) *part {
	p := &part{}
	p.bar = b.all.New(0,
		mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
		mpb.PrependDecorators(decor.Name(Plain(s.Label), decor.WCSyncSpaceR)),
		mpb.AppendDecorators(
			decor.Any(counters, decor.WCSyncSpace),
			decor.OnComplete(decor.Any(p.rate, decor.WCSyncSpace), ""),
			decor.OnComplete(decor.Any(p.left, decor.WCSyncSpace), "done"),
		),
	)
	return p
}

func counters(s decor.Statistics) string { return Size(s.Current) + " / " + Size(s.Total) }

func (p *part) rate(decor.Statistics) string {
	if rate := p.speed.rate(time.Now()); rate >= 1 {
		return Size(int64(rate)) + "/s"
	}
	return ""
}

func (p *part) left(s decor.Statistics) string {
	if d := left(s.Total-s.Current, p.speed.rate(time.Now())); d > 0 {
		return d.String()
	}
	return ""
}

func (b *bars) Say(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		fmt.Fprintln(b.w, Plain(line))
		return
	}
	fmt.Fprintln(b.all, Plain(line))
}

// Close stops the bars, including unfinished ones.
func (b *bars) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.closed = true
	for _, p := range b.parts {
		p.bar.Abort(false)
	}
	b.all.Wait()
}
