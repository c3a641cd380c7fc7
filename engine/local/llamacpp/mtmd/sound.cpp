//go:build llamacpp

// Nothing here reads sound, but mtmd.cpp calls it where a projector hears.
#include <../tools/mtmd/mtmd-audio.cpp>
