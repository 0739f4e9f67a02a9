"""LangChain, LangGraph and deepagents on the trunk; every name is loaded when it is first used."""
