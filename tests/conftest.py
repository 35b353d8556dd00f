"""Rules for every test: properties are never judged by the clock, for the machine may be slow."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("ctxsearch", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ctxsearch")
