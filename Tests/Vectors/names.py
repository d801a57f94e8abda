"""URLs and the names of their files, computed by Python's module uuid."""

import random
import uuid

_HOSTS = ["example.com", "EXAMPLE.com", "a.example:8080", "[::1]:8731", "127.0.0.1", "b.example:443",
          "bücher.example", "xn--bcher-kva.example", "日本語.example"]
_PATHS = ["", "/", "/a.png", "/A.png", "/a%20b.png", "/a b.png", "/a+b.png", "/%C3%A4.png", "/ä.png",
          "/a\u0308.png", "/%c3%a4.png", "//double//slash.png", "/./dot/../dots.png", "/emoji/🖼️.webp",
          "/family/👩‍👩‍👧.jpg", "/日本語/画像.avif", "/ไทย.gif", "/\"quotes\"'.png", "/back\\slash.png",
          "/a.png?", "/a.png?size=1&size=2", "/a.png?q=%26", "/a.png?q=&amp;", "/a.png?q=&q=", "/%23part.png",
          "/a.png?x?y/z", "/<tag>{brace}|^`.png", "/~user/;p=1,2/=.png", "/\u00a0nbsp.png",
          "/\ufffd.png", "/\u202ertl.png", "/\U0001f408\U0001f3fd.png"]
_FRAGMENTS = ["#side=32", "#side=2048", "#as=ada", "#as=ada&side=256", "#as=%40ada%3Amatrix.org", "#as=%C3%A4da&side=64",
              "#as=a%20b", "#as=O%27Brien~1_.-", "#as=a%26side%3D64", "#as=" + "x" * 128]
_ALPHABET = ("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-._~!$&'()*+,;=:@%/?\"\\<>[]{}|^`"
             "äöüßéñøłžΩλДЖשع日本語한글ไทย🖼🐈🚀")


def make():
    urls = [f"{scheme}://{host}{path}" for scheme in ("https", "http") for host in _HOSTS[:2] + _HOSTS[6:8]
            for path in _PATHS]
    urls += [f"https://{host}/" for host in _HOSTS[2:6] + _HOSTS[8:]]
    urls += [f"HTTPS://example.com/{'x' * length}.png" for length in (1, 55, 63, 64, 65, 119, 127, 128, 1000, 8000)]
    urls += [f"https://example.com/{'ä' * length}.png" for length in (19, 20, 27, 28, 1000, 4000)]
    urls += [f"https://example.com{path}{fragment}" for path in _PATHS[:3] + _PATHS[19:21] for fragment in _FRAGMENTS]
    random.seed(20260)
    for number in range(260):
        length = random.choice([3, 12, 40, 90, 300])
        urls.append(f"https://host{number}.example/" + "".join(random.choices(_ALPHABET, k=length)))
    return [{"url": url, "name": str(uuid.uuid5(uuid.NAMESPACE_URL, url))} for url in dict.fromkeys(urls)]
