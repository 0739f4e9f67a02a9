"""What a tool call means to a person, read from its name and arguments; knows no agent framework.

``naming``
    the kind of a tool, the title of a call, the files it names and the line
``diffs``
    what an edit, a write or a patch changes in files
``call_files``
    where these files are on this machine, with the old text of the files that a call overwrites
"""
