"""From a question to an answer that says what was understood and how sure it is."""
