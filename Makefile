# Every target does its own set-up. `make help` lists them.

SHELL := bash
.PHONY: help setup demo test lint format asan fuzz bench bench-cpu memory-truth peak-truth squeeze algebra clean
.DEFAULT_GOAL := help

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

setup:  ## Install Debian packages, make .venv/, build plimsoll and install it there
	@scripts/setup

demo: setup  ## Lower, show and run a JAX program, and hold two others to a limit (2 minutes)
	@.venv/bin/python scripts/demo

test:  ## Run every test (the first time about a quarter of an hour)
	@scripts/test

lint: setup  ## Check the form of the sources: clang-format, clang-tidy, ruff, shellcheck
	@scripts/lint

format: setup  ## Format the sources
	@scripts/lint --fix

asan: setup  ## Build with address and undefined-behaviour sanitizers and run the C++ tests
	@. scripts/common && build_preset asan && test_preset asan

fuzz: SECONDS ?= 60
fuzz: setup  ## Run each fuzzer for SECONDS (60)
	@. scripts/common && build_preset asan && scripts/fuzz $(SECONDS)

bench: setup  ## Measure how fast programs are read, and what the hook costs
	@.venv/bin/python benchmarks/read_speed.py
	@.venv/bin/python benchmarks/hook_overhead.py

bench-cpu: setup  ## Time kernels against XLA, loops, KeOps, FAISS, PyTorch and C++ (an hour; ARGS=--quick: a quarter)
	@scripts/setup bench
	@.venv-bench/bin/python -m benchmarks.cpu $(ARGS)

memory-truth: setup  ## Measure what programs take in memory against what plimsoll says (10 minutes)
	@.venv/bin/python -m benchmarks.memory_truth

peak-truth: setup  ## Compare the estimate of temporaries with XLA's statistics (3 minutes)
	@.venv/bin/python -m benchmarks.peak_truth --write

squeeze: setup  ## Measure how small a limit is held, and at what price (three hours; ARGS=--quick: one)
	@scripts/setup squeeze
	@.venv-squeeze/bin/python -m benchmarks.squeeze $(ARGS)

algebra: setup  ## Measure what algebra is worth in time and memory (20 minutes; ARGS=--quick: five)
	@.venv/bin/python -m benchmarks.algebra $(ARGS)

clean:  ## Remove everything that was built, and the virtual environments
	rm -rf build .venv .venv-*
