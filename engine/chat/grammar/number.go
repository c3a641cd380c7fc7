package grammar

import (
	"cmp"
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// decimal is a number in digits: whole without leading zeros, fraction without trailing
// ones. Zero has no digits and is not negative.
type decimal struct {
	negative        bool
	whole, fraction string
}

// maxMagnitude limits the digits of a bound on either side of the point: more than a
// float64 needs.
const maxMagnitude = 400

var errMagnitude = errors.New("more digits than a number can have")

// parseDecimal parses a JSON number.
func parseDecimal(text string) (decimal, error) {
	var d decimal
	text, d.negative = strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil || shift > maxMagnitude || shift < -maxMagnitude {
			return d, errMagnitude
		}
	}
	if shift > 0 {
		n := min(shift, len(fraction))
		whole, fraction = whole+fraction[:n]+zeros(shift-n), fraction[n:]
	}
	if shift < 0 {
		n := min(-shift, len(whole))
		whole, fraction = whole[:len(whole)-n], zeros(-shift-n)+whole[len(whole)-n:]+fraction
	}
	d.whole, d.fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if len(d.whole) > maxMagnitude || len(d.fraction) > 2*maxMagnitude {
		return d, errMagnitude
	}
	if d.whole == "" && d.fraction == "" {
		d.negative = false
	}
	return d, nil
}

// zeros and nines are n of these digits, at most maxMagnitude and two.
func zeros(n int) string { return manyZeros[:n] }
func nines(n int) string { return manyNines[:n] }

var (
	manyZeros = strings.Repeat("0", maxMagnitude+2)
	manyNines = strings.Repeat("9", maxMagnitude+2)
)

// compare returns -1, 0 or 1.
func (d decimal) compare(o decimal) int {
	switch {
	case d.negative != o.negative && d.negative:
		return -1
	case d.negative != o.negative:
		return 1
	case d.negative:
		return o.abs().compare(d.abs())
	case len(d.whole) != len(o.whole):
		return cmp.Compare(len(d.whole), len(o.whole))
	case d.whole != o.whole:
		return strings.Compare(d.whole, o.whole)
	}
	return strings.Compare(d.fraction, o.fraction)
}

func (d decimal) abs() decimal { return decimal{whole: d.whole, fraction: d.fraction} }

// bound is one end of a range of numbers.
type bound struct {
	value     decimal
	exclusive bool
	schema    *tree // that sets it
}

// tighterLow returns the larger of two lower bounds; nil is none.
func tighterLow(a, b *bound) *bound { return tighter(a, b, 1) }

// tighterHigh returns the smaller of two upper bounds; nil is none.
func tighterHigh(a, b *bound) *bound { return tighter(a, b, -1) }

func tighter(a, b *bound, direction int) *bound {
	if a == nil {
		return b
	}
	c := b.value.compare(a.value) * direction
	if c > 0 || c == 0 && b.exclusive {
		return b
	}
	return a
}

// numberRangeKey identifies a range.
type numberRangeKey struct {
	low, high                            decimal
	hasLow, hasHigh                      bool
	lowExclusive, highExclusive, integer bool
}

// Memory of a range, and of the nodes per digit of a bound.
const (
	rangeBytes = 3000
	digitBytes = 1100
)

// numberRange caches ranges, as the same bounds are common.
func (r *reader) numberRange(low, high *bound, integer bool) Node {
	key := numberRangeKey{integer: integer}
	digits := maxDigits
	if low != nil {
		key.low, key.hasLow, key.lowExclusive = low.value, true, low.exclusive
		digits += len(low.value.whole) + len(low.value.fraction)
	}
	if high != nil {
		key.high, key.hasHigh, key.highExclusive = high.value, true, high.exclusive
		digits += len(high.value.whole) + len(high.value.fraction)
	}
	r.meter.spend(1+digits/16, 0)
	if n, ok := r.numbers[key]; ok {
		return n
	}
	if r.numbers == nil {
		r.numbers = map[numberRangeKey]Node{}
	}
	r.meter.spend(20+digits/2, rangeBytes+12*digits)
	n := ranges{r.meter}.between(low, high, integer)
	r.numbers[key] = n
	return n
}

// ranges builds ranges of numbers.
type ranges struct{ meter *meter }

// between is the numbers from low to high; nil is no bound. They have no exponent, and
// integers no fraction.
func (r ranges) between(low, high *bound, integer bool) Node {
	zero := &bound{}
	aboveZero := &bound{exclusive: true}
	magnitude := r.magnitudes
	if integer {
		magnitude = r.wholeMagnitudes
	}
	var nodes []Node
	if high == nil || !high.value.negative {
		from := low
		if from == nil || from.value.negative {
			from = zero
		}
		nodes = append(nodes, magnitude(from, high))
	}
	if low == nil || low.value.negative {
		from := aboveZero // zero has no sign
		if high != nil && high.value.negative {
			from = high.negated()
		}
		nodes = append(nodes, Seq(Literal("-"), magnitude(from, low.negated())))
	}
	return Choice(nodes...)
}

func (b *bound) negated() *bound {
	if b == nil {
		return nil
	}
	return &bound{value: b.value.abs(), exclusive: b.exclusive}
}

// wholeMagnitudes is the integers between two non-negative bounds.
func (r ranges) wholeMagnitudes(low, high *bound) Node {
	from := parseWhole(low.value.whole)
	if low.exclusive || low.value.fraction != "" {
		from.Add(from, one)
	}
	to := endOf(low, high)
	if high != nil && high.exclusive && high.value.fraction == "" {
		to.Sub(to, one)
	}
	return r.wholeRange(from, to)
}

// magnitudes is the numbers between two non-negative bounds.
func (r ranges) magnitudes(low, high *bound) Node {
	from, to := parseWhole(low.value.whole), endOf(low, high)
	lowEnd := &fractions{meter: r.meter, low: low.value.fraction, lowOpen: low.exclusive, tightLow: true}
	if high == nil {
		next := new(big.Int).Add(from, one)
		return Choice(Seq(Literal(from.String()), lowEnd.node()), Seq(r.wholeRange(next, to), optional(fractionText())))
	}
	switch from.Cmp(to) {
	case 1:
		return Choice()
	case 0:
		both := &fractions{meter: r.meter, low: low.value.fraction, lowOpen: low.exclusive, tightLow: true,
			high: high.value.fraction, highOpen: high.exclusive, tightHigh: true}
		return Seq(Literal(from.String()), both.node())
	}
	highEnd := &fractions{meter: r.meter, high: high.value.fraction, highOpen: high.exclusive, tightHigh: true}
	return Choice(
		Seq(Literal(from.String()), lowEnd.node()),
		Seq(r.wholeRange(new(big.Int).Add(from, one), new(big.Int).Sub(to, one)), optional(fractionText())),
		Seq(Literal(to.String()), highEnd.node()))
}

var one = big.NewInt(1)

func parseWhole(digits string) *big.Int {
	n, ok := new(big.Int).SetString("0"+digits, 10)
	if !ok { // decimals hold digits only
		return new(big.Int)
	}
	return n
}

// endOf is the integer part of the upper bound, or the largest allowed number if there is
// none.
func endOf(low, high *bound) *big.Int {
	if high != nil {
		return parseWhole(high.value.whole)
	}
	return parseWhole(nines(max(maxDigits, len(low.value.whole)+1)))
}

// wholeRange is the integers from a to b, both non-negative.
func (r ranges) wholeRange(a, b *big.Int) Node {
	if a.Cmp(b) > 0 {
		return Choice()
	}
	from, to := a.String(), b.String()
	if len(from) == len(to) {
		return r.sameLength(from, to)
	}
	nodes := []Node{
		r.sameLength(from, nines(len(from))),
		r.sameLength("1"+zeros(len(to)-1), to),
	}
	if len(to)-len(from) > 1 {
		nodes = append(nodes, Seq(charRange('1', '9'), digits(len(from), len(to)-2)))
	}
	return Choice(nodes...)
}

// sameLength is the digit strings from a to b, which have equal lengths.
func (r ranges) sameLength(a, b string) Node {
	r.meter.spend(4, digitBytes)
	switch {
	case a == "":
		return Seq()
	case strings.Trim(a, "0") == "" && strings.Trim(b, "9") == "": // otherwise the cases below grow exponentially
		return digits(len(a), len(a))
	case a[0] == b[0]:
		return Seq(Literal(a[:1]), r.sameLength(a[1:], b[1:]))
	}
	rest := len(a) - 1
	return Choice(
		Seq(Literal(a[:1]), r.sameLength(a[1:], nines(rest))),
		Seq(charRange(rune(a[0])+1, rune(b[0])-1), digits(rest, rest)),
		Seq(Literal(b[:1]), r.sameLength(zeros(rest), b[1:])))
}

// fractions builds the optional fraction of a number whose integer part equals that of a
// bound. low and high are digits without trailing zeros, and apply only while tight.
type fractions struct {
	meter               *meter
	low, high           string
	lowOpen, highOpen   bool // the bound is exclusive
	tightLow, tightHigh bool

	known map[fractionPlace]Node
}

// fractionPlace is a number of digits so far, and the bounds whose digits they equal.
type fractionPlace struct {
	at                  int
	tightLow, tightHigh bool
}

func (f *fractions) node() Node {
	f.known = map[fractionPlace]Node{}
	start := fractionPlace{0, f.tightLow, f.tightHigh}
	point := Seq(Literal("."), Choice(f.digitsAfter(start)...))
	if f.mayEnd(start) {
		return optional(point)
	}
	return point
}

// mayEnd reports whether the digits so far are within the bounds.
func (f *fractions) mayEnd(p fractionPlace) bool {
	if p.tightLow && (p.at < len(f.low) || f.lowOpen) {
		return false
	}
	return !p.tightHigh || p.at < len(f.high) || !f.highOpen
}

func (f *fractions) after(p fractionPlace) Node {
	if !p.tightLow && !p.tightHigh {
		return digits(0, maxDigits)
	}
	if n, ok := f.known[p]; ok {
		return n
	}
	f.meter.spend(4, digitBytes)
	nodes := f.digitsAfter(p)
	if f.mayEnd(p) {
		nodes = append(nodes, Seq())
	}
	n := Choice(nodes...)
	f.known[p] = n
	return n
}

// digitsAfter lists what may follow with at least one digit.
func (f *fractions) digitsAfter(p fractionPlace) []Node {
	if p.at >= max(len(f.low), len(f.high))+maxDigits {
		return nil
	}
	lo, hi := '0', '9'
	if p.tightLow {
		lo = digitAt(f.low, p.at)
	}
	if p.tightHigh {
		hi = digitAt(f.high, p.at)
	}
	if p.tightLow && p.tightHigh && lo == hi {
		return []Node{Seq(Literal(string(lo)), f.after(fractionPlace{p.at + 1, true, true}))}
	}
	var nodes []Node
	if p.tightLow && lo <= hi {
		nodes = append(nodes, Seq(Literal(string(lo)), f.after(fractionPlace{p.at + 1, true, false})))
		lo++
	}
	if p.tightHigh && lo <= hi {
		nodes = append(nodes, Seq(Literal(string(hi)), f.after(fractionPlace{p.at + 1, false, true})))
		hi--
	}
	if lo <= hi {
		nodes = append(nodes, Seq(charRange(lo, hi), digits(0, maxDigits)))
	}
	return nodes
}

func digitAt(digits string, i int) rune {
	if i < len(digits) {
		return rune(digits[i])
	}
	return '0'
}
