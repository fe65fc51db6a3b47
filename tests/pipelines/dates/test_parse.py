"""Ways to write a moment, in the scripts and habits of many countries."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from pipelines.dates import parse, relative, timezones
from pipelines.dates.timezones import CHINA, Habits
from tests.table import each_row

NOW = datetime(2026, 6, 1, 4, 0, tzinfo=UTC)
CHINESE = Habits(CHINA)


@each_row(
    ("text", "iso"),
    [
        ("2024年3月12日 08:30", "2024-03-12T08:30+08:00"),
        ("2024年03月12日08时30分", "2024-03-12T08:30+08:00"),
        ("2024年 3月 12日 星期二 08:30", "2024-03-12T08:30+08:00"),
        ("2024年3月12日 下午3:05", "2024-03-12T15:05+08:00"),
        ("2024年3月12日(火) 18時20分", "2024-03-12T18:20+08:00"),
        ("发布时间：2024-03-12 08:30:15", "2024-03-12T08:30:15+08:00"),
        ("2024-03-12 08:30 北京时间", "2024-03-12T08:30+08:00"),
        ("2024-03-12", "2024-03-12"),
        ("2024-3-12 8:5", "2024-03-12T08:05+08:00"),
        ("2024.3.12", "2024-03-12"),
        ("2024/03/12 下午 03:05", "2024-03-12T15:05+08:00"),
        ("２０２４－０３－１２　０８：３０", "2024-03-12T08:30+08:00"),
        ("二〇二四年三月十二日", "2024-03-12"),
        ("二○二三年十二月三十一日", "2023-12-31"),
        ("中華民國113年3月12日", "2024-03-12"),
        ("民國113年3月12日 08:30", "2024-03-12T08:30+08:00"),
        ("18:07 2024-01-16", "2024-01-16T18:07+08:00"),
        ("2024 03/12 16:37", "2024-03-12T16:37+08:00"),
        ("2024년 3월 12일 18:20", "2024-03-12T18:20+08:00"),
        ("2024.03.12. 오전 10:30", "2024-03-12T10:30+08:00"),
        ("2024-03-12T08:30:00Z", "2024-03-12T08:30:00+00:00"),
        ("2024-03-12T08:30:00.123+01:00", "2024-03-12T08:30:00+01:00"),
        ("2024-03-12T08:30:00-0500", "2024-03-12T08:30:00-05:00"),
        ("2024-03-12 08:30 PM", "2024-03-12T20:30+08:00"),
        ("March 12, 2024", "2024-03-12"),
        ("March 12th, 2024 at 8:30 a.m. PST", "2024-03-12T08:30-08:00"),
        ("Mar 12, 2024 • 10:30 pm", "2024-03-12T22:30+08:00"),
        ("Oct 14, 2022 9:27 AM ET", "2022-10-14T09:27-04:00"),
        ("10/17/2022 04:01 PM EDT", "2022-10-17T16:01-04:00"),
        ("10:30 AM EST, March 12, 2024", "2024-03-12T10:30-05:00"),
        ("08:30, 12 March 2024", "2024-03-12T08:30+08:00"),
        ("12-Mar-2024", "2024-03-12"),
        ("12 March 2024 08:30 BST", "2024-03-12T08:30+01:00"),
        ("12 March 2024 08:30 JST", "2024-03-12T08:30+09:00"),
        ("12. März 2024, 08:30", "2024-03-12T08:30+08:00"),
        ("28.04.2023-19:20", "2023-04-28T19:20+08:00"),
        ("12.03.2024", "2024-03-12"),
        ("12 mars 2024 à 08h30", "2024-03-12T08:30+08:00"),
        ("12 de marzo de 2024", "2024-03-12"),
        ("5 Mayıs 2025 14:20", "2025-05-05T14:20+08:00"),
        ("8 декабря 2023, 10:30", "2023-12-08T10:30+08:00"),
        ("1 Σεπτεμβρίου 2023", "2023-09-01"),
        ("22/10/2025, 08:30 (GMT+7)", "2025-10-22T08:30+07:00"),
        ("2024年3月12日 18时", "2024-03-12T18:00+08:00"),
        ("2024年3月12日 下午6点半", "2024-03-12T18:30+08:00"),
        ("2024年3月12日 3点建议", "2024-03-12"),
        ("2024年3月12日 农历二月初三 18:00", "2024-03-12T18:00+08:00"),
        ("民國一百一十三年三月十二日", "2024-03-12"),
        ("令和6年3月12日 18時05分", "2024-03-12T18:05+08:00"),
        ("平成31年4月30日", "2019-04-30"),
        ("2024년 3월 12일 화요일 오후 6시 30분", "2024-03-12T18:30+08:00"),
        ("١٢ مارس ٢٠٢٤", "2024-03-12"),
        ("12 حزيران 2024", "2024-06-12"),
        ("Ngày 12 tháng 3 năm 2024", "2024-03-12"),
        ("12 มี.ค. 2024 18:05 น.", "2024-03-12T18:05+08:00"),
        ("12 मार्च 2024", "2024-03-12"),
        ("12 марта 2024 г. в 18:05", "2024-03-12T18:05+08:00"),
        ("2024 March 12", "2024-03-12"),
        ("2024年3月12日 晚8:00", "2024-03-12T20:00+08:00"),
        ("2024年3月12日早8点半", "2024-03-12T08:30+08:00"),
        ("2024年3月12日 中午12:05", "2024-03-12T12:05+08:00"),
        ("2024年3月12日 中午1:05", "2024-03-12T13:05+08:00"),
        ("12 мар. 2024, 18:05", "2024-03-12T18:05+08:00"),
        ("12 sty 2024, 18:05", "2024-01-12T18:05+08:00"),
        ("12 janv. 2024 à 18h05", "2024-01-12T18:05+08:00"),
        ("12 ene. 2024 18:05", "2024-01-12T18:05+08:00"),
        ("12 gen 2024 alle 18:05", "2024-01-12T18:05+08:00"),
        ("12 Μαρ 2024, 18:05", "2024-03-12T18:05+08:00"),
        ("12 Oca 2024 18:05", "2024-01-12T18:05+08:00"),
        ("12 січ. 2024, 18:05", "2024-01-12T18:05+08:00"),
        ("03.12.2024", "2024-12-03"),
        ("03.13.2024", "2024-03-13"),
        ("18:05, 12 March 2024 BST", "2024-03-12T18:05+01:00"),
        ("March 12, 2024 6:05 PM Pacific Time", "2024-03-12T18:05-07:00"),
        ("2024-03-12 25:61", "2024-03-12"),
        ("2024-03-12 10:00-12:00", "2024-03-12T10:00+08:00"),
        ("2024-03-12 9:30-17:30", "2024-03-12T09:30+08:00"),
        ("2024-03-12T08:30-09:00", "2024-03-12T08:30-09:00"),
        ("2024-03-12 18:30:00-09:00", "2024-03-12T18:30:00-09:00"),
        ("2024-03-12T24:00:00+08:00", "2024-03-12"),
    ],
)
def test_dates(text: str, iso: str) -> None:
    found = parse.read(text, NOW, CHINESE)
    assert found is not None
    assert found.iso == iso


@each_row(
    ("text", "iso"),
    [
        ("1710203415", "2024-03-12T08:30:15+08:00"),
        ("1710203415000", "2024-03-12T08:30:15+08:00"),
        ("20240312", "2024-03-12"),
        ("20240312T083015Z", "2024-03-12T08:30:15+00:00"),
        ("20240312T083015+0800", "2024-03-12T08:30:15+08:00"),
        ("1710203415.25", "2024-03-12T08:30:15+08:00"),
        ("/Date(1710203415000)/", "2024-03-12T08:30:15+08:00"),
        ("2024-03-12T08:30:15\u221205:00", "2024-03-12T08:30:15-05:00"),
        ("Fri Apr 28 19:20:36 CEST 2023", "2023-04-28T19:20:36+02:00"),
        ("Fri, 12 Apr 2024 08:30:00 +0200", "2024-04-12T08:30:00+02:00"),
        ("Tue Mar 12 2024 08:30:00 GMT+0800 (China Standard Time)", "2024-03-12T08:30:00+08:00"),
    ],
)
def test_stamps(text: str, iso: str) -> None:
    found = parse.read_stamp(text, NOW, CHINESE)
    assert found is not None
    assert found.iso == iso


@each_row(
    "text", ["", "no date", "2099-01-01", "2024-13-45", "1850年1月1日", "电话 010-20241234", "13.45.2024", "1" * 400]
)
def test_no_dates(text: str) -> None:
    assert parse.read(text, NOW, CHINESE) is None


def test_day_stands_first_outside_america() -> None:
    for habits, iso in ((Habits(), "2024-04-03"), (Habits(day_first=True), "2024-03-04")):
        found = parse.read("04/03/2024", NOW, habits)
        assert found is not None
        assert found.iso == iso


@each_row(
    ("text", "iso"),
    [
        ("3小时前", "2026-06-01T09:00+08:00"),
        ("半小时前", "2026-06-01T11:30+08:00"),
        ("5分钟前", "2026-06-01T11:55+08:00"),
        ("两小时以前", "2026-06-01T10:00+08:00"),
        ("2 hours ago", "2026-06-01T10:00+08:00"),
        ("an hour ago", "2026-06-01T11:00+08:00"),
        ("刚刚", "2026-06-01T12:00+08:00"),
        ("昨天 08:30", "2026-05-31T08:30+08:00"),
        ("昨天", "2026-05-31"),
        ("前天", "2026-05-30"),
        ("2天前", "2026-05-30"),
        ("3个月前", "2026-03-03"),
        ("05-12 10:20", "2026-05-12T10:20+08:00"),
        ("5月12日", "2026-05-12"),
        ("12-30 10:20", "2025-12-30T10:20+08:00"),
        ("昨天 下午3:20", "2026-05-31T15:20+08:00"),
        ("昨日下午，他说", None),
        ("大前天 10:20", "2026-05-29T10:20+08:00"),
        ("5月12日 18時00分", "2026-05-12T18:00+08:00"),
        ("113年5月12日", None),
        ("2099年5月12日 10:20", None),
        ("3時間前", "2026-06-01T09:00+08:00"),
        ("15분 전", "2026-06-01T11:45+08:00"),
        ("vor 3 Stunden", "2026-06-01T09:00+08:00"),
        ("Il y a 3 heures", "2026-06-01T09:00+08:00"),
        ("hace 2 días", "2026-05-30"),
        ("3 часа назад", "2026-06-01T09:00+08:00"),
        ("Вчера в 18:05", "2026-05-31T18:05+08:00"),
        ("Yesterday at 6:05 PM", "2026-05-31T18:05+08:00"),
        ("the man said yesterday that he was ill", None),
        ("Now Reading", None),
        ("just now", "2026-06-01T12:00+08:00"),
        ("15 мая, 18:05", "2026-05-15T18:05+08:00"),
        ("15 янв, 18:05", "2026-01-15T18:05+08:00"),
        ("Pro 7", None),
        ("Monday, Jun 30", "2025-06-30"),
    ],
)
def test_relative_dates(text: str, iso: str | None) -> None:
    found = relative.read_relative(text, NOW, CHINESE)
    assert (found and found.iso) == iso


def test_yesterday_in_french_is_here_in_german() -> None:
    for language, iso in (("fr", "2026-05-31"), ("", "2026-05-31"), ("de", None)):
        found = relative.read_relative("Sie sind hier:", NOW, Habits(CHINA, language=language))
        assert (found and found.iso) == iso


def test_years_of_other_calendars_are_read_where_they_are_used() -> None:
    for text, host, language, iso in (
        ("114/05/30", "e.tw", "zh-Hant", "2025-05-30"),
        ("30/05/2568", "e.th", "th", "2025-05-30"),
        ("114/05/30", "e.cn", "zh-Hans", None),
    ):
        found = parse.read(text, NOW, timezones.find_habits(host, language))
        assert (found and found.iso) == iso
    for text, habits, iso in (
        ("30.05.25, 18:05", Habits(day_first=True), "2025-05-30T18:05+00:00"),
        ("25-05-12 10:20", CHINESE, "2025-05-12T10:20+08:00"),
        ("05/30/25", Habits(), "2025-05-30"),
    ):
        short = parse.read(text, NOW, habits)
        assert short is not None
        assert short.iso == iso


def test_dates_in_urls() -> None:
    for url in (
        "http://e.com/2024/mar/12/a",
        "http://e.com/a-20240312083015.html",
        "http://e.com/2024-3-12/a",
        "http://e.com/2024/03/12/a.html",
        "http://e.com/t20240312_1.html",
        "http://e.com/2024-03-12/a",
    ):
        found = parse.read_url(url, NOW)
        assert found is not None
        assert found.iso == "2024-03-12"
    for url in ("http://e.com/20991231/a", "http://e.com/2024/03/1.html", "http://e.com/a/1710203415.html"):
        assert parse.read_url(url, NOW) is None


@each_row(
    ("moment", "hours"),
    [
        (datetime(2024, 3, 31, 0, 59), 1),
        (datetime(2024, 3, 31, 3, 0), 2),
        (datetime(2024, 10, 26, 12, 0), 2),
        (datetime(2024, 10, 28, 12, 0), 1),
        (datetime(2024, 12, 24, 12, 0), 1),
    ],
)
def test_habits_know_european_summer_time(moment: datetime, hours: int) -> None:
    zone = timezones.find_habits("e.de", "de").zone
    assert moment.replace(tzinfo=zone).utcoffset() == timedelta(hours=hours)


def test_read_knows_american_summer_time_as_it_was() -> None:
    for text, offset in (
        ("January 5, 2024 1:00 PM ET", "-05:00"),
        ("July 5, 2024 1:00 PM ET", "-04:00"),
        ("March 20, 2006 1:00 PM PT", "-08:00"),  # until 2006 summer began in April
        ("March 20, 2007 1:00 PM PT", "-07:00"),
    ):
        found = parse.read(text, NOW, Habits())
        assert found is not None
        assert found.iso.endswith(offset)


@each_row(
    ("host", "language", "declared", "expected"),
    [
        ("news.e.cn", "zh-Hans", "", (8, True)),
        ("e.com", "zh-Hant", "zh-TW", (8, True)),
        ("e.co.jp", "ja", "ja", (9, True)),
        ("e.co.uk", "en", "en", (0, True)),
        ("e.com", "en", "en-GB", (0, True)),
        ("e.com", "en", "en-US", (0, False)),
        ("e.com", "", "", (0, False)),
    ],
)
def test_habits(host: str, language: str, declared: str, expected: tuple[int, bool]) -> None:
    found = timezones.find_habits(host, language, declared)
    assert (found.zone.utcoffset(datetime(2024, 1, 1)), found.day_first) == (timedelta(hours=expected[0]), expected[1])


def test_short_years_that_may_be_days_are_not_read() -> None:
    for text, habits in (("25-05-12", CHINESE), ("11-12-13 10:20", Habits(day_first=True, language="pl"))):
        assert parse.read(text, NOW, habits) is None


@each_row(
    ("text", "iso"),
    [
        ("Fri 15 Mar 10:30", "2024-03-15T10:30+00:00"),
        ("Friday, 15 March", "2024-03-15"),
        ("Posted on Fri 15 Mar", "2024-03-15"),
        ("Friday 15th March", "2024-03-15"),
        ("Fri, Mar 15, 10:30 EST", "2024-03-15T10:30-05:00"),
        ("Sun 15 Mar 10:30", "2026-03-15T10:30+00:00"),
        ("Sat 29 Feb", "2020-02-29"),
        ("Mon 29 Feb", "2016-02-29"),
        ("15 Mar 10:30", "2026-03-15T10:30+00:00"),
        ("03/15 10:30 EST", "2026-03-15T10:30-05:00"),
        ("NEBULA MARS 3", None),
        ("2024年（令和5年）3月15日", None),
    ],
)
def test_year_that_is_left_out_is_the_latest_that_fits_the_weekday(text: str, iso: str | None) -> None:
    found = relative.read_relative(text, NOW, Habits(language="en"))
    assert (found and (found.iso, found.precision)) == (iso and (iso, "guess"))


@each_row(
    ("text", "language", "iso"),
    [
        ("3月15日（金）10:30", "ja", "2024-03-15T10:30+00:00"),
        ("3月15日 星期五 10:30", "zh", "2024-03-15T10:30+00:00"),
        ("03-15 周五 10:30", "zh", None),
        ("3월 15일 금요일 10:30", "ko", None),
        ("пятница, 15 марта", "ru", "2024-03-15"),
        ("Viernes, 15 de marzo", "es", "2024-03-15"),
        ("ven. 15 mars 10:30", "fr", "2024-03-15T10:30+00:00"),
        ("Freitag, 15. März", "de", "2024-03-15"),
    ],
)
def test_weekdays_of_other_languages(text: str, language: str, iso: str | None) -> None:
    found = relative.read_relative(text, NOW, Habits(day_first=True, language=language))
    assert (found and found.iso) == iso


@each_row(
    ("text", "iso"),
    [
        ("2024-03-12T08:30:00+14:00", "2024-03-12T08:30:00+14:00"),
        ("2024-03-12T08:30:00-12:00", "2024-03-12T08:30:00-12:00"),
        ("20240312T083015+1400", "2024-03-12T08:30:15+14:00"),
        ("2024-03-12T08:30:00+14:01", "2024-03-12"),
        ("2024-03-12T08:30:00+15:00", "2024-03-12"),
        ("2024-03-12T08:30:00-13:00", "2024-03-12"),
        ("20240312T083015+9900", "2024-03-12"),
        ("Tue, 12 Mar 2024 08:30:00 +2300", "2024-03-12"),
    ],
)
def test_offsets_are_those_of_places_and_others_leave_the_day(text: str, iso: str) -> None:
    found = parse.read_stamp(text, NOW, CHINESE)
    assert found is not None
    assert found.iso == iso
    assert found.utc(UTC)


@given(st.text(max_size=300))
def test_any_text_is_read_or_not(text: str) -> None:
    for read in (parse.read, parse.read_stamp, relative.read_relative, parse.read_epoch):
        found = read(text, NOW, CHINESE)
        assert found is None or found.day <= date(2026, 6, 3)
    assert parse.read_url(text, NOW) is None or text


@given(st.from_regex(r"[0-9年月日:/. -]{0,40}", fullmatch=True))
def test_any_heap_of_digits_is_read_or_not(text: str) -> None:
    for read in (parse.read, parse.read_stamp, relative.read_relative):
        found = read(text, NOW, Habits(UTC, day_first=True))
        assert found is None or datetime.fromisoformat(found.iso).date() == found.day


@given(st.datetimes(datetime(1991, 1, 1), datetime(2026, 5, 30)))
def test_dates_are_read_as_written(moment: datetime) -> None:
    minute = moment.replace(second=0, microsecond=0)
    for form in ("%Y-%m-%d %H:%M", "%Y年%m月%d日%H时%M分", "%d.%m.%Y, %H:%M", "%H:%M %Y-%m-%d", "%B %d, %Y %I:%M %p"):
        found = parse.read(minute.strftime(form), NOW, CHINESE)
        assert found is not None
        assert datetime.fromisoformat(found.iso) == minute.replace(tzinfo=CHINA)
