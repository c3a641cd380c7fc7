// Package picture reads the pictures that clients send: JPEG, PNG, WebP, GIF
// (its first frame) and BMP.
//
// A picture is a file from a stranger. So its head is read first, and what it
// says about the size is held against a limit before anything is decoded: a
// file of a few kilobytes can claim gigabytes of pixels. Pixels are made when
// they are asked for and belong to the caller, so that a conversation with
// many pictures never has more than one of them unpacked.
//
// What comes out is what a vision model takes: RGB, upright as the camera's
// orientation tag says, transparent parts white, and no side longer than
// [MaxSide].
package picture
