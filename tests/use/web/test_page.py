"""The page in a real browser: what a person sees and does."""

from __future__ import annotations

from urllib.parse import quote_plus

import pytest
import toy_run
from fake_asker import target
from playwright.sync_api import Page, expect

from dualparse.use.service.app import make_app

QUESTION = "how deep is blue lake"
FORM = "(get lake.blue depth)"
FILMS = "which films are there"


def ask(page: Page, question: str = FILMS, *, run: str = "films") -> None:
    """Ask and wait for what becomes of it."""
    page.goto(f"/#run={run}")
    expect(page.locator("#run")).to_have_value(run)
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator("#result")).to_be_visible()
    expect(page.locator("body")).not_to_have_attribute("aria-busy", "")


def look_inside(page: Page, question: str = QUESTION) -> None:
    """Ask a run, and wait until all that is behind the answer is there."""
    ask(page, question, run="lakes")
    page.get_by_text("How this was understood").click()
    expect(page.locator("#words .word").first).to_be_visible()
    expect(page.locator("#back li").first).to_be_visible()


def test_the_start_says_what_can_be_asked(page):
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Lakes and towns")
    expect(page.locator("#examples button")).to_have_text(list(toy_run.QUESTIONS))
    expect(page.locator("#types")).to_have_text("Known here: town (3) · lake (2)")
    for hidden in ("#result", "#inside", "#history", "#waiting"):
        expect(page.locator(hidden)).to_be_hidden()


def test_an_answer_says_what_was_understood_before_its_rows(page):
    ask(page)
    expect(page.locator("#outcome")).to_have_text("Answer")
    expect(page.locator("#said")).to_have_text("All films with their running time:")
    expect(page.locator("#sure")).to_have_text("93 % sure")
    expect(page.locator(".values thead th")).to_have_text(["Row#", "film", "running (minutes)", "released", "seen"])
    expect(page.locator(".values tbody tr").first.locator("td")).to_have_text(["1", "Ferry", "80", "1900-03-01", "yes"])
    expect(page.locator("#status")).to_have_text("Answer: 5 rows")
    expect(page.locator("#tree")).to_be_hidden()
    assert page.title() == f"{FILMS} · dualparse"


@pytest.mark.parametrize(("question", "shown"), [("count the films", "5 minutes"), ("none of them", "None")])
def test_single_values_are_large(page, question, shown):
    ask(page, question)
    expect(page.locator("#answer .large")).to_have_text(shown)


def test_a_question_back_is_answered_by_a_button(page, journal):
    ask(page, "which kinds are there")
    expect(page.locator("#outcome")).to_have_text("Which one do you mean?")
    choices = page.locator("#choice-list button")
    expect(choices).to_have_text(["All films48 %", "All genres41 %"])
    choices.nth(1).click()
    expect(page.locator("#outcome")).to_have_text("Answer to your reading")
    expect(choices.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".values tbody tr")).to_have_count(3)
    page.get_by_role("button", name="I meant this reading").click()
    expect(page.locator("#feedback")).to_contain_text("Noted")
    last = journal.records()[-1]
    assert (last.kind, last.question, last.form) == ("meant", "which kinds are there", "( all genre )")
    assert last.of in {record.id for record in journal.records() if record.kind == "asked"}
    choices.first.click()
    expect(page.get_by_role("button", name="I meant this reading")).to_be_visible()


def test_a_single_reading_that_is_unsure_is_asked_about(page):
    ask(page, "one kind of films")
    expect(page.locator("#outcome")).to_have_text("Is this what you mean?")
    expect(page.locator("#choice-list button")).to_have_attribute("aria-pressed", "false")
    page.locator("#choice-list button").click()
    expect(page.locator(".values tbody tr")).to_have_count(100)


def test_none_of_the_readings_may_be_meant(page, journal):
    ask(page, "which kinds are there")
    page.get_by_role("button", name="None of these").click()
    expect(page.locator("#feedback")).to_contain_text("Noted")
    last = journal.records()[-1]
    assert (last.kind, last.question, last.form) == ("wrong", "which kinds are there", "")
    ask(page, "one kind of films")
    expect(page.get_by_role("button", name="Something else")).to_be_visible()


def test_it_is_said_how_many_rows_there_are_where_they_do_not_fit(page):
    ask(page, "which kinds are there")
    page.locator("#choice-list button").nth(1).click()
    expect(page.locator(".values tbody tr")).to_have_count(3)
    expect(page.locator("#pages")).to_be_hidden()
    page.locator("#choice-list button").first.click()
    expect(page.locator(".values tbody tr")).to_have_count(100)
    ask(page, "a dozen films")
    expect(page.locator("#place")).to_have_text("12 rows")
    expect(page.get_by_role("button", name="Next")).to_be_hidden()


def test_a_refusal_says_why(page, journal):
    ask(page, "what is the capital of france")
    expect(page.locator("#outcome")).to_have_text("No answer")
    expect(page.locator("#said")).to_have_text("Nobody here knows the word 'capital'.")
    expect(page.locator("#answer")).to_be_empty()
    expect(page.locator("#sure")).to_be_hidden()
    page.get_by_role("button", name="Yes, it should").click()
    expect(page.locator("#feedback")).to_contain_text("Noted")
    assert (journal.records()[-1].kind, journal.records()[-1].form) == ("wrong", "")
    ask(page, "broken")
    expect(page.locator("#said")).to_have_text("The database does not answer.")


@pytest.mark.parametrize("judgement", ["Right", "Wrong"])
def test_an_answer_can_be_judged(page, journal, judgement):
    ask(page)
    page.get_by_role("button", name=judgement, exact=True).click()
    expect(page.locator("#feedback")).to_contain_text("Noted")
    last = journal.records()[-1]
    assert (last.kind, last.form) == (judgement.lower(), "( select ( all film ) running )")


def test_without_a_journal_nothing_is_to_be_judged(page):
    ask(page, QUESTION, run="lakes")
    expect(page.locator("#feedback")).to_be_hidden()


def test_a_thousand_rows_stay_on_a_page(page):
    ask(page, "many films")
    expect(page.locator("#place")).to_have_text("Rows 1 to 100 of 1,000")
    expect(page.locator(".values tbody tr")).to_have_count(100)
    assert page.evaluate("document.documentElement.scrollHeight") < 2_000
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#place")).to_have_text("Rows 101 to 200 of 1,000")
    expect(page.locator(".values tbody td").first).to_have_text("101")
    for _ in range(8):
        page.get_by_role("button", name="Next").click()
        expect(page.locator("body")).not_to_have_attribute("aria-busy", "")
    expect(page.locator("#place")).to_have_text("Rows 901 to 1,000 of 1,000")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_role("button", name="Previous").click()
    expect(page.locator("#place")).to_have_text("Rows 801 to 900 of 1,000")


def test_all_rows_can_be_downloaded(page):
    ask(page, "many films")
    with page.expect_download() as waited:
        page.get_by_role("button", name="Download CSV").click()
    assert waited.value.suggested_filename == "answer.csv"
    assert len(waited.value.path().read_text().splitlines()) == 1001


def test_questions_that_were_asked_are_a_click_away(page):
    ask(page)
    ask(page, "count the films")
    ask(page, "what is the capital of france")
    before = page.locator("#before li")
    expect(before).to_have_text(["count the films5 minutes", "which films are there5 rows"])
    page.get_by_role("button", name=FILMS).last.click()
    expect(page.locator("#said")).to_have_text("All films with their running time:")
    expect(before.first).to_contain_text("what is the capital of franceno answer")
    page.reload()
    expect(before).to_have_count(2)
    page.get_by_role("button", name="Forget all").click()
    expect(page.locator("#history")).to_be_hidden()
    page.reload()
    expect(page.locator("#history")).to_be_hidden()


def test_what_waits_is_told(page):
    held = []
    page.route("**/ask", lambda route: held.append(route))
    page.goto("/#run=films")
    page.get_by_label("Your question").fill(FILMS)
    page.keyboard.press("Enter")
    expect(page.locator("#waiting")).to_be_visible()
    expect(page.locator("#status")).to_have_text("Reading the question")
    held[0].continue_()
    expect(page.locator("#waiting")).to_be_hidden()
    expect(page.locator("#result")).to_be_visible()


def test_form_readings_and_the_way_back_are_one_click_away(page):
    look_inside(page)
    expect(page.locator("#tree")).to_have_text(FORM)
    expect(page.locator("#words")).to_have_text(QUESTION)
    readings = page.locator("#readings .reading")
    expect(readings).to_have_count(5)
    expect(readings.first).to_contain_text(FORM)
    expect(readings.first).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("makes no sense").first).to_be_visible()
    expect(page.locator("#sql-part")).to_be_hidden()
    page.get_by_role("button", name="list all lakes").first.click()  # the box stays open
    expect(page.locator("#tree")).to_have_text("(all lake)")
    expect(readings.first).to_contain_text("(all lake)")


def test_readings_with_the_same_answer_say_so(page):
    verdict = {"ok": True, "surface": True, "semantics": True, "reason": ""}
    forms = [("( a )", 0.9, "(list)"), ("( b )", 0.9, "(list)"), ("( c )", 0.1, "(list 3)")]
    told = [
        {"form": form, "score": -1.0, "probability": chance, "verdict": verdict, "answer": answer, "copies": []}
        for form, chance, answer in forms
    ]
    page.route("**/parse", lambda route: route.fulfill(json={"parses": told}))
    look_inside(page)
    expect(page.locator("#readings .score")).to_have_text(["90 %", "same answer", "10 %"])


def test_a_database_shows_its_statement(page):
    ask(page)
    page.get_by_text("How this was understood").click()
    expect(page.locator("#sql")).to_have_text('SELECT "title", "running" FROM "films"')
    expect(page.locator("#tree")).to_have_text("(select (all film) running)")
    expect(page.locator("#readings-part")).to_be_hidden()
    expect(page.locator("#back-part")).to_be_hidden()


def test_a_model_without_attention_says_so(page):
    told = {"error": "this model shows no attention: its network is transformer"}
    page.route("**/explain", lambda route: route.fulfill(status=422, json=told))
    ask(page, QUESTION, run="lakes")
    page.get_by_text("How this was understood").click()
    expect(page.locator("#looked")).to_have_text("This model shows no attention: its network is transformer.")
    page.problems.clear()  # the browser's own line about the status


def test_the_address_holds_the_question(page):
    page.goto(f"/#q={quote_plus(QUESTION)}")
    expect(page.locator("#said")).to_contain_text("depth")
    page.get_by_role("button", name="list all lakes").click()
    expect(page.locator("#said")).to_contain_text("all lake", ignore_case=True)
    page.go_back()
    expect(page.locator("#said")).to_contain_text("depth")
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
    expect(page.locator("#said")).to_contain_text("depth")


def test_a_question_sent_before_the_page_is_ready_is_answered(page):
    held = []
    page.route("**/domains", lambda route: held.append(route))
    page.goto("/")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    held[0].continue_()
    expect(page.locator("#said")).to_contain_text("depth")


def test_a_question_sent_before_the_script_is_there_is_answered(page):
    page.goto(f"/?q={quote_plus(QUESTION)}")  # what the browser itself makes of the form
    expect(page.locator("#said")).to_contain_text("depth")
    page.get_by_role("button", name="list all lakes").click()
    expect(page.locator("#said")).to_contain_text("all lake", ignore_case=True)
    assert "?" not in page.url


def test_pointing_at_a_token_shows_what_was_looked_at(page):
    look_inside(page)
    page.locator(".token", has_text="lake.blue").hover()
    expect(page.locator("#looked")).to_contain_text("lake.blue: looked at")
    expect(page.locator("#looked")).to_contain_text("copied")
    expect(page.locator(".word.lit").first).to_be_visible()
    expect(page.locator(".word.copied")).to_have_text(["blue", "lake"])
    expect(page.locator(".token.copied")).to_have_text("lake.blue")
    page.locator("#said").hover()
    expect(page.locator(".lit")).to_have_count(0)
    page.locator(".word", has_text="deep").hover()
    expect(page.locator("#looked")).to_contain_text("“deep”: ")


def test_tokens_and_words_can_be_reached_with_keys(page):
    look_inside(page)
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


def test_a_question_is_asked_and_judged_with_keys_alone(page, journal):
    page.goto("/#run=films")
    expect(page.locator("#examples button").first).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("which kinds are there")
    page.keyboard.press("Enter")
    expect(page.locator("#choice-list button").first).to_be_visible()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('choice')"):
            break
    page.keyboard.press("Enter")
    expect(page.locator("#outcome")).to_have_text("Answer to your reading")
    expect(page.locator(".choice[aria-pressed='true']")).to_be_focused()
    for _ in range(5):
        page.keyboard.press("Tab")
        if "I meant" in page.evaluate("document.activeElement.textContent"):
            break
    page.keyboard.press("Enter")
    expect(page.locator("#feedback")).to_contain_text("Noted")
    assert journal.records()[-1].form == "( all film )"


def test_another_reading_can_be_chosen(page):
    look_inside(page)
    second = page.locator("#readings .reading:enabled").nth(1)
    form = second.locator("code").inner_text()
    second.click()
    expect(page.locator("#outcome")).to_have_text("Answer to your reading")
    expect(second).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#tree")).to_have_text(form)
    expect(page.locator(".word").first).to_be_visible()


def test_a_form_is_edited_and_run_as_one_types(page):
    look_inside(page)
    shown = page.locator("#answer .large")
    before = shown.inner_text()
    page.get_by_role("button", name="Edit").click()
    editor = page.get_by_label("The logical form", exact=True)
    expect(editor).to_be_focused()
    expect(editor).to_have_value(FORM)
    editor.fill("(get lake.long depth)")
    expect(shown).to_contain_text("long")
    editor.fill("(get lake.long")
    expect(page.locator("#reason")).to_contain_text("Missing closing parenthesis")
    expect(editor).to_have_value("(get lake.long")
    editor.fill("(all lake)")
    expect(page.locator("#reason")).to_be_empty()
    expect(page.locator("#back li").first).to_contain_text("list all lakes")
    page.get_by_role("button", name="Done").click()
    expect(page.locator("#tree")).to_have_text("(all lake)")
    page.get_by_role("button", name="Undo changes").click()
    expect(page.locator("#tree")).to_have_text(FORM)
    expect(shown).to_have_text(before)


def test_there_and_back(page):
    look_inside(page, "list all lakes")
    expect(page.locator("#back li").first).to_contain_text("list all lakes")
    expect(page.locator("#back li").first).to_contain_text("as asked")
    other = page.locator("#back li").nth(1)
    query = other.locator("span").first.inner_text()
    other.get_by_role("button").click()
    expect(page.get_by_label("Your question")).to_have_value(query)


def test_notes_are_shown(page):
    ask(page, "which flims are there")
    expect(page.locator("#notes li")).to_have_text("Read 'flims' as 'films'.")
    ask(page)
    expect(page.locator("#notes li")).to_have_count(0)


@pytest.mark.parametrize("question", ["<img src=x onerror=alert(1)>", "</script><b>bold</b>", '"><i>'])
def test_what_is_typed_stays_text(page, question):
    page.on("dialog", lambda dialog: pytest.fail("markup was run"))
    look_inside(page, question)
    ask(page, "which flims are there " + question)
    page.reload()
    expect(page.locator("#before li")).to_have_count(0)
    assert page.locator("#result img, #result b, #result i, #history img, #history b").count() == 0
    expect(page.locator(".values")).to_contain_text("O'Hara & <Sons>")


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
    expect(page.locator("#said")).to_contain_text("depth")


def test_a_service_that_is_gone(page):
    ask(page)
    page.route("**/ask", lambda route: route.abort())
    page.get_by_role("button", name="which kinds are there").click()
    expect(page.get_by_role("alert")).to_have_text("The service cannot be reached.")
    expect(page.locator("#result")).to_be_hidden()
    page.problems.clear()


def test_the_newest_question_wins(page):
    """Answers may come in another order than questions."""
    page.goto("/#run=films")
    expect(page.locator("#examples button").first).to_be_visible()
    held = []
    page.route("**/ask", lambda route: held.append(route) if not held else route.continue_())
    page.get_by_role("button", name="how many films are there").click()
    page.get_by_role("button", name="which kinds are there").click()
    expect(page.locator("#outcome")).to_have_text("Which one do you mean?")
    held[0].abort()
    expect(page.locator("#outcome")).to_have_text("Which one do you mean?")
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_token_is_asked_for_once(browser):
    with toy_run.serving(make_app({"films": target()}, token="sesame")) as url:
        context = browser.new_context(base_url=url)
        page = context.new_page()
        page.goto("/")
        for word in ("wrong", "sesame"):
            expect(page.get_by_role("dialog")).to_be_visible()
            page.get_by_role("textbox", name="Token").fill(word)
            page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Films of a shop")
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.reload()
        expect(page.locator("#examples button").first).to_be_visible()
        context.close()


STATES = ("", "which films are there", "which kinds are there", "what is the capital", "many films", "count the films")
STATES += ("which flims are there",)  # with a note


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_it_fits_and_can_be_read(browser, address, width, scheme):
    """Nothing is wider than the screen, and text stands out from its ground (WCAG AA)."""
    context = browser.new_context(base_url=address, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    look_inside(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []
    for question in STATES[1:]:
        ask(page, question)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, address, scheme):
    """What the rules of axe-core can see of WCAG: in every state of the page, and of the API's."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = browser.new_context(base_url=address, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    found: dict[str, object] = {}

    def check(state: str) -> None:
        response = axe.run(page, options={"resultTypes": ["violations"]}).response
        for each in response["violations"]:
            found[f"{state}: {each['id']}"] = [node["html"] for node in each["nodes"]]

    page.goto("/#run=films")
    expect(page.locator("#examples button").first).to_be_visible()
    check("start")
    for question in STATES[1:]:
        ask(page, question)
        check(question)
    look_inside(page)
    check("inside")
    page.get_by_role("button", name="Edit").click()
    check("editor")
    page.goto("/docs")
    expect(page.locator(".operation").first).to_be_visible()
    check("docs")
    context.close()
    assert found == {}


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
    look_inside(page)
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
    expect(page.locator(".operation")).to_contain_text(["/health", "/ask", "/feedback", "/parse", "/explain"])
    expect(page.locator("main")).to_contain_text("curl http://127.0.0.1")


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1, "hour", "1 hour"),
        (3, "hour", "3 hours"),
        (7.4, "km", "7.4 km"),
        (1 / 3, "", "0.333"),
        (1998, "", "1998"),
        (1998, "count", "1,998"),
        (5286953, "millisecond", "1 h 28 min 7 s"),
        (3600, "second", "1 h"),
        (59, "second", "59 seconds"),
        (1071, "millisecond", "1,071 milliseconds"),
        (None, "km", "not recorded"),
        (False, "", "no"),
        ("<b>", "", "<b>"),
    ],
)
def test_values_as_people_read_them(page, value, unit, shown):
    page.goto("/docs")
    code = "([value, unit]) => import('/web/rows.js').then((m) => m.cell(value, unit))"
    assert page.evaluate(code, [value, unit]) == shown


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
