module heapwise/trees

go 1.19
