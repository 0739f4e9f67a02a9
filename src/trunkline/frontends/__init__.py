"""Front ends: each shows sessions to the clients of one protocol, with the same file name for the same role.

acp: editors, over the Agent Client Protocol
agui: web pages, over AG-UI
"""
