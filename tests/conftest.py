"""Settings for all tests. Being here also lets tests import `cells`, the random cells."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "default",
    deadline=None,  # a shared machine is slow at times, and that is not a failure
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")
