package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
)

// showOptions pick one part of what there is to show.
type showOptions struct {
	file, parameters, template, system, license bool
}

// newShow is the command that says what a model is.
func newShow(env environment) *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:     "show NAME",
		Short:   "Say what a model is and what is set for it",
		Example: "  diglot show qwen2.5:0.5b\n  diglot show qwen2.5:0.5b --modelfile > my.modelfile",
		GroupID: groupModels,
		Args:    arguments(1, 1, "the name of a model"),

		ValidArgsFunction: completeModels(env, 1),
	}
	flags := c.Flags()
	flags.BoolVar(&o.file, "modelfile", false, "print a definition file that makes the model again")
	flags.BoolVar(&o.parameters, "parameters", false, "print what its definition sets, one a line")
	flags.BoolVar(&o.template, "template", false, "print the chat template")
	flags.BoolVar(&o.system, "system", false, "print the system text")
	flags.BoolVar(&o.license, "license", false, "print the licenses")
	asJSON := jsonFlag(c, modelMembers+", architecture, parameter_size, quantization, context_length, vision, capabilities, template, system, parameters, messages, licenses, remote, modelfile, layers")
	c.RunE = func(c *cobra.Command, args []string) error {
		if flags.NFlag() > 1 {
			return exit.Usage("show: one flag at a time")
		}
		n, err := parseName(args[0])
		if err != nil {
			return err
		}
		d, err := describe(env, n)
		if err != nil {
			return hintAtServer(c.Context(), env, n, err)
		}
		if *asJSON {
			return printJSON(env.stdout, d)
		}
		var b strings.Builder
		d.print(&b, o)
		text := b.String()
		if terminal.Is(env.stdout) {
			text = terminal.Text(text)
		}
		_, err = io.WriteString(env.stdout, text)
		return err
	}
	return c
}

// print prints the part that is asked for, or an overview.
func (d *descriptionJSON) print(w io.Writer, o showOptions) {
	switch {
	case o.file:
		printText(w, d.File)
	case o.parameters:
		for _, p := range d.Parameters {
			fmt.Fprintf(w, "%s %s\n", p.Name, p.Value)
		}
	case o.template:
		printText(w, d.Template)
	case o.system:
		printText(w, d.System)
	case o.license:
		printText(w, strings.Join(d.Licenses, "\n\n"))
	default:
		d.overview(w)
	}
}

// printText ends a text with the end of a line, if there is any.
func printText(w io.Writer, text string) {
	if text != "" {
		fmt.Fprint(w, strings.TrimSuffix(text, "\n")+"\n")
	}
}

func (d *descriptionJSON) overview(w io.Writer) {
	section(w, "Model", [][2]string{
		{"name", d.Name},
		{"architecture", d.Architecture},
		{"parameters", d.ParameterSize},
		{"quantization", d.Quantization},
		{"context length", positive(d.ContextLength)},
		{"images", map[bool]string{true: "yes"}[d.Vision]},
		{"capabilities", strings.Join(d.Capabilities, ", ")},
		{"size", terminal.Size(d.Size)},
		{"digest", d.Digest},
	})
	if d.Remote != nil {
		section(w, "Served elsewhere", [][2]string{{"url", d.Remote.URL}, {"model", d.Remote.Model}})
	}
	var set [][2]string
	for _, p := range d.Parameters {
		set = append(set, [2]string{p.Name, p.Value})
	}
	section(w, "Parameters", set)
	section(w, "System", [][2]string{{firstLines(d.System, 4), " "}})
	for _, license := range d.Licenses {
		section(w, "License", [][2]string{{firstLines(license, 2), " "}})
	}
}

// section prints what is known under a title, or nothing.
func section(w io.Writer, title string, pairs [][2]string) {
	printed := false
	for _, p := range pairs {
		if p[0] == "" || p[1] == "" {
			continue
		}
		if !printed {
			fmt.Fprintln(w, title)
			printed = true
		}
		for i, line := range strings.Split(p[0], "\n") {
			value := ""
			if i == 0 {
				value = terminal.Plain(p[1])
			}
			fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-18s %s", terminal.Plain(line), value), " "))
		}
	}
	if printed {
		fmt.Fprintln(w)
	}
}

// firstLines is the beginning of a text, with a mark where more follows.
func firstLines(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > most {
		lines = append(lines[:most], "...")
	}
	return strings.Join(lines, "\n")
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// describe reads all that there is to say of a model.
func describe(env environment, n store.Name) (*descriptionJSON, error) {
	store, err := openStore(env)
	if err != nil {
		return nil, err
	}
	m, err := store.Model(n)
	if err != nil {
		return nil, err
	}
	d, err := modelfile.Read(store, m)
	if err != nil {
		return nil, err
	}
	return newDescription(env, store, m, d)
}

// describeNamed reads a model by a name that a user typed.
func describeNamed(env environment, name string) (*descriptionJSON, error) {
	n, err := parseName(name)
	if err != nil {
		return nil, err
	}
	return describe(env, n)
}

// overviewOf is what /show says in a chat.
func overviewOf(_ context.Context, env environment, name string) (string, error) {
	d, err := describeNamed(env, name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	d.overview(&b)
	return b.String(), nil
}

// partOf is what /show says of one part: a flag of show.
func partOf(env environment, name, part string) (string, error) {
	d, err := describeNamed(env, name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	d.print(&b, showOptions{
		file:       part == "modelfile",
		parameters: part == "parameters",
		template:   part == "template",
		system:     part == "system",
		license:    part == "license",
	})
	return b.String(), nil
}
