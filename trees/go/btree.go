// Binary trees on Go's collector, in one goroutine.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

const (
	minDepth     = 4
	defaultDepth = 10
)

type node struct {
	left, right *node
}

func makeTree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{makeTree(depth - 1), makeTree(depth - 1)}
}

func (n *node) count() int {
	if n.left == nil {
		return 1
	}
	return 1 + n.left.count() + n.right.count()
}

func treesOfDepth(depth, trees int) {
	check := 0
	for i := 0; i < trees; i++ {
		check += makeTree(depth).count()
	}
	fmt.Printf("%d\t trees of depth %d\t check: %d\n", trees, depth, check)
}

func main() {
	depth := defaultDepth
	if len(os.Args) > 1 {
		if asked, err := strconv.Atoi(os.Args[1]); err == nil {
			depth = asked
		}
	}
	if depth < minDepth+2 {
		depth = minDepth + 2
	}

	fmt.Printf("stretch tree of depth %d\t check: %d\n", depth+1, makeTree(depth+1).count())
	longLived := makeTree(depth)
	for d := minDepth; d <= depth; d += 2 {
		treesOfDepth(d, 1<<(depth-d+minDepth))
	}
	fmt.Printf("long lived tree of depth %d\t check: %d\n", depth, longLived.count())
	tellCollections()
}

// The runtime keeps the last 256 pauses; a pause is one of the stops of a collection.
func tellCollections() {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	var longest time.Duration
	for _, pause := range stats.Pause {
		if pause > longest {
			longest = pause
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Fprintf(os.Stderr, "heapwise-trees: collections=%d longest_pause_s=%.6f total_pause_s=%.6f\n",
		memory.NumGC, longest.Seconds(), stats.PauseTotal.Seconds())
}
