"""Sends requests by a schedule and prints them as oha does. Each costs it twice the processor time
that the schedule leaves for it, so that it is never idle and always late."""

import http.client
import sys
import time
import urllib.parse


def value(option: str, default: str) -> str:
    return sys.argv[sys.argv.index(option) + 1] if option in sys.argv else default


def main() -> None:
    seconds, rate = float(value("-z", "1s").rstrip("s")), float(value("-q", "0"))
    place = urllib.parse.urlsplit(next(word for word in sys.argv if word.startswith("http://")))
    connection = http.client.HTTPConnection(str(place.hostname), place.port)
    print("request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status")
    began, number = time.monotonic(), 0
    while True:
        planned = number / rate if rate else time.monotonic() - began
        if max(planned, time.monotonic() - began) >= seconds:
            return
        while rate and time.process_time() < 2 * (number + 1) / rate:
            pass
        connection.request("GET", place.path)
        answer = connection.getresponse()
        size = len(answer.read())
        late = time.monotonic() - began - planned
        print(f"{planned},0,0,0,{late},{size},{answer.status}")
        number += 1


main()
