"""Answers what an agent asks of its client: permissions, forms, files, terminals.

* ``announcements``: a question about a call waits until the agent has said all that it says before it
* ``client_requests``: answers what an agent asks of an ``AcpClient``
* ``elicitation_requests``: answers ``elicitation/create`` by questions of the session
* ``file_requests``: answers ``fs/*`` by the session's files
* ``judged_calls``: calls of the agent as the policy judges them: kind, paths, command; pure
* ``permission_options``: which of the agent's options an answer stands for; pure
* ``permission_requests``: answers ``session/request_permission``: the policy, an earlier answer, a person
* ``request_params``: reads the params of the agent's requests, and gives our errors the codes of ACP
* ``request_turn``: the turn that the agent's requests belong to
* ``session_requests``: answers what an agent asks of its client, for one session
* ``terminal_requests``: answers ``terminal/*`` by the session's terminals
"""
