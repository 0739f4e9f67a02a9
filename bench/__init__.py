"""Benches: figures for the budgets, as ratios in one run. ``python -m bench [NAME...]``; not in the wheel."""
