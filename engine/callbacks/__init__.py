"""Diagnosis inside the training: one module for each framework, ``rl_diagnose.callbacks.sb3`` and its siblings.

Each keeps the run's log aside in the framework's own format and lets a `Watcher` diagnose it now and then, so that the
answers are those of ``rl-diagnose`` on the same log.
"""
