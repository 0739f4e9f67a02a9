"""Middlewares for a LangChain agent, usable alone."""
