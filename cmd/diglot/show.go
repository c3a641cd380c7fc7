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

// showOptions select one part of the information about a model.
type showOptions struct {
	file, parameters, template, system, license bool
}

func newShow(env environment) *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:     "show NAME",
		Short:   "Show information about a model",
		Example: "  diglot show qwen2.5:0.5b\n  diglot show qwen2.5:0.5b --modelfile > my.modelfile",
		GroupID: groupModels,
		Args:    arguments(1, 1, "a model name"),

		ValidArgsFunction: completeModels(env, 1),
	}
	flags := c.Flags()
	flags.BoolVar(&o.file, "modelfile", false, "print a Modelfile that recreates the model")
	flags.BoolVar(&o.parameters, "parameters", false, "print the parameters of its Modelfile, one per line")
	flags.BoolVar(&o.template, "template", false, "print the chat template")
	flags.BoolVar(&o.system, "system", false, "print the system prompt")
	flags.BoolVar(&o.license, "license", false, "print the licenses")
	asJSON := jsonFlag(c, modelFields+", architecture, parameter_size, quantization, context_length, kernels, vision, capabilities, template, system, parameters, messages, licenses, remote, modelfile, layers")
	c.RunE = func(c *cobra.Command, args []string) error {
		if flags.NFlag() > 1 {
			return exit.Usage("show: use only one flag")
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

// print prints the selected part, or an overview.
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

// printText prints a text, if any, with one newline at its end.
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
		{"kernels", d.Kernels},
		{"images", map[bool]string{true: "yes"}[d.Vision]},
		{"capabilities", strings.Join(d.Capabilities, ", ")},
		{"size", terminal.Size(d.Size)},
		{"digest", d.Digest},
	})
	if d.Remote != nil {
		section(w, "Remote server", [][2]string{{"url", d.Remote.URL}, {"model", d.Remote.Model}})
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

// section prints the pairs that have a value under a title, or nothing.
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

// firstLines truncates a text to so many lines, and then adds "...".
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

// describe reads all information about a model.
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

// describeNamed is describe for a name that the user typed.
func describeNamed(env environment, name string) (*descriptionJSON, error) {
	n, err := parseName(name)
	if err != nil {
		return nil, err
	}
	return describe(env, n)
}

// overviewOf is the answer to /show in a chat.
func overviewOf(_ context.Context, env environment, name string) (string, error) {
	d, err := describeNamed(env, name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	d.overview(&b)
	return b.String(), nil
}

// partOf is the answer to /show with a part: the name of a flag of show.
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
