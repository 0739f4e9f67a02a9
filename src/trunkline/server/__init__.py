"""The HTTP server: any agent for web front ends, safe from the first request. ``asgi`` makes the app."""
