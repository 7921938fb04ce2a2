"""The page in a real browser: what a person sees and does."""

from __future__ import annotations

import json
from urllib.parse import quote_plus

import pytest
import toy_run
from playwright.sync_api import Page, expect

from dualparse.use.service.app import make_app

QUESTION = "how deep is blue lake"
FORM = "(get lake.blue depth)"


def ask(page: Page, question: str = QUESTION) -> None:
    """Ask and wait until everything about the answer is there."""
    page.goto("/")
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator("#words .word").first).to_be_visible()
    expect(page.locator("#back li").first).to_be_visible()


def answer(page: Page) -> str:
    return page.locator("#answer .value").inner_text()


def test_the_start_says_what_can_be_asked(page):
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Lakes and towns")
    expect(page.locator("#examples button")).to_have_text(list(toy_run.QUESTIONS))
    expect(page.locator("#types")).to_have_text("Known by name: town (3) · lake (2)")
    expect(page.locator("#result")).to_be_hidden()


def test_a_question_gets_an_answer_a_form_and_readings(page):
    ask(page)
    assert answer(page) == "blue depth"  # the toy's answers are made of their forms
    expect(page.locator("#tree")).to_have_text(FORM)
    expect(page.locator("#words")).to_have_text(QUESTION)
    expect(page.locator("#verdict")).to_have_text("valid")
    readings = page.locator("#others .reading")
    expect(readings).to_have_count(5)
    expect(readings.first).to_contain_text(FORM)
    expect(readings.first).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("invalid").first).to_be_visible()
    assert page.title() == f"{QUESTION} · dualparse"


def test_an_example_is_one_click_away(page):
    page.goto("/")
    page.get_by_role("button", name="list all lakes").click()
    expect(page.locator("#tree")).to_have_text("(all lake)")
    expect(page.get_by_label("Your question")).to_have_value("list all lakes")


def test_the_address_holds_the_question(page):
    page.goto(f"/#q={quote_plus(QUESTION)}")
    expect(page.locator("#tree")).to_have_text(FORM)
    page.get_by_role("button", name="list all lakes").click()
    expect(page.locator("#tree")).to_have_text("(all lake)")
    page.go_back()
    expect(page.locator("#tree")).to_have_text(FORM)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url
    assert quote_plus(QUESTION) in link


def test_what_is_typed_before_the_page_is_ready_stays(page):
    held = []
    page.route("**/domains", lambda route: held.append(route))
    page.goto("/")
    page.get_by_label("Your question").fill(QUESTION)
    held[0].continue_()
    expect(page.locator("#examples button").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#tree")).to_have_text(FORM)


def test_a_question_sent_before_the_page_is_ready_is_answered(page):
    held = []
    page.route("**/domains", lambda route: held.append(route))
    page.goto("/")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    held[0].continue_()
    expect(page.locator("#tree")).to_have_text(FORM)


def test_a_question_sent_before_the_script_is_there_is_answered(page):
    page.goto(f"/?q={quote_plus(QUESTION)}")  # what the browser itself makes of the form
    expect(page.locator("#tree")).to_have_text(FORM)
    page.get_by_role("button", name="list all lakes").click()
    expect(page.locator("#tree")).to_have_text("(all lake)")
    assert "?" not in page.url


def test_pointing_at_a_token_shows_what_was_looked_at(page):
    ask(page)
    page.locator(".token", has_text="lake.blue").hover()
    expect(page.locator("#looked")).to_contain_text("lake.blue: looked at")
    expect(page.locator("#looked")).to_contain_text("copied")
    expect(page.locator(".word.lit").first).to_be_visible()
    expect(page.locator(".word.copied")).to_have_text(["blue", "lake"])
    expect(page.locator(".token.copied")).to_have_text("lake.blue")
    page.locator("h1").hover()
    expect(page.locator(".lit")).to_have_count(0)
    page.locator(".word", has_text="deep").hover()
    expect(page.locator("#looked")).to_contain_text("“deep”: ")


def test_tokens_and_words_can_be_reached_with_keys(page):
    ask(page)
    page.locator(".token").first.focus()
    expect(page.locator("#looked")).to_contain_text("get: looked at")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#looked")).to_contain_text("lake.blue: looked at")
    page.keyboard.press("End")
    expect(page.locator("#looked")).to_contain_text("depth: looked at")
    assert page.locator(".token[tabindex='0']").count() == 1
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#looked")).to_contain_text("get: looked at")


def test_another_reading_can_be_chosen(page):
    ask(page)
    second = page.locator("#others .reading").nth(1)
    second.click()
    expect(second).to_have_attribute("aria-pressed", "true")
    form = second.locator("code").inner_text()
    expect(page.locator("#tree")).to_have_text(form)
    expect(page.locator(".word").first).to_be_visible()


def test_a_form_is_edited_and_run_as_one_types(page):
    ask(page)
    before = answer(page)
    page.get_by_role("button", name="Edit").click()
    editor = page.get_by_label("The logical form", exact=True)
    expect(editor).to_be_focused()
    expect(editor).to_have_value(FORM)
    editor.fill("(get lake.long depth)")
    expect(page.locator("#answer .value")).not_to_have_text(before)
    changed = answer(page)
    assert "long" in changed
    editor.fill("(get lake.long")
    expect(page.locator("#reason")).to_contain_text("Missing closing parenthesis")
    expect(page.locator("#verdict")).to_have_text("invalid")
    expect(page.locator("#answer")).to_have_text("No answer: the form is not valid.")
    expect(page.locator("#back")).to_have_text("Only a complete form can be said in words.")
    editor.fill("(all lake)")
    expect(page.locator("#verdict")).to_have_text("valid")
    expect(page.locator("#back li").first).to_contain_text("list all lakes")
    page.get_by_role("button", name="Done").click()
    expect(page.locator("#tree")).to_have_text("(all lake)")
    page.get_by_role("button", name="Undo changes").click()
    expect(page.locator("#tree")).to_have_text(FORM)
    assert answer(page) == before


def test_there_and_back(page):
    ask(page, "list all lakes")
    expect(page.locator("#back li").first).to_contain_text("list all lakes")
    expect(page.locator("#back li").first).to_contain_text("as asked")
    other = page.locator("#back li").nth(1)
    query = other.locator("span").first.inner_text()
    other.get_by_role("button").click()
    expect(page.get_by_label("Your question")).to_have_value(query)


def test_notes_are_shown(page):
    ask(page, "how deep is bleu lake")
    expect(page.locator("#notes li")).to_contain_text("blue")
    page.get_by_role("button", name="list all lakes").click()
    expect(page.locator("#notes li")).to_have_count(0)


def test_runs_can_be_chosen(page):
    page.goto("/")
    page.locator("#run").select_option("more lakes")
    page.get_by_role("button", name="list all lakes").click()
    expect(page.locator("#tree")).to_have_text("(all lake)")
    assert "run=more+lakes" in page.url
    page.reload()
    expect(page.locator("#run")).to_have_value("more lakes")
    expect(page.locator("#tree")).to_have_text("(all lake)")


@pytest.mark.parametrize("question", ["<img src=x onerror=alert(1)>", "</script><b>bold</b>", '"><i>'])
def test_what_is_typed_stays_text(page, question):
    page.on("dialog", lambda dialog: pytest.fail("markup was run"))
    ask(page, question)
    assert page.locator("#result img, #result b, #result i").count() == 0
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("The logical form", exact=True).fill("<img src=x onerror=alert(1)> )")
    expect(page.locator("#verdict")).to_have_text("invalid")
    assert page.locator("#result img").count() == 0


def test_errors_are_told(page):
    page.goto("/")
    page.get_by_label("Your question").fill("?!?")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("alert")).to_have_text("The question has no words.")
    expect(page.locator("#result")).to_be_hidden()
    page.problems.clear()  # the browser's own line about the status
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.locator("#tree")).to_have_text(FORM)


def test_a_service_that_is_gone(page):
    ask(page)
    page.route("**/parse", lambda route: route.abort())
    page.get_by_role("button", name="list all lakes").click()
    expect(page.get_by_role("alert")).to_have_text("The service cannot be reached.")
    page.problems.clear()


def test_the_newest_question_wins(page):
    """Answers may come in another order than questions."""
    page.goto("/")
    expect(page.locator("#examples button").first).to_be_visible()
    held = []
    page.route("**/parse", lambda route: held.append(route) if not held else route.continue_())
    page.get_by_role("button", name="how many towns are there").click()
    page.get_by_role("button", name="list all lakes").click()
    expect(page.locator("#tree")).to_have_text("(all lake)")
    held[0].abort()
    expect(page.locator("#tree")).to_have_text("(all lake)")
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_token_is_asked_for_once(browser, address, tmp_path_factory):
    parser = toy_run.open_parser(
        toy_run.make_run(tmp_path_factory.mktemp("token"), train={"epochs": 1, "evaluate_from": 1})
    )
    with toy_run.serving(make_app({"toy": parser}, token="sesame")) as url:
        context = browser.new_context(base_url=url)
        page = context.new_page()
        page.goto("/")
        for word in ("wrong", "sesame"):
            expect(page.get_by_role("dialog")).to_be_visible()
            page.get_by_role("textbox", name="Token").fill(word)
            page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Lakes and towns")
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.reload()
        expect(page.locator("#examples button").first).to_be_visible()
        context.close()


def test_a_slash_leads_to_the_question(page):
    ask(page)
    page.locator("#share").focus()
    page.keyboard.press("/")
    expect(page.get_by_label("Your question")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_it_fits_and_can_be_read(browser, address, width, scheme):
    """Nothing is wider than the screen, and text stands out from its ground (WCAG AA)."""
    context = browser.new_context(base_url=address, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    ask(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    low = page.evaluate(CONTRAST)
    context.close()
    assert low == []


CONTRAST = """
() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (element) => {
    for (let node = element; node; node = node.parentElement) {
      const color = numbers(getComputedStyle(node).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const element of document.querySelectorAll("main *, header *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest(".hidden, .paren")) continue;
    const [a, b] = [light(numbers(getComputedStyle(element).color)), light(ground(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push(`${element.tagName}.${element.className} ${element.textContent}`);
  }
  return low;
}
"""


def test_controls_have_names(page):
    """What a screen reader says for every control."""
    ask(page)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, textarea, a")]
            .filter((e) => e.checkVisibility() && !(e.textContent.trim() || e.labels?.length || e.ariaLabel))
            .map((e) => e.id)"""
    )
    assert nameless == []
    landmarks = page.evaluate("['main', 'header', 'nav'].every((tag) => document.querySelector(tag))")
    assert landmarks


def test_the_api_page(page):
    page.goto("/docs")
    expect(page.locator(".operation")).to_contain_text(["/health", "/parse", "/verbalize", "/execute", "/explain"])
    expect(page.locator("main")).to_contain_text("curl http://127.0.0.1")


def values(page: Page, denotation: str) -> list[dict]:
    page.goto("/docs")
    code = "(text) => import('/web/answers.js').then((m) => JSON.stringify(m.values(text)))"
    return json.loads(page.evaluate(code, denotation))


def test_values_of_answers(page):
    found = values(page, "(list (name hut.marmot_hut) (number 8.400 km) (number 3 count) (date 1998 7 -1) (time 9 5))")
    assert [value["text"] for value in found] == ["marmot hut", "8.4", "3", "1998-07", "09:05"]
    assert [value["kind"] for value in found[:2]] == ["hut", "number"]
    assert values(page, "(list (name en.shape.cube) (boolean true))")[0]["kind"] == "shape"
    assert values(page, "(list (name boston:ci))")[0] == {"text": "boston", "kind": "ci", "id": "boston:ci"}
    assert values(page, "(list)") == []
    assert values(page, "42") is None
    assert values(page, "(list (list (name a.b)))")[0]["text"]


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("( all lake )", "(all lake)"),
        ("nil", "nil"),
        ("( count ( all", "( count ( all"),
        (
            "( argmax ( filter ( filter ( all trail ) start = village.orsaz ) dogs_allowed ) length )",
            "(argmax\n  (filter\n    (filter (all trail) start = village.orsaz)\n    dogs_allowed)\n  length)",
        ),
    ],
)
def test_forms_as_lines(page, form, wanted):
    page.goto("/docs")
    found = page.evaluate("(text) => import('/web/forms.js').then((m) => m.pretty(text))", form)
    assert found == wanted
    assert found.replace("(", " ( ").replace(")", " ) ").split() == form.split()
