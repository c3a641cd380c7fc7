// Package sdcpp is the image engine: stable-diffusion.cpp, as a shared library that
// is loaded at run time and called without cgo.
//
// The library is not part of the program, because it takes half an hour to compile
// and most users draw nothing. "make imagegen" builds one [Release] of it, and
// [Find] finds it. A library of another release is refused: the structs of its C
// interface change from one to the next.
//
// A failed assertion in the library ends the process. So a [Model] belongs into a
// process of its own, as package runner makes them.
package sdcpp
