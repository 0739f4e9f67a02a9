from trunkline import events as ev
from trunkline.frontends.aisdk.metadata import merged, news, provider_metadata, usage_metadata


def test_provider_metadata_is_an_object_of_objects() -> None:
    assert provider_metadata(None) == {}
    assert provider_metadata({"a": {"x": 1}, "b": 2}) == {"a": {"x": 1}, "trunkline": {"b": 2}}
    assert provider_metadata({"b": 2, "trunkline": {"c": 3}}) == {"trunkline": {"b": 2, "c": 3}}


def test_metadata_is_joined_field_by_field_and_news_are_what_was_not_told() -> None:
    both = merged({"a": {"x": 1, "y": 1}}, {"a": {"y": 2}, "b": {}})

    assert both == {"a": {"x": 1, "y": 2}, "b": {}}
    assert news(both, {"a": {"x": 1}}, None) == {"a": {"y": 2}}
    assert news(both, {"a": {"x": 1}}, 2) == {}


def test_tokens_are_counted_in_all_and_for_each_model() -> None:
    spent = (
        ev.TokenUsage(provider="p", model="m", input_tokens=1, output_tokens=2, reasoning_tokens=1),
        ev.TokenUsage(input_tokens=10, cached_input_tokens=5, cache_write_tokens=3),
    )

    assert usage_metadata(()) == {}
    assert usage_metadata((ev.TokenUsage(input_tokens=1),)) == {
        "usage": {"inputTokens": 1, "outputTokens": 0, "totalTokens": 1}
    }
    found = usage_metadata(spent)
    assert found["usage"] == {
        "inputTokens": 11, "outputTokens": 2, "totalTokens": 13, "reasoningTokens": 1,
        "cachedInputTokens": 5, "cacheWriteTokens": 3,
    }  # fmt: skip
    assert found["usageByModel"][0]["provider"] == "p"
    assert found["usageByModel"][1] == {
        "inputTokens": 10, "outputTokens": 0, "totalTokens": 10, "cachedInputTokens": 5,
        "cacheWriteTokens": 3,
    }  # fmt: skip
