"""What a tool call means to a person, read from its name and arguments; knows no agent framework.

* ``call_files``: where the files of a call are, with the old text of those that it overwrites
* ``folder_reader``: reads files in some folders only
* ``naming``: kind, title, files and line of a call
"""
