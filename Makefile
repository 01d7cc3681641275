# The front door. Each target is one line that calls a script.
.PHONY: help setup demo test test-long simulate site lock format clean

help: ; @sed -n 's/^## //p' Makefile
## make setup    install what is missing, build, leave the command at .venv/bin/heapwise
setup: ; @tools/setup
## make demo     build what it needs, a real comparison, and a report (six minutes at the most)
demo: ; @tools/setup --demo && tools/demo
## make test     setup, then every test that has changed since it passed (tools/test --all: every
##               test); the last line is `N passed, N failed`
test: ; @tools/test
## make test-long  what make test leaves out, programs of all kinds under our malloc, every moment
##               for a fault, an hour of fuzzing, 1,000 random campaigns for each promise of the
##               statistics, 1,000 runs of each program that once broke the collector (hours)
test-long: ; @tools/test --long
## make simulate   how often the laboratory's own analysis keeps its promises (ten minutes)
simulate: ; @tools/setup && tools/simulate
## make site     the documents, the contracts of the headers and the help, in build/site
site: ; @tools/setup && tools/build_site
## make lock     pin the newest Python dependencies in requirements.lock
lock: ; @tools/lock
## make format   put C++ and CMake files into shape, mend Python's style
format: ; @tools/format
## make clean    remove what was built; results in .heapwise stay
clean: ; @rm -rf build .venv
