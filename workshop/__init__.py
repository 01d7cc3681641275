"""What only this project asks: its aims, and the questions behind the pages in docs/results."""
