"""Child processes: the only home of what starts, watches and ends them.

* ``child``: one child process: start, pipes, exit, and the end of everything that it started
* ``environment``: the environment of a child, without our secrets
* ``foreground``: a program that takes the terminal over for as long as it runs
* ``line_process``: messages as lines over a child's stdin and stdout up to a length; the end of its stderr
* ``output_tail``: the last bytes of an output, as text
* ``own_exit_processes``: when trunkline itself ends: kills what it started and no ``supervisor`` has ended
* ``own_exit_threads``: when trunkline itself ends: waits for no thread that an agent left behind
* ``piped_program``: a program over whose pipes plain threads talk
* ``reloader``: a child that is started again whenever a file changes
* ``secrets``: keeps our secrets from other processes
* ``supervisor``: the program that starts a child and ends all that it started: SIGTERM, then SIGKILL
* ``terminal_process``: a child process in a pseudo-terminal
"""
