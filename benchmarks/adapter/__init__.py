"""How the adapter that ships with `dualparse.matching` is made: invented schemas, questions, training."""
