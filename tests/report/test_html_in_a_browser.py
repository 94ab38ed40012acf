"""The HTML report in a real browser, driven: zoom, copy, sort, theme; and what axe says about it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from rl_diagnose.diagnosis.model import Diagnosis
from rl_diagnose.report.html import to_html

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(BROWSER is None or DRIVER is None, reason="no Chromium with its driver is installed")

PHONE, DESK = (390, 800), (1200, 900)


@pytest.fixture(scope="module")
def pages(one: Diagnosis, many: Diagnosis, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of a page about one run and of one about three."""
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, diagnosis in (("one", one), ("many", many)):
        (folder / f"{name}.html").write_text(to_html(diagnosis), "utf-8")
        made[name] = (folder / f"{name}.html").as_uri()
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium that tells what its console says."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    for flag in ("headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    driver.set_script_timeout(120)  # axe takes long on a machine that is busy
    yield driver
    driver.quit()


def opened(browser: Any, address: str, size: tuple[int, int] = DESK) -> Any:
    browser.set_window_size(*size)
    browser.get(address)
    return browser


def picture(browser: Any) -> str:
    """The first chart, pixel by pixel."""
    drawn = browser.execute_script("return document.querySelector('.chart canvas').toDataURL()")
    return str(drawn)


def test_dragging_zooms_in_and_a_button_shows_the_whole_run_again(browser: Any, pages: dict[str, str]) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    opened(browser, pages["one"])
    whole = picture(browser)
    chart = browser.find_element("css selector", ".chart .u-over")
    ActionChains(browser).move_to_element(chart).click_and_hold().move_by_offset(150, 0).release().perform()
    zoomed = picture(browser)
    assert zoomed != whole
    browser.find_element("css selector", "button.reset").click()
    assert picture(browser) == whole


def test_a_logarithmic_axis_is_one_click_away(browser: Any, pages: dict[str, str]) -> None:
    opened(browser, pages["one"])
    boxes = browser.find_elements("css selector", "input.log")
    assert boxes
    chart = boxes[0].get_attribute("data-chart")
    drawn = f"return document.querySelector('#{chart} canvas').toDataURL()"
    before = browser.execute_script(drawn)
    boxes[0].click()
    assert browser.execute_script(drawn) != before


def test_the_curves_can_be_seen_over_iterations(browser: Any, pages: dict[str, str], one: Diagnosis) -> None:
    from selenium.webdriver.support.ui import Select

    opened(browser, pages["one"])
    by_steps = picture(browser)
    choice = Select(browser.find_element("css selector", "select.axis"))
    choice.select_by_visible_text("iterations")
    by_iterations = picture(browser)
    assert by_iterations != by_steps
    labels = [label.get_attribute("textContent") for label in browser.find_elements("css selector", ".u-legend th")]
    assert labels.count("iterations") == sum(curve.iteration is not None for curve in one.runs[0].curves) > 0
    browser.find_element("css selector", "button.reset").click()
    assert picture(browser) == by_iterations
    choice.select_by_value("x")
    assert picture(browser) == by_steps


def test_the_copy_button_copies_the_fix(browser: Any, pages: dict[str, str]) -> None:
    opened(browser, pages["one"])
    # A page from a file may not read the clipboard; what it hands over to be written can be watched.
    browser.execute_script(
        "window.copied = [];"
        "const writeText = (text) => { copied.push(text); return Promise.resolve(); };"
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText}});"
    )
    button = browser.find_element("css selector", "button.copy")
    code = button.find_element("xpath", "..").find_element("css selector", "code").get_attribute("textContent")
    button.click()
    assert browser.execute_script("return window.copied") == [code]
    assert "model." in code
    assert button.text == "Copied"


def test_columns_sort_by_a_click_and_by_the_keyboard(browser: Any, pages: dict[str, str]) -> None:
    from selenium.webdriver.common.keys import Keys

    opened(browser, pages["many"])

    def names() -> list[str]:
        rows = browser.find_elements("css selector", "table.sortable tbody tr")
        return [row.text.split()[0] for row in rows]

    header = browser.find_element("css selector", "table.sortable thead th button")
    header.click()
    up = names()
    header.send_keys(Keys.ENTER)
    assert names() == up[::-1]
    assert len(set(up)) == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("page", ["one", "many"])
def test_axe_finds_no_violation(
    browser: Any, pages: dict[str, str], page: str, size: tuple[int, int], scheme: str
) -> None:
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    opened(browser, pages[page], size)
    assert browser.execute_script("return document.documentElement.dataset.theme") == scheme
    browser.execute_script("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    # The page allows no scripts but its own: axe comes in through the debugger.
    axe = files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
    result = browser.execute_async_script("axe.run(document).then(arguments[0])")
    assert len(result["passes"]) > 20
    assert [(found["id"], found["nodes"][0]["target"]) for found in result["violations"]] == []
    wide = browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, "nothing sticks out to the side"


def test_the_console_stays_silent(browser: Any, pages: dict[str, str]) -> None:
    browser.get_log("browser")
    for address in pages.values():
        opened(browser, address)
        assert browser.get_log("browser") == []
