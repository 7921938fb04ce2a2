"""Four small databases of invented content with questions, to measure how well a database answers what people ask.

Two are for tuning (`dev`), two are held out (`test`): they are scored rarely. `build` makes them, `check` runs the SQL
of every question.
"""
