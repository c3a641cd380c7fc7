package report

import (
	"fmt"
	"image/color"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// plotted is a plot in a file.
type plotted struct{ title, file string }

// colours of servers, which can be told apart by those who see red and green alike.
var colours = map[string]color.Color{
	"diglot":       color.RGBA{0x00, 0x72, 0xb2, 0xff},
	"llama-server": color.RGBA{0xe6, 0x9f, 0x00, 0xff},
	"ollama":       color.RGBA{0x99, 0x99, 0x99, 0xff},
	"ik_llama.cpp": color.RGBA{0x00, 0x9e, 0x73, 0xff},
	"gateway":      color.RGBA{0xcc, 0x79, 0xa7, 0xff},
}

// plot draws the first metric of each workload: a group of bars for each model, with the
// quartiles as error bars.
func (r Results) plot(folder string) ([]plotted, error) {
	var all []plotted
	for _, m := range r.Models {
		for _, f := range m.Figures {
			file := f.Workload + ".svg"
			if f.Summary.Rounds == 0 || slices.ContainsFunc(all, func(p plotted) bool { return p.file == file }) {
				continue
			}
			p, err := r.bars(f)
			if err != nil {
				return nil, err
			}
			if err := p.Save(14*vg.Centimeter, 8*vg.Centimeter, filepath.Join(folder, file)); err != nil {
				return nil, err
			}
			all = append(all, plotted{p.Title.Text, file})
		}
	}
	return all, nil
}

// bars draws the metric of a figure for all models and servers.
func (r Results) bars(first Figure) (*plot.Plot, error) {
	p := plot.New()
	better := "lower is better"
	if first.Metric.Higher {
		better = "higher is better"
	}
	p.Title.Text = fmt.Sprintf("%s (%s)", first.Workload, better)
	p.Y.Label.Text = fmt.Sprintf("%s, %s", first.Metric.Name, first.Metric.Unit)
	p.Y.Min = 0
	p.Title.Padding, p.Y.Label.Padding = 2*vg.Millimeter, 2*vg.Millimeter
	p.Legend.Top, p.Legend.Padding, p.Legend.ThumbnailWidth = true, vg.Millimeter, 4*vg.Millimeter
	var names, servers []string
	var models []Model
	for _, m := range r.Models {
		of := slices.DeleteFunc(slices.Clone(m.Figures), func(f Figure) bool {
			return f.Workload != first.Workload || f.Metric.Name != first.Metric.Name || f.Summary.Rounds == 0
		})
		if len(of) == 0 {
			continue
		}
		names, models = append(names, m.Name), append(models, m)
		for _, f := range of {
			if !slices.Contains(servers, f.Server) {
				servers = append(servers, f.Server)
			}
		}
	}
	for i, server := range servers {
		if err := addServer(p, server, float64(i)-float64(len(servers)-1)/2, len(servers), models, first); err != nil {
			return nil, err
		}
	}
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.5, max(0.5, float64(len(names))-0.5)
	p.Y.Max *= 1.25 // for the legend
	return p, nil
}

// addServer draws the bars of one server, shifted beside those of the others.
func addServer(p *plot.Plot, server string, place float64, of int, models []Model, first Figure) error {
	width := 0.8 / float64(of)
	var legend plot.Thumbnailer
	for i, m := range models {
		f, ok := m.find(first.Workload, first.Metric.Name, server)
		if !ok {
			continue
		}
		s, x := f.Summary, float64(i)+place*width
		bar, err := plotter.NewPolygon(plotter.XYs{{X: x - 0.45*width}, {X: x - 0.45*width, Y: s.Median}, {X: x + 0.45*width, Y: s.Median}, {X: x + 0.45*width}})
		if err != nil {
			return err
		}
		bar.Color, bar.LineStyle.Width, legend = colours[server], 0, bar
		spread, err := plotter.NewYErrorBars(quartiles{x, s.Median, s.Median - s.LowerQuartile, s.UpperQuartile - s.Median})
		if err != nil {
			return err
		}
		p.Add(bar, spread)
	}
	if legend != nil {
		p.Legend.Add(server, legend)
	}
	return nil
}

// quartiles is a point with the distances of its error bar.
type quartiles struct{ x, y, below, above float64 }

func (q quartiles) Len() int                      { return 1 }
func (q quartiles) XY(int) (x, y float64)         { return q.x, q.y }
func (q quartiles) YError(int) (float64, float64) { return q.below, q.above }
