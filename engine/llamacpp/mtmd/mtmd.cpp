//go:build llamacpp

#include <../tools/mtmd/mtmd.cpp>
