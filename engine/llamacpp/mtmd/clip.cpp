//go:build llamacpp

#include <../tools/mtmd/clip.cpp>
