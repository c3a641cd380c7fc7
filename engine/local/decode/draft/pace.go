package draft

import (
	"math"
	"time"
)

// Pace measures what a step takes by its number of rows. Rows are taken to cost the
// same, as far as that matters here: T(rows) = T(1) * (1 + share * (rows-1)).
//
// Other programs make some steps many times as slow as others. So errors count by their
// logarithm, and large ones no more than others.
type Pace struct {
	share float64 // of a further row
	one   float64 // T(1) in seconds; 0: not known
	rows  float64 // mean
}

const (
	// firstShare is assumed before rows were measured. It is that of a model of which
	// half the time of a step goes into reading weights.
	firstShare             = 0.3
	firstModelShare        = 0.1
	leastShare, mostShare  = 0.01, 1
	hopefulShare           = 0.1 // with which guesses are tried, also beside several others
	learning, largestError = 0.1, 0.3
	hardlyMore             = 0.05 // of the mean number of rows
)

func NewPace() Pace { return Pace{share: firstShare} }

// NewModelPace is what is assumed of a model that guesses. It is small, so that nearly
// all time of a step goes into reading weights, and reads a text in large pieces.
func NewModelPace() Pace { return Pace{share: firstModelShare} }

// Add counts a step.
func (p *Pace) Add(rows int, taken time.Duration) {
	if taken <= 0 {
		return
	}
	x, y := float64(rows), taken.Seconds()
	if p.one == 0 {
		p.one, p.rows = y/p.of(rows), x
	}
	err := math.Log(y / (p.one * p.of(rows)))
	err = min(max(err, -largestError), largestError)
	// An error of steps with more rows than usual is one of the share; of steps with
	// fewer rows it is the opposite one.
	more := min(max((x-p.rows)/p.rows, -1), 1)
	p.share = min(max(p.share*math.Exp(learning*err*more), leastShare), mostShare)
	p.one *= math.Exp(learning * err)
	p.rows += learning * (x - p.rows)
	if math.Abs(more) < hardlyMore {
		p.forget()
	}
}

// forget lets a share that is not measured, as the number of rows does not vary, come
// closer to a small one. A large one would keep guesses from being made, and so would never
// be measured. What a step with the mean number of rows takes stays the same.
func (p *Pace) forget() {
	if p.share <= hopefulShare {
		return
	}
	before := p.share
	p.share += forgetting * (hopefulShare - p.share)
	p.one *= (1 + before*(p.rows-1)) / (1 + p.share*(p.rows-1))
}

// Share is what a further row costs, as a share of a step with one row.
func (p *Pace) Share() float64 { return p.share }

// of is the time of a step, in steps with one row.
func (p *Pace) of(rows int) float64 { return 1 + p.share*float64(rows-1) }
