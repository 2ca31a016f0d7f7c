"""The page in a real browser: it follows what runs, shows names as text, and answers to keys."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from studio_server import serving

import cellwright as cw
from cellwright.cell import Cell, Node
from trials.evaluators import evaluate  # noqa: F401  (what the study below calls)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

HOSTILE = {
    "script": "<script>window.hit = 1</script>",
    "image": "<img src=x onerror='window.hit = 1'>",
    "long": "long " * 2000,
    "right-to-left": "\u202e\u05d0\u05d1\u05d2 evil \u0645\u0631\u062d\u0628\u0627",
}
TRIALS = 20_000
PATIENCE = 300_000.0
"""Milliseconds: a shared machine is slow at times, and that is not a failure."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@contextmanager
def opened(browser: Any, address: str, place: str = "", **settings: Any) -> Iterator[Any]:
    """A page; it complains about nothing, loads nothing from elsewhere, runs no foreign code."""
    context = browser.new_context(**{"viewport": {"width": 1300, "height": 900}, **settings})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else 0)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith(address) else said.append(request.url),
    )
    page.goto(address + place)
    page.evaluate("window.mark = 1")
    yield page
    assert said == []
    assert page.evaluate("[window.mark, window.hit ?? null]") == [1, None]
    context.close()


def item(identity: str) -> str:
    return f"#/item/{quote(identity, safe='')}"


# -- it follows --------------------------------------------------------------------------------


def test_it_follows_a_search_and_a_study(
    browser: Any, tmp_path: Path, text_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    """Both are real, and stopped in the middle until the page has shown how far they are."""
    from cellwright.search.blackbox.methods import method
    from cellwright.search.one_shot.folder import SearchFolder
    from cellwright.search.one_shot.recipes import load_search_recipe
    from cellwright.search.one_shot.searching import Watcher, run_search
    from cellwright.spaces import Enas
    from cellwright.trials.executors import Call, InProcess
    from cellwright.trials.store import open_store
    from cellwright.trials.study import run_study
    from cellwright.trials.study.events import TrialFinished

    go = threading.Event()

    class Pausing(Watcher):
        @contextmanager
        def searching(self, folder: Any, resumed: bool) -> Iterator[Any]:
            yield lambda event: go.wait(600) if event.ends_epoch and event.epoch == 2 else None

    small = ["search.nodes=2", "search.epochs=4", "model.hidden=4", "search.batch=8",
             "search.evaluation_batch=8"]  # fmt: skip
    recipe = load_search_recipe("darts-ptb-laptop", [*small, "selection_cells=1"])
    search = SearchFolder.create(recipe, [0], data=str(text_folder), path=tmp_path / "darts")

    def study() -> None:
        def pause(event: Any) -> None:
            if isinstance(event, TrialFinished) and event.number == 4:
                go.wait(600)

        with open_store(tmp_path / "studies.db") as store:
            evolution = method("aging-evolution", Enas(nodes=4), population=3, sample=2, lag=1)
            call = Call("trials.evaluators:evaluate")
            run_study(store, "live", evolution, call, InProcess(), trials=12, watch=pause)

    with serving(tmp_path) as address, opened(browser, address, item("darts")) as page:
        page.wait_for_selector("h1")
        at_work = [
            threading.Thread(target=run_search, args=(search, Pausing())),
            threading.Thread(target=study),
        ]
        for thread in at_work:
            thread.start()
        try:
            page.wait_for_selector("main >> text=epoch 2 of 2 so far")
            page.wait_for_selector("main .s-running >> text=running")
            assert page.locator(".theta-box").count() == 3  # 0→1, 0→2, 1→2
            assert page.locator(".theta-box.chosen").count() == 2  # an edge into each node
            page.click("#list >> text=live")
            page.wait_for_selector("[data-trials='5']")
        finally:
            go.set()
            for thread in at_work:
                thread.join()
        page.wait_for_selector("[data-trials='12']")
        page.wait_for_selector("main .s-finished >> text=finished")
        page.click("#list >> text=darts")
        page.wait_for_selector("main >> text=epoch 4 of 4")
        page.wait_for_selector("main .paper svg")


# -- what it shows -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    from studio_material import write_run, write_study

    from cellwright.trials.store import open_store

    folder = tmp_path_factory.mktemp("hostile")
    for number, (key, name) in enumerate(HOSTILE.items()):
        nodes = [Node("s", "linear", ("x", "h0")), Node("h", "tanh", ("s",))]
        cell = Cell(nodes, ["h"], name=name, notes={"source": name})
        write_run(folder / key, cell, 2, number)
    write_run(folder / '<b>bold & "quoted"\'', cw.zoo["gru"], 2, 9)
    with open_store(folder / "studies.db") as store:
        write_study(store, "<script>window.hit = 1</script>", 50, distinct=5)
    with serving(folder) as address:
        yield address


@pytest.mark.parametrize("key", HOSTILE)
def test_names_show_as_text(browser: Any, hostile: str, key: str):
    with opened(browser, hostile, item(key)) as page:
        page.wait_for_selector(".paper svg")
        shown = page.text_content("dl.facts dd")
        assert HOSTILE[key][:200] in shown
        assert page.locator("main img, main script").count() == 0
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0  # nothing is pushed out of the window
        page.fill("#search", key)
        page.wait_for_selector(f".item[data-id='{key}']")


def test_a_hostile_folder_and_study_show_as_text(browser: Any, hostile: str):
    with opened(browser, hostile) as page:
        page.click('#list >> text=<b>bold & "quoted"\'')
        page.wait_for_selector("h1 >> text=<b>bold")
        page.click("#list >> text=<script>")
        page.wait_for_selector("[data-trials='50']")
        assert page.text_content("h1") == "<script>window.hit = 1</script>"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    from studio_material import write_folder

    folder = tmp_path_factory.mktemp("large")
    write_folder(folder, runs=20, count=TRIALS, epochs=3)
    with serving(folder) as address:
        yield address


def test_many_trials_are_filtered_and_ordered(browser: Any, large: str):
    from studio_server import api

    found = api(large, "trials", id="studies.db:1")
    texts, columns = list(found["texts"]), found["columns"]
    failed = [n for n, at in zip(columns["number"], columns["state"], strict=True)
              if texts[at] == "failed"]  # fmt: skip
    known = [value for value in columns["value"] if value is not None]
    with opened(browser, large, item("studies.db:1")) as page:
        page.wait_for_selector(f"[data-trials='{TRIALS}'] .grid-row")
        assert page.locator(".grid-row").count() < 100  # the rest is not in the document
        said = page.locator(".with-panel [role=status]")
        for text, number in (
            ("state:failed", len(failed)),
            ("value<75", sum(value < 75 for value in known)),
            ("from:77", columns["origin"].count(77)),
            (f"{TRIALS - 1}", 1),
            ("no such words", 0),
            ("", TRIALS),
        ):
            page.fill(".trial-filter", text)
            assert said.text_content() == f"{number:,} of {TRIALS:,}"
        page.click(".grid-head >> text=perplexity")
        first = page.locator(".grid-row [role=gridcell]").nth(2).text_content()
        assert first == f"{min(known):.1f}"
        page.fill(".trial-filter", "state:failed")
        page.locator(".grid-row").first.click()
        page.wait_for_selector(".panel .error")
        assert f"/trial/{failed[0]}" in page.url
        page.keyboard.press("Escape")
        page.wait_for_selector(".panel", state="hidden")


def test_it_is_used_by_keys_alone(browser: Any, large: str):
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)

    with opened(browser, large) as page:
        page.wait_for_selector(".item")
        page.keyboard.press("/")
        page.keyboard.type("kind:run gru")
        expect(page.locator(".item")).to_have_count(4)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_selector(".paper svg")
        first = page.text_content("h1")
        page.keyboard.press("c")
        page.wait_for_selector("#tray:not([hidden])")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).not_to_have_text(first)
        second = page.text_content("h1")
        page.keyboard.press("c")
        page.wait_for_selector("h1 >> text=side by side")
        heads = page.locator(".side h2 a")
        page.wait_for_selector(".side h2 a")
        assert heads.all_text_contents() == [first, second]
        expect(page.locator(".paper svg")).to_have_count(2)
        page.keyboard.press("?")
        page.wait_for_selector("dialog[open]")
        page.keyboard.press("Escape")
        before = page.evaluate("document.documentElement.dataset.theme")
        page.keyboard.press("t")
        assert page.evaluate("document.documentElement.dataset.theme") != before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_system(browser: Any, large: str, scheme: str):
    with opened(browser, large, color_scheme=scheme) as page:
        page.wait_for_selector(".item")
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = sum(int(part) for part in colour.strip("rgb()").split(",")) > 380
        assert light == (scheme == "light")


def test_a_narrow_window_has_one_thing_at_a_time(browser: Any, large: str):
    with opened(browser, large, viewport={"width": 380, "height": 700}) as page:
        page.click("#list >> text=gru-000")
        page.wait_for_selector(".paper svg")
        assert not page.is_visible("#list")
        assert page.evaluate("document.documentElement.scrollWidth") <= 380
        page.click("#back")
        page.wait_for_selector("#list", state="visible")
        assert not page.is_visible("main")


def test_a_cell_is_zoomed_into(browser: Any, large: str):
    with opened(browser, large, item("runs/gru-000")) as page:
        page.wait_for_selector(".paper svg")
        box = "document.querySelector('dialog .paper svg').getAttribute('viewBox').split(' ')[2]"
        page.click("button >> text=large")
        page.wait_for_selector("dialog .paper svg")
        whole = float(page.evaluate(box))
        page.keyboard.press("+")
        assert float(page.evaluate(box)) == pytest.approx(whole / 1.25, rel=1e-3)
        page.keyboard.press("0")
        assert float(page.evaluate(box)) == pytest.approx(whole, rel=1e-3)
        page.hover("dialog .formulas div >> nth=0")
        lit = page.text_content("dialog .paper g.lit title")
        assert lit.startswith(page.text_content("dialog .formulas div.lit b"))
