"""Being a driver of a study: a thread renews the lease for as long as the work goes on."""

from __future__ import annotations

import threading
from types import TracebackType

from cellwright.trials.store import Store, StoreError, Study
from cellwright.trials.store.drivers import Driver, give_up, join_study, leave_study, renew
from cellwright.trials.store.errors import StoreAwayError
from cellwright.trials.store.patience import Patience

_BEATS = 4
"""How often the lease is renewed while it lasts; three may fail."""

_BEAT_SECONDS, _END_SECONDS = 5.0, 2.0
"""How long one renewal is tried, and how long the thread may take to end. It is left behind then:
it may sit in a connection to a server that does not answer."""


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
        self._thread.join(_END_SECONDS)
        if isinstance(error, StoreAwayError):
            give_up(self.driver)  # it does not answer; the lease runs out by itself
            return
        try:
            leave_study(self._store, self.driver)
        except StoreError:
            give_up(self.driver)
            if error is None:
                raise  # else the first error is the one to show

    def _beat(self) -> None:
        with self._store.patient(Patience(_BEAT_SECONDS, stopping=self._over.is_set, grace=0.0)):
            while not self._over.wait(self.driver.lease / _BEATS):
                try:
                    renew(self._store, self.driver, self._slots, unless=self._over.is_set)
                except StoreError:
                    continue  # the main thread will meet the same, and say so
