"""What an agent's errors mean."""

from trunkline.agents.acp.errors import AgentCommandNotFound, translate_error
from trunkline.agents.interface import AgentCard, AuthMethod
from trunkline.errors import AuthenticationRequired
from trunkline.protocols.jsonrpc.messages import RpcError

CARD = AgentCard(
    name="coder",
    auth_methods=(
        AuthMethod(method_id="a", name="Web"),
        AuthMethod(method_id="b", name="Key", kind="env_var", variables=("KEY", "ORG")),
        AuthMethod(method_id="c", name="Shell", kind="terminal"),
    ),
)


def test_the_cause_in_data_is_shown_whatever_its_shape() -> None:
    shown = [
        str(translate_error(RpcError(-32603, "Internal error", data), "the prompt", CARD))
        for data in (
            None,
            "rate limited",
            {"details": "no money"},
            {"status": 429},
            {"details": "Internal error"},
        )
    ]
    assert [text.removeprefix("coder failed in the prompt: Internal error") for text in shown] == [
        " (code -32603)",
        ": rate limited (code -32603)",
        ": no money (code -32603)",
        ': {"status": 429} (code -32603)',
        " (code -32603)",
    ]


def test_a_missing_login_names_the_ways() -> None:
    error = translate_error(RpcError(-32000, "Authentication required"), "session/new", CARD)
    assert isinstance(error, AuthenticationRequired)
    assert str(error) == (
        "coder wants a login first (Authentication required); "
        "it offers: Web, Key (set KEY, ORG), Shell (in a terminal)"
    )
    error = translate_error(RpcError(-32000, "Log in"), "session/new", AgentCard(name="x"))
    assert str(error) == "x wants a login first (Log in)"


def test_a_command_that_is_not_found_says_where_it_was_looked_for() -> None:
    assert "PATH=/a:/b" in str(AgentCommandNotFound("x", "/a:/b"))
    assert "PATH" not in str(AgentCommandNotFound("/bin/x", "/a:/b"))


def test_data_that_says_nothing_is_left_out() -> None:
    error = RpcError(-32603, "API Error: 400", {"errorKind": "unknown"})
    assert str(translate_error(error, "the prompt", CARD)).endswith(
        "the prompt: API Error: 400 (code -32603)"
    )
    more = RpcError(-32603, "API Error: 400", {"errorKind": "billing"})
    assert "billing" in str(translate_error(more, "the prompt", CARD))
