"""Make new logical forms of a domain, with a plain wording for each, from its grammar.

python examples/synthesize_forms.py
"""

from dualparse.data.examples import load_examples
from dualparse.domains.registry import open_domain
from dualparse.synthesis.forms import synthesize

trails = open_domain("trails")
known = [" ".join(example.lf) for example in load_examples(trails, dev_seed=1).train if example.lf]
made = synthesize(trails, {"train": known}, n=8, seed=1)
for item in made.forms:
    print(item.form)
    print("   ", item.utterance)
print(f"{len(made.forms)} new forms; left out:", dict(made.rejected))
