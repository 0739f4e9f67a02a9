"""A small MCP server on stdio, which mcp_tools.py starts: notes to search and to add to."""

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import ToolAnnotations

server = FastMCP("notes", log_level="WARNING")
notes = ["Buy milk", "Call Ada about the engine", "Water the plants"]


@server.tool(annotations=ToolAnnotations(title="Search the notes", readOnlyHint=True))
async def search_notes(query: str, ctx: Context) -> list[str]:
    """Find the notes that contain a word."""
    for number in range(len(notes)):
        await ctx.report_progress(number + 1, len(notes), f"note {number + 1} of {len(notes)}")
    return [note for note in notes if query.lower() in note.lower()]


@server.tool(annotations=ToolAnnotations(title="Add a note", destructiveHint=False))
def add_note(text: str) -> str:
    """Add a note."""
    notes.append(text)
    return f"{len(notes)} notes"


if __name__ == "__main__":
    server.run()
