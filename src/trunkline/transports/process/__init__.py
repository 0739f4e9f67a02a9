"""Child processes: the only home of what starts, watches and ends them.

* ``child``: one child process: start, pipes, exit, and the end of everything that it started
* ``descendants``: ends the processes that this one leaves behind
* ``environment``: the environment of a child, without our secrets
* ``foreground``: a program that takes the terminal over for as long as it runs
* ``keeper``: the program that starts a child and ends all of its processes
* ``line_process``: messages as lines over a child's stdin and stdout, and the end of its stderr
* ``secrets``: keeps our secrets from other processes
* ``tail``: the last bytes of a stream, as text
* ``terminal_process``: a child process in a pseudo-terminal
"""
