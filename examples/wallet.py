"""Prints the chains and the NFTs of a wallet. Standard library only.

    python3 examples/wallet.py [address] [chain]
"""

import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ.get("ALMANAC_URL", "http://127.0.0.1:8080")
KEY = os.environ.get("ALMANAC_KEY", "sandbox")


def ask(path, **query):
    """One answer, as JSON and headers. A service that is busy is asked again after the pause that it names."""
    address = f"{URL}/api/v2.2{path}?{urllib.parse.urlencode(query)}"
    for attempt in range(5):
        try:
            request = urllib.request.Request(address, headers={"X-API-Key": KEY})
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer), answer.headers
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503) or attempt == 4:
                sys.exit(f"{error.code}: {error.read().decode()}")
            time.sleep(int(error.headers.get("Retry-After", "1")))
        except urllib.error.URLError as error:
            sys.exit(f"{URL} does not answer: {error.reason}")


def main():
    wallet = sys.argv[1] if len(sys.argv) > 1 else "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"
    chain = sys.argv[2] if len(sys.argv) > 2 else "eth"

    chains, _ = ask(f"/wallets/{wallet}/chains")
    for entry in chains["active_chains"]:
        first, last = entry["first_transaction"], entry["last_transaction"]
        if first is not None:
            print(f"{entry['chain']}: active from {first['block_timestamp']} to {last['block_timestamp']}")

    cursor, count, complete = None, 0, "true"
    while True:
        page, headers = ask(f"/{wallet}/nft", chain=chain, limit=100, **({"cursor": cursor} if cursor else {}))
        complete = headers["X-Index-Complete"]
        for nft in page["result"]:
            count += 1
            print(f"  {nft['name'] or nft['token_address']} #{nft['token_id']}")
        cursor = page["cursor"]
        if not cursor:
            break
    print(f"{count} NFTs on {chain}" + ("" if complete == "true" else ", as far as the index is complete"))


try:
    main()
    sys.stdout.flush()
except BrokenPipeError:
    # The reader has gone, as in `wallet.py | head`. Python would complain when it flushes at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
