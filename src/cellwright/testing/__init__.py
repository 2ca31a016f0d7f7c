"""What a task, a space, a method or a store has to hold, as functions that anybody can call.

For authors of plug-ins: call `check_task`, `check_space`, `check_method` or `check_store` in a
test. Each raises an `AssertionError` that says what does not hold. The parts of a suite are in
`TASK_CHECKS` and so on, for those who want a test for each.
"""

from cellwright.testing.methods import METHOD_CHECKS, check_method
from cellwright.testing.spaces import SPACE_CHECKS, check_space
from cellwright.testing.stores import STORE_CHECKS, check_store
from cellwright.testing.tasks import TASK_CHECKS, TaskCase, check_task

__all__ = [
    "METHOD_CHECKS",
    "SPACE_CHECKS",
    "STORE_CHECKS",
    "TASK_CHECKS",
    "TaskCase",
    "check_method",
    "check_space",
    "check_store",
    "check_task",
]
