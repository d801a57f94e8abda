"""URLs with fragments, and the variants they name: docs/lookup/file-names.md, "Which URLs are valid"."""

from urllib.parse import quote

_BASES = ["https://example.com", "https://example.com/a.jpg", "http://[::1]:8731/a?b=c&side=64", "https://example.com/%23a"]
_ACCOUNTS = ["ada", "@ada:matrix.org", "äda", "日本", "a b", "a&side=64", "50%", "O'Brien", "~._-", "x" * 128, "ä" * 64, "a#b", "a+b/c?d"]
#: A fragment, and the nearest correct one; None if there is none.
_REFUSED = [
    ("", None), ("top", None), ("side", None), ("side=", None), ("side=x", None), ("as=", None), ("as=%00", None),
    ("as=%FF", None), ("as=" + "x" * 129, None), ("as=" + "%C3%A4" * 65, None), ("SIDE=256", None), ("xywh=0,0,1,1", None),
    ("side=0", "side=32"), ("side=1", "side=32"), ("side=33", "side=64"), ("side=300", "side=512"), ("side=2049", "side=2048"),
    ("side=0256", "side=256"), ("side=+256", "side=256"), ("side=256&", "side=256"), ("&side=256", "side=256"),
    ("side=256&side=256", "side=256"), ("side=256&side=64", "side=256"), ("side=256&as=ada", "as=ada&side=256"),
    ("as=ada&as=bob", "as=ada"), ("as=ada&side=250", "as=ada&side=256"), ("as=ada&top", "as=ada"), ("as=a b", "as=a%20b"),
    ("as=ä", "as=%C3%A4"), ("as=%c3%a4", "as=%C3%A4"), ("as=%61da", "as=ada"), ("as=O'Brien", "as=O%27Brien"),
    ("as=50%", "as=50%25"), ("as=a=b", "as=a%3Db"), ("as=a#side=64", "as=a%23side%3D64"), ("as=a%2", "as=a%252"),
]


def make():
    rows = [{"url": base, "original": base} for base in _BASES]
    for base in _BASES:
        rows += [{"url": f"{base}#side={32 << power}", "side": 32 << power, "original": base} for power in range(7)]
        for account in _ACCOUNTS:
            own = f"{base}#as={quote(account, safe='')}"
            rows.append({"url": own, "account": account, "original": own})
            rows.append({"url": f"{own}&side=128", "side": 128, "account": account, "original": own})
        rows += [{"url": f"{base}#{fragment}", "nearest": nearest and f"{base}#{nearest}"} for fragment, nearest in _REFUSED]
    return rows
