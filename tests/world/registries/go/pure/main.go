// A compressor in Go alone.
package main

import (
	"bytes"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

func main() {
	text := bytes.Repeat([]byte("some text "), 20000)
	encoder, _ := zstd.NewWriter(nil)
	decoder, _ := zstd.NewReader(nil)
	back, err := decoder.DecodeAll(encoder.EncodeAll(text, nil), nil)
	fmt.Println("bytes", len(back), err)
}
