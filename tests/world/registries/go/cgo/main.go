// A database in C, called from goroutines.
package main

import (
	"database/sql"
	"fmt"
	"sync"

	_ "github.com/mattn/go-sqlite3"
)

func main() {
	var group sync.WaitGroup
	sums := make([]int, 4)
	for i := range sums {
		group.Add(1)
		go func() {
			defer group.Done()
			database, err := sql.Open("sqlite3", ":memory:")
			if err != nil {
				panic(err)
			}
			defer database.Close()
			database.SetMaxOpenConns(1)
			if _, err = database.Exec("create table t(n integer, s text)"); err != nil {
				panic(err)
			}
			for n := 0; n < 2000; n++ {
				if _, err = database.Exec("insert into t values (?, ?)", n, fmt.Sprint(n*i)); err != nil {
					panic(err)
				}
			}
			if err = database.QueryRow("select sum(n + length(s)) from t").Scan(&sums[i]); err != nil {
				panic(err)
			}
		}()
	}
	group.Wait()
	fmt.Println("sums", sums)
}
