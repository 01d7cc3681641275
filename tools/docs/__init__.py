"""What the documents promise, checked one kind of promise a file."""
