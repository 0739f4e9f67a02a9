"""Real clients and agents, and what they see of ours."""
