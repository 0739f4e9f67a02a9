"""The splice: raw lines between an editor and an ACP agent, with a journal and a policy beside them.

* ``agent``: the agent of a spliced session, as the hub sees it: its one process is the editor's
* ``agent_requests``: what the agent asks: it goes to the editor and every other client; the first answer wins
* ``connection``: the agent's process: raw lines both ways
* ``held_prompts``: prompts that wait until no other process works on their session
* ``journal``: writes one session of the pair to the journal
* ``loose_parsing``: what a line says, also one that our JSON-RPC peer would refuse; pure
* ``own_requests``: our own requests at the agent: ids that collide with none, and their answers
* ``policy_checks``: what the policy says about files and commands; our own files are refused to every agent
* ``relay``: forwards the lines and reads a copy of each
* ``session_prompts``: the turns of a spliced session: of the editor's prompts, and of other clients'
* ``stdio``: serves it to the editor that started us
"""
