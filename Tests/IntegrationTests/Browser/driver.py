"""Drives Debian's chromium for the tests of the gallery: playwright, https://playwright.dev/python/

Reads commands from standard input, one JSON object a line, and prints `answer NUMBER JSON` for each. `quit` ends it.
"""

import json
import os
import sys
import time

from playwright.sync_api import sync_playwright

TICKS = os.sysconf("SC_CLK_TCK")
# The events of a trace by which frames are counted.
FRAMES = ["DrawFrame", "Paint", "Layout"]
CATEGORIES = ["disabled-by-default-devtools.timeline.frame", "devtools.timeline.frame", "devtools.timeline"]

# The cells on the screen as a person sees them.
REPORT = """() => {
  const text = (element, selector) => element.querySelector(selector).textContent
  const isShown = element => element !== null && element.getClientRects().length > 0
  const view = document.querySelector('#scroller').getBoundingClientRect()
  const cells = [...document.querySelectorAll('.cell')].filter(isShown).filter(cell => {
    const box = cell.getBoundingClientRect()
    return box.bottom > view.top + 1 && box.top < view.bottom - 1
  })
  return {
    cells: cells.map(cell => ({
      title: text(cell, '.title span'), note: text(cell, '.note span'), instead: text(cell, '.instead'),
      name: cell.ariaLabel, percent: text(cell, '.ring span'),
      isTurning: cell.querySelector('.turning') !== null && isShown(cell.querySelector('.ring')),
      look: cell.matches('.failed') ? 'failed' : isShown(cell.querySelector('canvas')) ? 'picture'
        : isShown(cell.querySelector('.ring')) ? 'ring' : cell.querySelector('.picture').matches('.shut') ? 'text' : 'shimmer',
      isPinned: cell.matches('.pinned'), isActive: cell.matches('.active'),
      width: cell.querySelector('.picture .window').offsetWidth, height: cell.querySelector('.picture .window').offsetHeight,
    })),
    isLit: document.querySelector('.light') !== null,
    animations: document.getAnimations().filter(animation => animation.playState === 'running').length,
    work: isShown(document.querySelector('#work')) ? text(document, '#work-count') : null,
    label: text(document, '#work-label'), outage: text(document, '#outage'), notice: text(document, '#notice'),
    count: text(document, '#count'), spoken: text(document, '#spoken'),
    drawer: isShown(document.querySelector('#drawer')) ? document.querySelector('#drawer').innerText : null,
  }
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

    def open(self, url, width=1280, height=800, scheme="light", motion="no-preference"):
        """Opens a page in place of the one before."""
        if self.page:
            self.page.context.close()
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion=motion)
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

    def evaluate(self, script):
        return self.page.evaluate(script)

    def press(self, key):
        self.page.keyboard.press(key)

    def type(self, text):
        self.page.keyboard.type(text)

    def click(self, selector):
        self.page.click(selector)

    def choose(self, selector, value):
        self.page.select_option(selector, value)

    def screenshot(self, path):
        self.page.screenshot(path=path)

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
