package grammar

// formats are the formats whose texts a regular expression describes, as
// JSON strings. Formats that are not here are annotations: uri and its kin
// allow nearly everything, and regex and json-pointer are about other
// languages.
var formats = newFormats()

const (
	days = `(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8])`
	leap = `([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)`
	// RFC 3339. Leap seconds are left out: whether there was one is not in
	// the text.
	dateRE = `([0-9]{4}-(` + days + `)|` + leap + `-02-29)`
	timeRE = `([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])`

	octet  = `(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
	ipv4RE = octet + `(\.` + octet + `){3}`
	h16    = `[0-9a-fA-F]{1,4}`
	ls32   = `(` + h16 + `:` + h16 + `|` + ipv4RE + `)`
	// RFC 3986, section 3.2.2.
	ipv6RE = `((` + h16 + `:){6}` + ls32 +
		`|::(` + h16 + `:){5}` + ls32 +
		`|(` + h16 + `)?::(` + h16 + `:){4}` + ls32 +
		`|((` + h16 + `:){0,1}` + h16 + `)?::(` + h16 + `:){3}` + ls32 +
		`|((` + h16 + `:){0,2}` + h16 + `)?::(` + h16 + `:){2}` + ls32 +
		`|((` + h16 + `:){0,3}` + h16 + `)?::` + h16 + `:` + ls32 +
		`|((` + h16 + `:){0,4}` + h16 + `)?::` + ls32 +
		`|((` + h16 + `:){0,5}` + h16 + `)?::` + h16 +
		`|((` + h16 + `:){0,6}` + h16 + `)?::)`

	label      = `[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?`
	hostnameRE = label + `(\.` + label + `){0,6}`
	// The usual addresses: no quoted local parts, no address literals.
	emailRE = `[A-Za-z0-9_+-]{1,20}(\.[A-Za-z0-9_+-]{1,20}){0,2}@` + label + `(\.` + label + `){1,4}`
	uuidRE  = `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`
	// ISO 8601 as RFC 3339, appendix A has it.
	durationRE = `P([0-9]{1,9}W|[0-9]{1,9}Y([0-9]{1,9}M([0-9]{1,9}D)?)?` + durationTime +
		`|[0-9]{1,9}M([0-9]{1,9}D)?` + durationTime + `|[0-9]{1,9}D` + durationTime + `|` + durationClock + `)`
	durationTime  = `(` + durationClock + `)?`
	durationClock = `T([0-9]{1,9}H([0-9]{1,9}M([0-9]{1,9}S)?)?|[0-9]{1,9}M([0-9]{1,9}S)?|[0-9]{1,9}S)`
)

func newFormats() map[string]Node {
	all := map[string]Node{}
	p := pattern{plainChars, nil, map[string]Node{}}
	for name, re := range map[string]string{
		"date": dateRE, "time": timeRE, "date-time": dateRE + "T" + timeRE, "duration": durationRE,
		"uuid": uuidRE, "ipv4": ipv4RE, "ipv6": ipv6RE, "hostname": hostnameRE, "email": emailRE,
	} {
		tree, err := parsePattern(nil, "^("+re+")$")
		if err != nil {
			panic("grammar: format " + name + ": " + err.Error()) // a mistake in this file
		}
		inner, err := p.search(tree)
		if err != nil {
			panic("grammar: format " + name + ": " + err.Error()) // the same
		}
		all[name] = ours(&rule{body: quoted(inner)})
	}
	return all
}
