"""Sessions: everything that lives longer than a connection. Names are loaded when they are first used.

* ``background_tasks``: the tasks that run beside a turn
* ``base_session``: what a session offers in every process: reading it and sending it commands
* ``context``: ``TurnContext``: what an agent can do
* ``edited_arguments``: arguments that a person edited: the call as it is made then, and as it is shown
* ``form_answers``: checks a filled-in form against its schema
* ``handles``: a running call, the shared state and waiting, for agents
* ``history``: what a session knows of its past: turns, open state, snapshots
* ``hosted``: turns that run in a program of the user's own
* ``hub``: the sessions of one agent on one journal: opens, lists, forks, deletes and closes them
* ``ids``: random ids
* ``imported_history``: takes over what an agent remembers, or a client sent, and the journal does not know
* ``journal_polling``: follows what other processes write and post, and how often it looks
* ``lease_renewal``: renews leases, and says which ones are lost
* ``owners``: how a process claims a session, keeps it and gives it up
* ``permissions``: what the policy and earlier answers say of a call
* ``questions``: open questions: first answer, expiry, withdrawal
* ``receipts``: what became of the prompts that were accepted, and where turns begin
* ``remote_commands``: commands that another process carries out: the way there, and what comes back
* ``run_start``: where a wire run begins in its turn
* ``session``: ``Session``: prompts, cancel, answers, configuration, rewind
* ``settings``: limits and waits, with defaults
* ``stream``: the events of a session on their way to the journal and to readers
* ``titles``: the title of a session, and who chose it
* ``turn_interface``: what a context needs of its turn
* ``turn_starters``: which client started which turn
* ``turns``: the turns of a session, from a prompt to its end
* ``unfollowed_turns``: cancels a turn that no reader follows any more
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
