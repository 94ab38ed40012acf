"""Verdicts against labels: reading a labelled corpus, judging each run, and the figures over all of them."""
