// Package picture decodes the pictures that clients send: JPEG, PNG, WebP, GIF (the
// first frame) and BMP.
//
// Pictures are not trusted. The dimensions in the header are checked before anything
// is decoded, as a file of a few kilobytes can claim gigabytes of pixels. Pixels are
// decoded on demand and belong to the caller, so a conversation with many pictures has
// one of them decoded at a time.
//
// The result is what a vision model takes: RGB, upright by the EXIF orientation, white
// where transparent, and no side longer than [MaxSide].
package picture
