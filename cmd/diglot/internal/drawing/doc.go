// Package drawing draws an image at the command line: it shows the steps, writes a
// file, and shows the image in the terminal.
package drawing
