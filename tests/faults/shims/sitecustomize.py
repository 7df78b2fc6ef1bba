"""Imported by every Python that has this folder on its path.

SIGUSR1 sets its system clock back by an hour. Where TB_EDITED_FILE names a module's file, the module is made of the
text in the file TB_EDITED_TEXT instead: `faults.protections` removes a protection so, and the tree stays as it is.
"""

import importlib.machinery
import os
import signal
import time


def set_clock_back(number, frame):
    for name, unit in (("time", 1), ("time_ns", 10**9)):
        true = getattr(time, name)
        setattr(time, name, lambda true=true, unit=unit: true() - 3600 * unit)


def replace_module(path, text_file):
    load_code = importlib.machinery.SourceFileLoader.get_code

    def load_edited_code(self, fullname):
        if self.path != path:
            return load_code(self, fullname)
        with open(text_file, encoding="utf-8") as file:
            return compile(file.read(), path, "exec", dont_inherit=True)

    importlib.machinery.SourceFileLoader.get_code = load_edited_code


if hasattr(signal, "SIGUSR1"):
    signal.signal(signal.SIGUSR1, set_clock_back)
if os.environ.get("TB_EDITED_FILE"):
    replace_module(os.environ["TB_EDITED_FILE"], os.environ["TB_EDITED_TEXT"])
