"""Sessions: everything that lives longer than a connection. Names are loaded when they are first used.

* ``adopt``: takes over what an agent remembers and the journal does not know
* ``agent_events``: what the events of an agent change in its session
* ``agent_hooks``: the optional methods of an agent, as a session calls them
* ``coalesce``: joins neighbouring deltas, and gives events their positions
* ``commandable``: the commands of a session, the same in every process
* ``context``: ``TurnContext``: what an agent can do
* ``edited_calls``: a tool call whose arguments a person edited
* ``event_check``: checks the events of an agent
* ``followers``: cancels a turn that no reader follows any more
* ``handles``: a running call, and the shared state, for agents
* ``history``: what a session knows of its past: turns, open state, snapshots
* ``hosted``: turns that run in a program of the user's own
* ``hub``: the sessions of one agent on one journal
* ``ids``: random ids
* ``interfaces``: what a session needs of its hub, and a turn of its session
* ``out_of_turn``: events that concern a session and none of its turns
* ``owners``: how a process names itself in a lease
* ``ownership``: claims, renews and releases the lease of a session
* ``permissions``: policy and earlier answers, before a person is asked
* ``prompt_queue``: prompts that wait for the running turn
* ``questions``: open questions: first answer, expiry, withdrawal
* ``readable``: what can be read of a session: events, history, what it waits for
* ``reader``: follows a stream at its own pace
* ``receipts``: prompts that were accepted, and where their turns begin
* ``remote``: commands between processes
* ``session``: ``Session``: prompts, cancel, answers, configuration, rewind
* ``settings``: limits and waits, with defaults
* ``stream``: the events of a session: legal, numbered, shown, written
* ``tasks``: the tasks that run beside a turn
* ``thread_wait``: waits in a plain function for something in the loop of a turn
* ``turn``: one prompt on its way through an agent
* ``usage``: adds up the tokens of a turn
* ``view``: ``SessionView``: the session as its agent sees it
* ``window``: shows a turn through an encoder, from a cursor on
* ``workspace_guard``: asks the policy for every access to files and terminals
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.session.hub import Hub
    from trunkline.session.receipts import Receipt
    from trunkline.session.session import Session
    from trunkline.session.settings import Settings
    from trunkline.session.window import Window

__all__ = ["Hub", "Receipt", "Session", "Settings", "Window"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Hub": "trunkline.session.hub",
        "Receipt": "trunkline.session.receipts",
        "Session": "trunkline.session.session",
        "Settings": "trunkline.session.settings",
        "Window": "trunkline.session.window",
    },
)
