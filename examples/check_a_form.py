"""Ask whether a form is well-formed and makes sense, and why not. No model is needed.

python examples/check_a_form.py
"""

from dualparse.domains.registry import open_domain

trails = open_domain("trails")
for form in (
    "( filter ( all hut ) beds > ( number 40 bed ) )",
    "( filter ( all hut ) beds > ( number 40 km ) )",
    "( filter ( all hut ) climbs = peak.rotzahn )",
    "( filter ( all hut )",
):
    verdict = trails.check(form)
    print(form)
    print("   one complete tree:", verdict.surface, " makes sense:", verdict.semantics, " ", verdict.reason)
