#!/usr/bin/env python3
"""Opens a page in headless Chromium as readers would, and says what is wrong with it.

Usage: browser.py PAGE.html [--screenshots FOLDER]      (exit code 6: there is no Chromium)

At three widths and in both themes: no console message, no request but the page's own, no text that is
scrolled sideways or cut, alternative texts on all pictures; then sorting, filtering and the keyboard.
Speaks the DevTools protocol over a pipe: messages of JSON, each ended by a NUL byte.
"""
from __future__ import annotations

import base64
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

WIDTHS = (360, 800, 1280)
THEMES = ("light", "dark")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# What a page must not have: boxes of text beyond the window, unless in a box that scrolls by itself.
LOOK = """(() => {
  const wide = document.documentElement.clientWidth, beyond = [], nameless = [];
  for (const element of document.body.querySelectorAll('*')) {
    if (element.closest('.scroll,.skip,details:not([open])') || !element.getClientRects().length) continue;
    const box = element.getBoundingClientRect();
    if (box.right > wide + 1 || box.left < -1) beyond.push(element.tagName + ' ' + element.textContent.slice(0, 40));
  }
  for (const svg of document.querySelectorAll('svg')) {
    if (!svg.getClientRects().length) continue;
    if (!svg.getAttribute('aria-label')) nameless.push(svg.parentElement.id);
    const box = svg.getBoundingClientRect(), asked = svg.viewBox.baseVal.width;
    if (box.width < asked - 1) beyond.push('a chart shrunk from ' + asked + ' to ' + box.width);
    for (const text of svg.querySelectorAll('text')) {
      const at = text.getBoundingClientRect();
      if (at.left < box.left - 1 || at.right > box.right + 1) beyond.push('cut label: ' + text.textContent);
    }
  }
  return {scrolls: document.documentElement.scrollWidth > wide, beyond, nameless,
          dark: matchMedia('(prefers-color-scheme: dark)').matches,
          paper: getComputedStyle(document.body).backgroundColor,
          requests: performance.getEntriesByType('resource').map(entry => entry.name).filter(name => !name.startsWith('data:'))};
})()"""
SORT = """(() => {
  const table = document.querySelector('table.sortable'), body = table.tBodies[0];
  const at = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === 'nnz');
  const button = table.tHead.rows[0].cells[at].firstElementChild;
  const values = () => [...body.rows].map(row => parseFloat(row.cells[at].dataset.v));
  button.focus(); button.click(); const up = values(); button.click(); const down = values();
  const words = document.querySelector('.controls input'), all = body.rows.length;
  words.value = 'no such words'; words.dispatchEvent(new Event('input', {bubbles: true}));
  const none = [...body.rows].filter(row => !row.hidden).length;
  words.value = ''; words.dispatchEvent(new Event('input', {bubbles: true}));
  const again = [...body.rows].filter(row => !row.hidden).length;
  const box = table.closest('.scroll'); box.scrollLeft = 200;
  const first = body.rows[0].cells[0].getBoundingClientRect().left - box.getBoundingClientRect().left;
  return {up, down, none, again, all, focused: document.activeElement === button, sticky: first < 5,
          reachable: [...document.querySelectorAll('.scroll')].every(scroll => !scroll.querySelector('.sortable') || scroll.tabIndex === 0)};
})()"""


class Browser:
    def __init__(self, program: str, profile: str) -> None:
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def place_pipes() -> None:  # the browser reads from 3 and writes to 4, which may be taken
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]
            for end, place in zip(ends, (3, 4)):
                os.dup2(end, place)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars",
             f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session = b"", 0, ""
        self.events: list[dict] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method: str, **parameters: object) -> dict:
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self) -> dict:
        while b"\0" not in self.buffer:
            data = os.read(self.read_end, 1 << 16)
            if not data:
                raise RuntimeError("the browser went away")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def wait_for(self, method: str) -> None:
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive())

    def value_of(self, script: str) -> dict:
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"]["value"]

    def close(self) -> None:
        self.session = ""
        self.call("Browser.close")
        self.process.wait(30)


def complaints(browser: Browser, address: str, width: int, theme: str) -> list[str]:
    browser.events.clear()
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    browser.call("Page.navigate", url=address)
    browser.wait_for("Page.loadEventFired")
    found = browser.value_of(LOOK)
    said = [event["params"] for event in browser.events
            if event.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
    asked = [event["params"]["request"]["url"] for event in browser.events
             if event.get("method") == "Network.requestWillBeSent"]
    wrong = [f"says on the console: {json.dumps(message)[:200]}" for message in said]
    wrong += [f"requests {url}" for url in asked if url != address and not url.startswith("data:")]
    wrong += [f"requests {url}" for url in found["requests"]]
    wrong += ["scrolls sideways"] if found["scrolls"] else []
    wrong += [f"beyond the window: {text}" for text in found["beyond"][:5]]
    wrong += [f"a picture without words in {name}" for name in found["nameless"]]
    if found["dark"] != (theme == "dark") or (theme == "dark") == (found["paper"] == "rgb(255, 255, 255)"):
        wrong.append(f"the theme is not {theme}: {found['paper']}")
    return wrong


def table_complaints(browser: Browser) -> list[str]:
    found = browser.value_of(SORT)
    wrong = [] if found["up"] == sorted(found["up"]) else ["sorting does not ascend"]
    wrong += [] if found["down"] == sorted(found["down"], reverse=True) else ["sorting does not descend"]
    wrong += [] if found["none"] == 0 and found["again"] == found["all"] else ["the filter does not filter"]
    wrong += [] if found["focused"] and found["reachable"] else ["the keyboard does not reach everything"]
    return wrong + ([] if found["sticky"] else ["the first column does not stay"])


def check(browser: Browser, page: str, screenshots: str) -> list[str]:
    address = pathlib.Path(page).resolve().as_uri()
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(f"{domain}.enable")
    wrong = []
    for width in WIDTHS:
        for theme in THEMES:
            wrong += [f"{width} {theme}: {text}" for text in complaints(browser, address, width, theme)]
            if screenshots:
                shot = browser.call("Page.captureScreenshot", captureBeyondViewport=True)
                path = pathlib.Path(screenshots, f"{pathlib.Path(page).stem}-{width}-{theme}.png")
                path.write_bytes(base64.b64decode(shot["data"]))
        wrong += [f"{width}: {text}" for text in table_complaints(browser)]
    return wrong


def main(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if words else 2
    program = next((found for found in map(shutil.which, BROWSERS) if found), None)
    if not program:
        print("skipped: no Chromium here (Debian: chromium)")
        return 6
    screenshots = words[2] if words[1:2] == ["--screenshots"] else ""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            wrong = check(browser, words[0], screenshots)
        finally:
            browser.close()
    for text in wrong:
        print(f"{words[0]}: {text}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
