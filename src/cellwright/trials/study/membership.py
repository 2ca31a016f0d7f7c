"""Being a driver of a study: a thread renews the lease for as long as the work goes on."""

from __future__ import annotations

import threading
from types import TracebackType

from cellwright.trials.store import Store, StoreError, Study
from cellwright.trials.store.drivers import Driver, join_study, leave_study, renew

_BEATS = 4
"""How often the lease is renewed while it lasts; three may fail."""


class Membership:
    """Joined while it is entered. A thread of its own renews the lease: a trial in this process,
    or a method that thinks, may keep the main one busy for longer than the lease lasts."""

    def __init__(self, store: Store, study: Study, slots: int, lease: float) -> None:
        self._store, self._slots = store, slots
        self.driver: Driver = join_study(store, study, slots, lease)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def set_slots(self, slots: int) -> None:
        """Say how many trials this driver can run at once, if that has changed."""
        if slots != self._slots:
            self._slots = slots
            renew(self._store, self.driver, slots)

    def __enter__(self) -> Membership:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
        try:
            leave_study(self._store, self.driver)
        except StoreError:
            if error is None:
                raise  # else the first error is the one to show; the lease runs out by itself

    def _beat(self) -> None:
        while not self._over.wait(self.driver.lease / _BEATS):
            try:
                renew(self._store, self.driver, self._slots)
            except StoreError:
                continue  # the main thread will meet the same, and say so
