"""Drives Debian's chromium for the tests of the gallery: playwright, https://playwright.dev/python/

Reads commands from standard input, one JSON object a line, and prints `answer NUMBER JSON` for each. `quit` ends it.
"""

import base64
import json
import os
import sys
import time

from playwright.sync_api import sync_playwright

TICKS = os.sysconf("SC_CLK_TCK")
# The events of a trace by which frames are counted.
FRAMES = ["DrawFrame", "Paint", "Layout"]
CATEGORIES = ["disabled-by-default-devtools.timeline.frame", "devtools.timeline.frame", "devtools.timeline"]

# The tiles on the screen as a person sees them: first those of the downloads, then those of the grid.
REPORT = """() => {
  const text = (element, selector) => element.querySelector(selector).textContent
  const isShown = element => element !== null && element.getClientRects().length > 0
  const cells = [...document.querySelectorAll('.cell')].filter(isShown).filter(cell => {
    const view = cell.closest('#scroller, #shelf-body').getBoundingClientRect()
    const box = cell.getBoundingClientRect()
    return box.bottom > view.top + 1 && box.top < view.bottom - 1
  })
  const look = cell => cell.dataset.state === 'failed' ? 'failed' : cell.dataset.state === 'gone' ? 'gone'
    : isShown(cell.querySelector('img:not(.partial)')) ? 'picture' : isShown(cell.querySelector('.ring')) ? 'ring'
    : text(cell, '.instead') ? 'text' : 'shimmer'
  return {
    cells: cells.map(cell => ({
      title: text(cell, '.title'), note: text(cell, '.note'), instead: text(cell, '.instead'),
      name: cell.ariaLabel, percent: text(cell, '.ring span'), state: cell.dataset.state, look: look(cell),
      isTurning: cell.querySelector('.turning') !== null && isShown(cell.querySelector('.ring')),
      isLit: cell.matches('.lit'), marks: cell.querySelector('.marks').dataset.marks,
      isActive: cell.matches('.active'), isInShelf: cell.closest('#shelf') !== null,
      width: cell.offsetWidth, height: cell.offsetHeight,
    })),
    isLit: document.querySelector('.light') !== null,
    animations: document.getAnimations().filter(animation => animation.playState === 'running').length,
    work: isShown(document.querySelector('#work-count')) ? text(document, '#work-count') : null,
    failed: isShown(document.querySelector('#work')) ? text(document, '#work-failed') : '',
    failures: [...document.querySelectorAll('#failures section')].filter(isShown).map(group => group.innerText),
    label: text(document, '#work-label'), outage: text(document, '#outage'), notice: text(document, '#notice'),
    count: text(document, '#count'), spoken: text(document, '#spoken'),
    drawer: isShown(document.querySelector('#drawer')) ? document.querySelector('#drawer').innerText : null,
  }
}"""

# How many pixels of some pictures differ outside of these rectangles. Runs in an empty page.
DIFFERENCE = """async ({ pictures, holes }) => {
  const pixels = await Promise.all(pictures.map(async text => {
    const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${text}`)).blob())
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
    canvas.drawImage(bitmap, 0, 0)
    return canvas.getImageData(0, 0, bitmap.width, bitmap.height)
  }))
  const { width, height } = pixels[0]
  let count = 0
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) {
    if (holes.some(hole => x >= hole.left - 1 && x <= hole.right && y >= hole.top - 1 && y <= hole.bottom)) continue
    const at = 4 * (y * width + x)
    const differs = other => [0, 1, 2].some(part => other.data[at + part] !== pixels[0].data[at + part])
    if (pixels.some(differs)) count += 1
  }
  return count
}"""


class Driver:
    def __init__(self, playwright):
        self.browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", headless=True,
            # As root, chromium runs only without its sandbox. Frames are drawn by the processor on every machine.
            args=["--no-sandbox", "--disable-gpu"])
        self.page = None
        self.errors = []
        self.calls = []

    def open(self, url, width=1280, height=800, scheme="light", motion="no-preference", colors="none", scale=1, touch=False):
        """Opens a page in place of the one before."""
        if self.page:
            self.page.context.close()
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion=motion,
            forced_colors=colors, device_scale_factor=scale, has_touch=touch, is_mobile=touch)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.page = context.new_page()
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self.note)
        self.page.goto(url)
        self.tools = context.new_cdp_session(self.page)

    def note(self, request):
        if request.method == "POST":
            self.calls.append({"name": request.url.rsplit("/", 1)[-1], "body": json.loads(request.post_data)})

    def report(self):
        return self.page.evaluate(REPORT)

    def reload(self):
        """Loads the page again, and waits for it."""
        self.page.reload()

    def evaluate(self, script):
        return self.page.evaluate(script)

    def press(self, key):
        self.page.keyboard.press(key)

    def type(self, text):
        self.page.keyboard.type(text)

    def key(self, key, is_down):
        (self.page.keyboard.down if is_down else self.page.keyboard.up)(key)

    def drag(self, points, lets_go):
        """Moves the mouse through these points of the window, with its button pressed from the first one on."""
        self.page.mouse.move(*points[0])
        self.page.mouse.down()
        for point in points[1:]:
            self.page.mouse.move(*point, steps=4)
        if lets_go:
            self.page.mouse.up()

    def let_go(self):
        self.page.mouse.up()

    def point(self, x, y):
        self.page.mouse.move(x, y)

    def click(self, selector):
        self.page.click(selector)

    def choose(self, selector, value):
        self.page.select_option(selector, value)

    def screenshot(self, path):
        self.page.screenshot(path=path)

    def leaks(self):
        """How many pixels change while the light moves and lie neither in the tiles that it lights nor in texts about now."""
        holes = self.page.evaluate(
            """[...document.querySelectorAll('.cell.lit, #work, #notice, header')].map(part => Object.fromEntries(
              Object.entries(part.getBoundingClientRect().toJSON()).map(([side, place]) => [side, place * devicePixelRatio])))""")
        pictures = []
        for _ in range(3):
            pictures.append(base64.b64encode(self.page.screenshot()).decode())
            self.page.wait_for_timeout(300)
        context = self.browser.new_context()
        count = context.new_page().evaluate(DIFFERENCE, {"pictures": pictures, "holes": holes})
        context.close()
        return count

    def axe(self):
        """What axe-core finds, a text for each rule that is broken, with the elements. https://github.com/dequelabs/axe-core"""
        from axe_playwright_python.sync_playwright import Axe
        return [
            f"{found['id']}: " + ", ".join(" ".join(map(str, node["target"])) for node in found["nodes"])
            for found in Axe().run(self.page).response["violations"]]

    def log(self):
        """The errors that the console shows, and the actions that the page asked for."""
        return {"errors": self.errors, "calls": self.calls}

    def renderer(self):
        """The process of the page: the one that has used the processor most. Others are kept ready."""
        session = self.browser.new_browser_cdp_session()
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        renderers = [process for process in processes if process["type"] == "renderer"]
        others = [process for process in processes if process["type"] == "GPU"]
        return max(renderers, key=lambda process: process["cpuTime"])["id"], [process["id"] for process in others]

    def memory(self):
        """The page's own memory in bytes: without mapped files. proc_pid_status(5)"""
        self.tools.send("HeapProfiler.collectGarbage")
        with open(f"/proc/{self.renderer()[0]}/status") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))

    def usage(self, seconds):
        """The processor time of the page and of the process that draws, in milliseconds for each second."""
        renderer, drawing = self.renderer()
        processes = [renderer, *drawing]
        before = sum(processor_time(process) for process in processes)
        began = time.monotonic()
        self.page.wait_for_timeout(seconds * 1000)
        used = sum(processor_time(process) for process in processes) - before
        return 1000 * used / (time.monotonic() - began)

    def frames(self, seconds):
        """How many frames were drawn in this time, and how often something was painted or laid out."""
        counts = dict.fromkeys(FRAMES, 0)
        ended = []

        def collect(data):
            for event in data["value"]:
                if event["name"] in counts:
                    counts[event["name"]] += 1

        self.tools.on("Tracing.dataCollected", collect)
        self.tools.once("Tracing.tracingComplete", lambda _: ended.append(True))
        self.tools.send("Tracing.start", {
            "transferMode": "ReportEvents", "traceConfig": {"includedCategories": CATEGORIES}})
        self.page.wait_for_timeout(seconds * 1000)
        self.tools.send("Tracing.end")
        while not ended:
            self.page.wait_for_timeout(20)
        self.tools.remove_listener("Tracing.dataCollected", collect)
        return {"frames": counts["DrawFrame"], "paints": counts["Paint"], "layouts": counts["Layout"]}

    def accessibility(self):
        """What a screen reader is told: the role, name and value of each node that has a name."""
        nodes = self.tools.send("Accessibility.getFullAXTree")["nodes"]
        value = lambda node, part: str(node.get(part, {}).get("value", ""))
        properties = lambda node: {entry["name"]: entry["value"].get("value") for entry in node.get("properties", [])}
        return [
            {"role": value(node, "role"), "name": value(node, "name"),
             "value": str(properties(node).get("valuetext") or value(node, "value"))}
            for node in nodes if not node.get("ignored") and value(node, "name")]


def processor_time(process):
    """In seconds. proc_pid_stat(5), `utime` and `stime`"""
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def main():
    with sync_playwright() as playwright:
        driver = Driver(playwright)
        print("ready", flush=True)
        for number, line in enumerate(sys.stdin):
            command = json.loads(line)
            name = command.pop("do")
            if name == "quit":
                break
            answer = getattr(driver, name)(**command)
            print("answer", number, json.dumps(answer), flush=True)
        driver.browser.close()


main()
