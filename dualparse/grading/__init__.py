"""How well questions about data are answered: questions with the rows they should give, and what an asker gave."""
