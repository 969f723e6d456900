#!/usr/bin/env python3
"""Drives the server as customers and administrators do, and kills it in the middle of its work.

    test.py <server>

Fails unless every order that was confirmed is mailed in the end, and what stops by itself stops well.
"""

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time


class Server:
    def __init__(self, program, directory):
        self.process = subprocess.Popen(
            [program, os.path.join(directory, "shop.db"), os.path.join(directory, "mails"), "0"],
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on http://127.0.0.1:"):
            sys.exit(f"the server said: {line!r}")
        self.port = int(line.rsplit(":", 1)[1])

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found!r} instead of {wanted!r}")


def place(server, count, confirmed):
    for number in range(count):
        body = json.dumps({"item": f"wool {number}", "email": "ann@example.org"})
        try:
            status, text = server.call("POST", "/orders", body)
        except (OSError, http.client.HTTPException):
            return  # it was killed: nobody has confirmed this one
        expect("an order", status, 201)
        confirmed.append(json.loads(text)["id"])


def mails(directory):
    with open(os.path.join(directory, "mails"), encoding="utf-8") as file:
        return [int(line.split()[0]) for line in file]


def check_refusals(server):
    expect("an order that is no JSON", server.call("POST", "/orders", "wool, please")[0], 400)
    expect("an order without a customer", server.call("POST", "/orders", '{"item": "wool"}')[0], 400)
    expect("an order that nobody has placed", server.call("GET", "/orders/99999")[0], 404)
    expect("an order with a strange number", server.call("GET", "/orders/none")[0], 404)
    expect("a page that is not there", server.call("GET", "/nothing")[0], 404)


def check_events(server):
    body = json.dumps({"item": "a spindle", "email": "bob@example.org"})
    order = json.loads(server.call("POST", "/orders", body)[1])["id"]
    status, text = server.call("GET", f"/orders/{order}/events")
    expect("events", status, 200)
    states = [json.loads(line[6:])["state"] for line in text.splitlines()
              if line.startswith("data: ")]
    expect("the events of an order", states, ["placed", "mailed"])
    found = json.loads(server.call("GET", f"/orders/{order}")[1])
    expect("an order that was mailed", found["state"], "mailed")
    metrics = server.call("GET", "/metrics")[1]
    if 'skein_jobs_enqueued_total{queue="mails"}' not in metrics:
        sys.exit(f"metrics without the queue:\n{metrics}")
    return order


def wait_until_mailed(server, orders):
    """As a customer would: by the events, which end with the mail."""
    for order in orders:
        server.call("GET", f"/orders/{order}/events")
        found = json.loads(server.call("GET", f"/orders/{order}")[1])
        expect(f"order {order}", found["state"], "mailed")


def main(program):
    with tempfile.TemporaryDirectory() as directory:
        server = Server(program, directory)
        check_refusals(server)
        confirmed = [check_events(server)]

        customers = [threading.Thread(target=place, args=(server, 200, confirmed))
                     for _ in range(4)]
        for each in customers:
            each.start()
        while len(confirmed) < 60:
            time.sleep(0.005)
        server.kill()
        for each in customers:
            each.join()

        server = Server(program, directory)
        wait_until_mailed(server, confirmed)
        missing = set(confirmed) - set(mails(directory))
        expect("orders without a mail", missing, set())

        # A stop lets what runs come to its end: nothing is mailed twice by the one who comes next.
        place(server, 30, confirmed)
        expect("the exit code after SIGTERM", server.stop(), 0)
        before = mails(directory)
        server = Server(program, directory)
        wait_until_mailed(server, confirmed)
        expect("the exit code after SIGTERM", server.stop(), 0)
        again = set(before) & set(mails(directory)[len(before):])
        expect("orders that were mailed again after a stop", again, set())
        print(f"{len(confirmed)} orders, {len(mails(directory))} mails")


if __name__ == "__main__":
    main(sys.argv[1])
