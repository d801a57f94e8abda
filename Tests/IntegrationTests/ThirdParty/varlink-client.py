"""The daemon as seen by the package `varlink`: SOCKET GATED-URL PLAIN-URL BAD-URL.

Makes the basic calls, and prints the results that the test compares as one JSON object.
"""

import json
import sys

import varlink
from varlink.scanner import Interface

socket, gated, plain, bad = sys.argv[1:]
result = {}

with varlink.Client(address="unix:" + socket) as client:
    with client.open("org.varlink.service") as service:
        result["info"] = service.GetInfo()
        description = service.GetInterfaceDescription("io.cached.Cache")["description"]
        try:
            service.GetInterfaceDescription("io.other")
        except varlink.InterfaceNotFound as error:
            result["unknownInterface"] = error.parameters()["interface"]
    result["description"] = description
    # The package's own parser; `open` below uses it too.
    interface = Interface(description)
    result["methods"] = sorted(
        name for name, member in interface.members.items() if type(member).__name__ == "_Method")

    with client.open("io.cached.Cache") as cache:
        result["missing"] = cache.Status([plain, bad])["items"]
        result["fetched"] = cache.Fetch(urls=[plain])["items"]
        result["details"] = cache.Status(urls=[plain], details=True)["items"]
        result["list"] = cache.List(order="size", limit=10)["items"]
        result["stats"] = cache.Stats()["stats"]
        result["unwaited"] = cache.Fetch(urls=[gated], wait=False)["items"]
        # The test opens the gate when it reads this line.
        replies = cache.Fetch(urls=[gated], _more=True)
        result["first"] = next(replies)["items"]
        print("streaming", flush=True)
        for reply in replies:
            result["last"] = reply["items"]
        result["removed"] = cache.Remove(urls=[plain])
        result["after"] = cache.Status([plain])["items"]
        try:
            cache.Pin([plain], True)
        except varlink.VarlinkError as error:
            result["pin"] = error.error()
        cache.Stats(_oneway=True)
        result["stillThere"] = cache.Status([plain])["items"]

print(json.dumps(result))
