"""A scripted model on loopback that speaks as the providers of coding agents do.

replies     what a script says: text, thinking, tool calls, errors, waits; and a request as it sees one
dialect     what a provider's wire has to offer, and what they share
anthropic   POST /v1/messages
gemini      POST /v1beta/models/M:generateContent and :streamGenerateContent
openai      POST /v1/chat/completions and /v1/responses
server      the HTTP server that follows a script and records what it was asked
"""
