"""Run a logical form over the world of a domain. No model is needed.

python examples/execute_a_form.py
"""

from dualparse.domains.registry import open_domain
from dualparse.lf.errors import LFExecutionError, LFSyntaxError

trails = open_domain("trails")
forms = [
    "( count ( all hut ) )",
    "( argmax ( all peak ) elevation )",
    "( get ( filter ( all trail ) length > ( number 20 km ) ) start )",
    "( get hut.marmot_hut colour )",
    "( count ( all hut )",
]
for form in forms:
    try:
        print(form, "=>", trails.execute(form))
    except LFSyntaxError as error:
        print(form, "=> not a form:", error)
    except LFExecutionError as error:
        print(form, "=> does not run:", error)
