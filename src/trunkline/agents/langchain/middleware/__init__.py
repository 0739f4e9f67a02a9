"""Middlewares for a LangChain agent, usable alone.

* ``_combined``: several middlewares as one
* ``_hooks``: hooks that cost nothing where there is nothing to do
* ``_mcp_servers``: the MCP servers that a middleware brings, one set for each session
* ``_plan_text``: the plan in a model's text: a numbered list or checkboxes
* ``_run_observer``: sees runs begin and finish without a hook of the graph
* ``mode``: ``ModeMiddleware``: how an agent works, chosen by the person
* ``mode_definition``: a mode: its prompt, its tools, and when it asks
* ``permission``: ``PermissionMiddleware``: which tools need a person's answer before they run
* ``plan``: ``PlanMiddleware``: plans from state, todo tools, text, or by hand
* ``session``: ``SessionMiddleware``: answers, shared state and MCP servers
* ``tools``: ``ToolMiddleware``: shows tool calls, and turns exceptions into answers
"""
