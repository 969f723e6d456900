#!/usr/bin/env python3
"""Runs steps in Python.

    run.py EXTENSION PROGRAM STEPS

EXTENSION is loaded as Python older than 3.12 does it, without naming an entry point. PROGRAM is the
one on the C++ interface that works on the same file. Lines of STEPS are
    sql STATEMENT   runs it on one connection that lives as long as the run
    cpp COMMAND     has PROGRAM do something, and reads one line of its answer
    hear            reads one more line of its answer
and below each what it must result in: "= ROW" for each row, its columns separated by "|", or for
the line of the answer, or "! TEXT" for an error that contains the text. Empty lines and those that
begin with "#" say nothing. run.sh and run.rb do the same in other hosts.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile


class Host:
    def __init__(self, path, extension):
        self.connection = sqlite3.connect(path, isolation_level=None, timeout=60)
        self.connection.enable_load_extension(True)
        self.connection.load_extension(extension)
        self.connection.enable_load_extension(False)

    def run(self, statement):
        try:
            rows = self.connection.execute(statement).fetchall()
        except sqlite3.Error as failure:
            return ["! " + str(failure)]
        return ["= " + "|".join("" if c is None else str(c) for c in row) for row in rows]


class Program:
    def __init__(self, program, path):
        self.process = subprocess.Popen(
            [program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.hear()

    def hear(self):
        return ["= " + self.process.stdout.readline().rstrip("\n")]

    def end(self):
        self.process.communicate()
        return self.process.returncode


def read(path):
    """The steps, each with the results below it."""
    steps = []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if line[:1] in ("=", "!"):
            steps[-1][2].append(line)
        elif line and not line.startswith("#"):
            steps.append((number, line, []))
    return steps


def is_as_expected(actual, expected):
    if len(expected) == 1 and expected[0].startswith("! "):
        return len(actual) == 1 and actual[0].startswith("! ") and expected[0][2:] in actual[0]
    # "=" alone: no row, or an empty one.
    return [line for line in actual if line != "= "] == [e for e in expected if e.strip() != "="]


def main(extension, program, steps):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "app.db")
        host = Host(path, extension)
        other = Program(program, path)
        for number, step, expected in read(steps):
            kind, _, rest = step.partition(" ")
            actual = {"sql": host.run, "cpp": other.tell, "hear": lambda _: other.hear()}[kind](rest)
            if not is_as_expected(actual, expected):
                sys.exit(f"{steps}:{number}: {step}\n  expected {expected}\n  got      {actual}")
        host.connection.close()
        if other.end() != 0:
            sys.exit(f"{program} ended with {other.process.returncode}")
        if os.listdir(directory) != ["app.db"]:
            sys.exit(f"left beside the closed file: {os.listdir(directory)}")


main(*sys.argv[1:])
