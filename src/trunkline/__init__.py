"""One trunk, many lines: any agent in any front end."""
