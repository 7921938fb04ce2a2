"""How questions as people type them become words a model knows: case, numbers, misspellings. No model is needed.

python examples/read_a_question.py
"""

from dualparse.domains.text import Reader

known = ["which", "huts", "have", "more", "than", "40", "beds", "is", "the", "open"]
reader = Reader(known, phrases=[("marmot", "hut"), ("salt", "road")])
for question in (
    "Which huts have more than FORTY beds?",
    "Is the marmott hut open?",
    "which huts have more than twenty-five beds",
    "which huts have a samovar",
):
    reading = reader.read(question)
    print(question, "=>", " ".join(reading.words), *(f"({note})" for note in reading.notes))
