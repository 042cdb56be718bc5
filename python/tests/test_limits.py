"""Limits as people write them, and what they come to on a device."""

import logging

import pytest

from plimsoll import PlimsollError, device_memory, limits
from plimsoll.limits import Limit, allowance_on, parse_limit

GIB = 2**30


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GiB", 2 * GIB),
        ("500MB", 500_000_000),
        ("1.5e9", 1_500_000_000),
        ("1500000000", 1_500_000_000),
        ("1.5 GiB", 3 * GIB // 2),
        ("2g", 2_000_000_000),
        ("2Gi", 2 * GIB),
        ("64kib", 65536),
        (" 10 B ", 10),
        (".5k", 500),
        (4096, 4096),
        (1e6, 1_000_000),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_sizes(text, size):
    assert parse_limit(text, "here") == Limit(size, None, "", "")


def test_a_share_of_the_device():
    assert parse_limit("75%", "here").percent == 75
    assert allowance_on(parse_limit("75%", "here"), 8 * GIB).bytes == 6 * GIB
    assert allowance_on(parse_limit("12.5 %", "here"), 8 * GIB).bytes == GIB


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("much", "expected a size such as 2GiB, 500MB, 1.5e9 or 75%, found 'much'"),
        ("", "expected a size"),
        ("GiB", "expected a size"),
        ("2XB", "found '2XB'"),
        ("1,5GiB", "expected a size"),
        ("nan", "expected a size"),
        ("inf", "expected a size"),
        (float("inf"), "expected a size"),
        ("0", "a limit of nothing"),
        ("0.2", "a limit of nothing"),
        (0, "a limit of nothing"),
        ("-1GiB", "a limit cannot be negative, found -1GiB"),
        (-1, "a limit cannot be negative"),
        ("101%", "more than 0% and at most 100%, found 101%"),
        ("0%", "more than 0%"),
        ("-5%", "a limit cannot be negative"),
        ("16EiB", "more than any device has"),
        ("1e300", "more than any device has"),
        (True, "found True"),
        (None, "found None"),
        ([1], "found [1]"),
    ],
)
def test_what_is_no_size(value, complaint):
    with pytest.raises(PlimsollError) as caught:
        parse_limit(value, "here")
    assert caught.value.code == "PL204"
    assert caught.value.message.startswith("here: ")
    assert complaint in caught.value.message


def test_more_than_the_device_has_is_what_it_has(caplog):
    limit = parse_limit("16GiB", "test_more_than_the_device_has")
    with caplog.at_level(logging.WARNING, "plimsoll"):
        assert allowance_on(limit, 8 * GIB).bytes == 8 * GIB
        assert allowance_on(limit, 8 * GIB).bytes == 8 * GIB
    (line,) = caplog.messages
    assert "16GiB is more than the 8.0 GiB that the device has" in line


def test_the_allocator_has_whole_blocks(caplog):
    limit = parse_limit("500MB", "test_the_allocator_has_whole_blocks")
    with caplog.at_level(logging.WARNING, "plimsoll"):
        assert allowance_on(limit, 8 * GIB, 476 * 2**20).bytes == 476 * 2**20
        assert caplog.messages == []
        assert allowance_on(limit, 8 * GIB, 400 * 2**20).bytes == 400 * 2**20
        assert len(caplog.messages) == 1


def test_what_is_not_known_of_a_device():
    assert allowance_on(None, None) is None
    assert allowance_on(parse_limit("1GiB", "here"), None).bytes == GIB
    assert allowance_on(parse_limit("50%", "test_what_is_not_known"), None) is None
    assert allowance_on(limits.UNLIMITED, GIB) is None
    assert str(allowance_on(None, GIB)) == "1.0 GiB (what the device has)"


def test_limits_that_allow_the_same_are_equal():
    assert parse_limit("1GiB", "a") == parse_limit("1024MiB", "b")
    assert hash(parse_limit("1GiB", "a")) == hash(parse_limit(GIB, "b"))
    assert parse_limit("1GiB", "a").key == parse_limit("1024 MiB", "a").key
    assert parse_limit("50%", "a") != parse_limit("51%", "a")
    assert parse_limit("50%", "a").key != parse_limit("51%", "a").key


def test_the_environment(monkeypatch):
    monkeypatch.delenv("PLIMSOLL_MEMORY_LIMIT", raising=False)
    assert limits.environment_limit() is None
    monkeypatch.setenv("PLIMSOLL_MEMORY_LIMIT", " ")
    assert limits.environment_limit() is None
    monkeypatch.setenv("PLIMSOLL_MEMORY_LIMIT", "2GiB")
    assert limits.environment_limit().bytes == 2 * GIB
    assert str(limits.environment_limit()) == "PLIMSOLL_MEMORY_LIMIT=2GiB"


def test_the_host_has_memory():
    assert device_memory.host_total() > 2**28
    assert 0 < device_memory.host_available() <= device_memory.host_total()
    assert device_memory.resident_bytes() > 2**20


@pytest.fixture
def control_group(tmp_path, monkeypatch):
    """Makes files that say what control groups allow and use, in place of the machine's."""
    device_memory._group_limit.cache_clear()
    device_memory.host_total.cache_clear()
    monkeypatch.setattr(device_memory, "_groups", lambda: [tmp_path / "inner", tmp_path])
    (tmp_path / "inner").mkdir()
    yield tmp_path
    device_memory._group_limit.cache_clear()
    device_memory.host_total.cache_clear()


def test_the_control_group_limits_the_host(control_group):
    (control_group / "memory.max").write_text("104857600\n")
    (control_group / "inner" / "memory.max").write_text("max\n")
    (control_group / "memory.current").write_text("41943040\n")
    (control_group / "memory.stat").write_text("anon 1\ninactive_file 20971520\n")
    assert device_memory.host_total() == 100 * 2**20
    assert device_memory.host_available() == 80 * 2**20


def test_the_older_kind_of_control_group(control_group):
    (control_group / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    inner = control_group / "inner"
    (inner / "memory.limit_in_bytes").write_text("104857600\n")
    (inner / "memory.usage_in_bytes").write_text("41943040\n")
    assert device_memory.host_total() == 100 * 2**20
    assert device_memory.host_available() == 60 * 2**20


def test_a_machine_that_says_nothing(control_group, monkeypatch):
    monkeypatch.setattr(device_memory, "_meminfo", dict)
    assert device_memory.host_total() is None
    assert device_memory.host_available() is None
