"""The finance agent: one's own bank data in a SQLite file, read, counted and explained on one's own machine.

* ``agent``: the agent of each framework over the same tools
* ``answers``: answers in English, from the results of the tools
* ``attachments``: the names of files that came with a prompt
* ``bank``: bank sync by Plaid's wire, and a fake bank that speaks it
* ``commands``: slash commands, each short for a question
* ``instructions``: what a real model is told
* ``langchain``: the offline model as a chat model of LangChain
* ``ledger``: the database, the made-up data set, categories, the figures, and SQL that can only read
* ``offline_model``: plans tool calls and writes answers by rules; not a language model
* ``openai``: the offline model as a model of the OpenAI Agents SDK
* ``options``: the modes ask and manage
* ``questions``: questions in English by rules, into what is asked for
* ``statements``: statement files (CSV, OFX, MT940), read, imported and undone
* ``today``: the present moment, which a variable overrides
* ``tools``: the tools of the agent, for every framework
"""
