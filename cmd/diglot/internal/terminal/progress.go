package terminal

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Step says how far one part of a work is: the download of a layer, say.
type Step struct {
	Key   string // which part
	Label string // what a person calls it
	Done  int64  // bytes
	Total int64  // bytes; 0: not known yet
}

// Progress shows how a work goes on. All methods may be called from several
// goroutines.
type Progress interface {
	// Update says where a part stands.
	Update(s Step)
	// Say prints a line above what moves.
	Say(line string)
	// Close leaves what was shown last on the screen. Say still works.
	Close()
}

// NewProgress shows bars with speed and time left on a terminal, and
// elsewhere a line for the begin, the end and each tenth of every part.
func NewProgress(w io.Writer) Progress {
	if Is(w) {
		return newBars(w)
	}
	return &lines{w: w, tenths: map[string]int64{}}
}

// Silent is the progress that shows nothing, not even lines.
func Silent() Progress { return silent{} }

type silent struct{}

func (silent) Update(Step) {}
func (silent) Say(string)  {}
func (silent) Close()      {}

// short is the size of a part whose end alone is worth a line.
const short = 1 << 20

// lines is the progress for a pipe.
type lines struct {
	mu     sync.Mutex
	w      io.Writer
	tenths map[string]int64 // of each part: what was printed last
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

// tenths is how many tenths of s are done: -1 where that is not known, and
// 10 only at the very end.
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

// bars is the progress for a terminal.
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

// Close stops the bars where they are: those of a work that failed too.
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
