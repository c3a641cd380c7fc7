package anthropic

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/anthropic"
	"github.com/diglot/diglot/handlers/internal/exchange"
)

// mostTools is how many tools a request may offer, as the document says of its list; those
// that messages add count too.
const mostTools = 512

// offers are the tools of a request, which messages may change.
type offers struct {
	all []offer
	at  map[string]int // by name
}

type offer struct {
	tool      wire.Tool
	path      string // of its definition, in the checked body
	withdrawn bool
}

// change is a block that offers or withdraws a tool, and the path of the tool in it.
type change struct {
	wire.ToolChangeBlockParam
	path string
}

// toOffers returns the client's tools; the document leaves no others.
func toOffers(in []wire.ToolParam) (*offers, error) {
	o := &offers{at: map[string]int{}}
	for i, t := range in {
		tool, err := t.AsTool()
		if err != nil {
			return nil, err
		}
		o.at[tool.Name] = len(o.all)
		o.all = append(o.all, offer{tool: tool, path: fmt.Sprintf("tools.%d", i)})
	}
	return o, nil
}

// apply makes a change. One without a tool is about a tool of the service.
func (o *offers) apply(c change) error {
	if c.Tool == nil {
		return nil
	}
	value, err := c.Tool.ValueByDiscriminator()
	if err != nil {
		return err
	}
	withdrawn := c.Type == wire.ToolChangeBlockParamTypeToolRemoval
	switch t := value.(type) {
	case wire.ToolNameReference:
		if i, ok := o.at[t.Name]; ok {
			o.all[i].withdrawn = withdrawn
		}
	case wire.ToolDefinition:
		if t.Definition == nil {
			return nil
		}
		tool, err := t.Definition.AsTool()
		if err != nil {
			return err
		}
		o.define(offer{tool, c.path + ".definition", withdrawn})
	}
	return nil
}

// define adds a tool, or replaces the one of its name.
func (o *offers) define(one offer) {
	if i, ok := o.at[one.tool.Name]; ok {
		o.all[i] = one
		return
	}
	o.at[one.tool.Name] = len(o.all)
	o.all = append(o.all, one)
}

// tools returns the tools that are offered in the end, and their paths.
func (o *offers) tools() (tools []engine.Tool, paths []string, err error) {
	for _, one := range o.all {
		if one.withdrawn {
			continue
		}
		if len(tools) == mostTools {
			return nil, nil, exchange.Invalid(one.path, "A request may offer at most %d tools.", mostTools)
		}
		tools, paths = append(tools, toTool(one.tool)), append(paths, one.path)
	}
	return tools, paths, nil
}

// locateTools makes errors and reports name the tools where the client defined them.
func locateTools(x *exchange.Exchange, paths []string) {
	x.Translate(func(place string) string {
		rest, ok := strings.CutPrefix(place, "tools.")
		if !ok {
			return place
		}
		index, member, _ := strings.Cut(rest, ".")
		if i, err := strconv.Atoi(index); err == nil && i < len(paths) {
			return paths[i] + "." + member
		}
		return place
	})
}
