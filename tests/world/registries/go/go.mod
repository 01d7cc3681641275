module world

go 1.23

require (
	github.com/klauspost/compress v1.18.0
	github.com/mattn/go-sqlite3 v1.14.32
)
