"""How each provider says the same things on its wire: text, thoughts, calls, and why it stopped."""
