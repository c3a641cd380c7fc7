package contract

import (
	"errors"
	"strconv"
)

// percent is a flag from 0 to 100.
type percent float64

func (p *percent) String() string { return strconv.FormatFloat(float64(*p), 'g', -1, 64) }

// Type is what pflag calls it.
func (p *percent) Type() string { return "percent" }

// Set implements pflag.Value.
func (p *percent) Set(value string) error {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(n >= 0 && n <= 100) { // not a number is none of both
		return errors.New("must be a number from 0 to 100")
	}
	*p = percent(n)
	return nil
}
