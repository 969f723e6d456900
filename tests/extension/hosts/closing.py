#!/usr/bin/env python3
"""In Python a connection that has loaded the extension is closed like any other: a log that nobody
needs any more is cleared away.

    closing.py EXTENSION
"""

import os
import sqlite3
import sys
import tempfile


def connect(path, extension):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.enable_load_extension(True)
    connection.load_extension(extension)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("SELECT honker_bootstrap()")
    for i in range(3):
        connection.execute("SELECT notify('c', ?)", (str(i),))
    return connection


def nothing_more(connection):
    pass


def fail(connection):
    for refused in ("SELECT notify('c', '{')", "SELECT honker_claim_batch(1, 2, 3, 4)",
                    "SELECT honker_scheduler_register('s', 'q', 'never', '1', 0, NULL)"):
        try:
            connection.execute(refused)
        except sqlite3.OperationalError:
            continue
        sys.exit(f"not refused: {refused}")


def leave_unfinished(connection):
    cursor = connection.execute("SELECT honker_claim_batch(channel, 'w', 1, 9) FROM"
                                " _honker_notifications")
    cursor.fetchone()
    return cursor


def leave_transaction_open(connection):
    connection.execute("BEGIN")
    connection.execute("SELECT honker_enqueue('q', '1', NULL, NULL, 0, 3, NULL)")


def load_again(connection):
    connection.load_extension(sys.argv[1])
    connection.execute("SELECT honker_claim_batch('q', 'w', 1, 9)")


for last in (nothing_more, fail, leave_unfinished, leave_transaction_open, load_again):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "app.db")
        connection = connect(path, sys.argv[1])
        kept = last(connection)
        if not os.path.exists(path + "-wal"):
            sys.exit(f"{last.__name__}: there was no log to clear away")
        connection.close()
        del kept
        if os.listdir(directory) != ["app.db"]:
            sys.exit(f"{last.__name__}: left beside the closed file: {os.listdir(directory)}")
