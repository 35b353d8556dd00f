"""One indexed project for the tests that only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from search_project import Project

from ctxsearch.graph.freshness import Freshness
from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.ports import Corpus
from ctxsearch.search.service import ContextSearchService

SOURCES = {
    "shop/http.py": '''"""Talking to servers."""


def getHTTPResponse(url):
    """Fetch a page from a web server and return its answer."""
    connection = open_socket(url)
    return read_all(connection)


def open_socket(url):
    """Connect to the host that the address names."""
    return url


def read_all(connection):
    """Drain a stream until the other side closes it."""
    return connection
''',
    "shop/orders.py": '''"""Orders of customers."""


class OrderBook:
    """Keeps orders by customer."""

    def place_order(self, customer, item):
        """Store what a customer wants to buy."""
        price = lookup_price(item)
        return save_record(customer, price)

    def cancel_order(self, customer):
        """Withdraw a purchase before it ships."""
        return save_record(customer, None)


def lookup_price(item):
    """How much an item costs today."""
    page = getHTTPResponse("prices/" + item)
    return parse_amount(page)


def parse_amount(page):
    """Turn text such as 12.50 into cents."""
    digits = page.replace(".", "")
    return int(digits)
''',
    "shop/storage.py": '''"""Durable data."""


def save_record(key, value):
    """Write one row to the database, atomically."""
    begin_transaction()
    return key, value


def begin_transaction():
    """Start a unit of work that either happens or does not."""
    return True


def old_backup(target):
    """Copy the database to tape."""
    return save_record(target, "backup")
''',
    "tests/test_orders.py": '''"""Checks of orders."""


def test_parse_amount():
    """Turn text such as 12.50 into cents."""
    assert parse_amount("12.50") == 1250
''',
}


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    base = Path(tmp_path_factory.mktemp("project"))
    made = Project(
        base / "work", base / "state", ages={"old_backup": Freshness.STALE_WITH_RISK, "read_all": Freshness.STALE}
    )
    made.write(SOURCES)
    yield made
    made.close()


@pytest.fixture(scope="session")
def corpus(project: Project) -> Corpus:
    return project.heal()


@pytest.fixture(scope="session")
def service(corpus: Corpus) -> Iterator[ContextSearchService]:
    made = ContextSearchService(bundled_embedder())
    made.publish(corpus)
    yield made
    made.close()
