"""The campaign against our own promises: one program for each kind of attack. `docs/reliability.md` has the outcome."""
