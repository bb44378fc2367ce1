"""Many sign-ins at once take the memory of few. The attack: 60 at once took 2.1 GB."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from venire.server.studies import accounts

PASSWORD = "a long password"


class SlowHasher:
    """Counts how many passwords are hashed at the same time."""

    def __init__(self, hasher, seconds):
        self._hasher, self._seconds = hasher, seconds
        self._lock = threading.Lock()
        self.now = self.most = 0

    def hash(self, password):
        with self._counted():
            return self._hasher.hash(password)

    def verify(self, password, known):
        with self._counted():
            return self._hasher.verify(password, known)

    def _counted(self):
        outer = self

        class Counted:
            def __enter__(self):
                with outer._lock:
                    outer.now += 1
                    outer.most = max(outer.most, outer.now)
                time.sleep(outer._seconds)

            def __exit__(self, *error):
                with outer._lock:
                    outer.now -= 1

        return Counted()


def enter_many(client, own_store, monkeypatch, seconds, number):
    with own_store.writing() as session:
        accounts.create_user(session, "Ann", "ann", PASSWORD)
    slow = SlowHasher(accounts._get_hasher(), seconds)
    monkeypatch.setattr(accounts, "_get_hasher", lambda: slow)

    def enter(place):
        body = {"login": f"nobody{place}" if place else "ann", "password": PASSWORD}
        return client.post("/sign-in", json=body).status_code

    with ThreadPoolExecutor(number) as pool:
        return slow.most, list(pool.map(enter, range(number)))


def test_few_passwords_are_hashed_at_the_same_time(client, own_store, monkeypatch):
    most, codes = enter_many(client, own_store, monkeypatch, 0.02, 20)
    assert most <= accounts.HASHES_AT_ONCE
    assert codes == [200] + [401] * 19


def test_who_waits_too_long_is_told_to_come_again(client, own_store, monkeypatch):
    monkeypatch.setattr(accounts, "TURN_SECONDS", 0.01)
    most, codes = enter_many(client, own_store, monkeypatch, 0.3, 8)
    assert most <= accounts.HASHES_AT_ONCE
    assert set(codes) <= {200, 401, 429}
    assert 429 in codes
    answer = client.post("/sign-in", json={"login": "ann", "password": PASSWORD})
    assert answer.status_code == 200  # nobody is locked out by it
