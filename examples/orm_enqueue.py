#!/usr/bin/env python3
"""A job that is enqueued in the transaction of the application: both are kept, or neither is.

    orm_enqueue.py [EXTENSION]

Any library that lets its users run SQL in its transactions can do the same; here it is Python's
own. EXTENSION is skein.so, also known as libhonker_ext.so.
"""

import json
import os
import sqlite3
import sys
import tempfile


def connect(path, extension):
    connection = sqlite3.connect(path)
    connection.enable_load_extension(True)
    connection.load_extension(extension)
    connection.enable_load_extension(False)
    return connection


def enqueue(connection, queue, value):
    """In the transaction that is under way. Returns the job's number."""
    row = connection.execute(
        "SELECT honker_enqueue(?, ?, NULL, NULL, 0, 3, NULL)", (queue, json.dumps(value)))
    return row.fetchone()[0]


def place_order(connection, customer, cents):
    with connection:  # commits at its end, or rolls back when something is raised
        order = connection.execute(
            "INSERT INTO orders (customer, cents) VALUES (?, ?)", (customer, cents)).lastrowid
        enqueue(connection, "receipts", {"order": order})
        if cents <= 0:
            raise ValueError("an order of nothing")
    return order


def work(connection):
    """What a worker does, in this language or another; this one does one job."""
    claimed = json.loads(connection.execute(
        "SELECT honker_claim_batch('receipts', 'worker-1', 1, 60)").fetchone()[0])
    connection.commit()
    for job in claimed:
        order = json.loads(job["payload"])["order"]
        with connection:  # the effect and the end of the job are one, too
            connection.execute("UPDATE orders SET receipt = 'sent' WHERE id = ?", (order,))
            connection.execute(
                "SELECT honker_ack(?, ?, ?)", (job["id"], job["worker_id"], job["attempts"]))
        print(f"order {order} has its receipt")
    return len(claimed)


def main(extension):
    with tempfile.TemporaryDirectory() as directory:
        connection = connect(os.path.join(directory, "shop.db"), extension)
        connection.execute("SELECT honker_bootstrap()")
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer, cents, receipt)")

        place_order(connection, "ann", 1999)
        try:
            place_order(connection, "bob", 0)
        except ValueError as refusal:
            print(f"refused, with its job: {refusal}")

        done = work(connection) + work(connection)
        orders = connection.execute("SELECT customer, receipt FROM orders").fetchall()
        connection.close()
        return 0 if done == 1 and orders == [("ann", "sent")] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "skein"))
