"""Canonical URLs, and the keys of host and site."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address

import can_ada
from publicsuffixlist import PublicSuffixList

MAX_URL_CHARS = 2000
"""Longer URLs are refused: real pages stay far below."""

# White space and control characters that no reader of a page can see around a URL.
_TRIMMED = (
    "".join(map(chr, range(0x21)))
    + "\x7f\x85\xa0\xad\u1680\u180e\u200b\u200e\u200f\u3000\ufeff"
    + "".join(map(chr, (*range(0x2000, 0x200B), *range(0x2028, 0x2030), *range(0x205F, 0x2070))))
)
_INNER_BREAKS = {9: None, 10: None, 13: None}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_LOWER_ESCAPE = re.compile(r"%(?:[0-9A-F][a-f]|[a-f][0-9A-Fa-f])")
# Exactly the escapes that change: those of unreserved characters, and those written with lower-case digits.
_LOOSE_ESCAPE = re.compile(r"%(?:2[DdEe]|3[0-9]|[46][1-9A-Fa-f]|5[0-9AaFf]|7[0-9AaEe]|[0-9A-F][a-f]|[a-f][0-9A-Fa-f])")
_ILLEGAL = re.compile(r'["<>\\^`{|}]')
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|aspsessionid[a-z]{0,12})=[^/;]*", re.IGNORECASE)

# ASP.NET writes sessions, tickets and visitors as a folder: /(S(lit3py55t21z5v55vlm25s55))/, /(X(1)F(...))/.
_FOLDER_SESSION = re.compile(
    r"/(?:\(|%28)(?:(?:[AFSX](?:\(|%28)[\w-]+(?:\)|%29))+|(?=[a-z]*[0-5])[a-z0-5]{24})(?:\)|%29)(?=/|$)", re.IGNORECASE
)

_ASP_SESSION = "aspsessionid"
_TRACKING_PREFIXES = ("utm_", "itm_", "mtm_", "otm_", "matomo_", "piwik_", "hsa_", "hmb_", "vn_", "oft_", _ASP_SESSION)
# One paragraph per family: shares, clicks on advertisements, mailings, campaigns; those of Chinese services; sessions.
_TRACKING_NAMES = """
    fbclid fb_action_ids fb_action_types fb_source fb_ref mibextid igshid igsh
    gclid gclsrc dclid gbraid wbraid srsltid _ga _gl msclkid yclid ysclid _openstat twclid ttclid li_fat_id epik
    __twitter_impression ref_src ref_url ref_ referrer referer mc_cid mc_eid mc_tc mkt_tok vero_id vero_conv
    oly_enc_id oly_anon_id action_object_map action_type_map action_ref_map fb_comment_id fref hc_ref hc_location pnref
    gad_source gad_campaignid gs_l gs_lcp rdt_cid sccid irclickid irgwc tblci dicbo ob_click_id clickid click_id cjevent
    sznclid zanpid unicorn_click_id ef_id mkwid pcrid mkcid mkevt mkrid _trkparms _trksid trk trkinfo trkcampaign lipi
    __s ml_subscriber ml_subscriber_hash wickedid wickedsource _bta_tid _bta_c _ke _kx dm_i os_ehash nr_email_referer
    trk_contact trk_msg trk_module trk_sid bsft_clkid bsft_uid bsft_eid bsft_mid gdfms gdftrk gdffi sfmc_id
    redirect_log_mongo_id redirect_mongo_id sb_referer_host sms_click sms_source sms_uph ss_source ss_campaign_id
    ss_email_id emci emdi bxid cndid leadsource wprov amp_js_v amp_gsa usqp soc_src soc_trk vgo_ee
    utm cmpid s_cid sc_cid sc_uid sc_eh sc_customer echobox xtor xtref emc wtrid tracking_source ceneo_spo partnerid
    ga_source ga_medium ga_term ga_content ga_campaign ga_place intcmp intcid int_cmp int_source int_medium int_campaign
    cm_ven cm_cat cm_pla cm_ite cm_re cm_sp cm_cr cvosrc elq elqaid elqat elqcampaignid
    _hsenc _hsmi __hssc __hstc __hsfp hsctatracking rb_clickid s_kwcid cm_mmc elqtrack elqtrackid
    wt_mc wt_zmc wt.mc_id wt.zmc guccounter guce_referrer guce_referrer_sig _branch_match_id _branch_referrer
    pk_campaign pk_kwd pk_keyword pk_source pk_medium pk_content ns_campaign ns_mchannel ns_source ns_linkname ns_fee
    at_campaign at_campaign_type at_medium at_bbc_team at_link_id at_link_type at_link_origin at_ptr_name at_ptr_type
    at_format at_emailtype at_send_date at_recipient_id at_recipient_list
    at_custom1 at_custom2 at_custom3 at_custom4 sr_share
    spm scm spm_id_from vd_source wfr isappinstalled from_isappinstalled nsukey tdsourcetag adtag pgv_ref
    hmsr hmpl hmcu hmkw hmci bd_vid qhclickid ivk_sa sudaref tt_from tt_medium tt_campaign
    share_token share_source share_medium share_plat share_tag share_session_id sharer_sharetime sharer_shareid
    phpsessid jsessionid asp.net_sessionid cftoken oscsid aspxautodetectcookiesupport
"""
_TRACKING = frozenset(_TRACKING_NAMES.split())
SESSION_NAMES = frozenset(
    {"sid", "sess", "sessid", "session", "sessionid", "session_id", "s_id", "phpsessid", "jsessionid", "zenid"}
    | {"oscsid", "cfid", "cftoken", "token"}
)
"""Names, in lower case, of parameters that usually hold a session; `sid=7` may be a section all the same."""
_SESSION_KEYS = SESSION_NAMES - {"session", "s_id", "cfid", "token"}
_WORDED = frozenset({"from", "ocid", "ncid", "icid", "smid", "mbid", "cmp", "ito"})
"""With a word as value these state how a reader came, with a number or date the content."""
_ROUTE_KEYS = frozenset({"to", "until", "till", "end"})
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]*")
_HEX_SESSION = re.compile(r"[0-9A-Fa-f]{16,}")
_WORD_SESSION = re.compile(r"[0-9A-Za-z_-]{20,}")
_LETTER = re.compile(r"[A-Za-z]")
_DIGIT = re.compile(r"[0-9]")

_FILE_TYPE_NAMES = """
    jpg jpeg jpe jfif png gif webp avif heic svg ico bmp tif tiff psd eps ai raw
    css js mjs wasm woff woff2 ttf otf eot swf
    mp3 m4a wav wma aac ogg oga flac ape mid midi ra amr opus
    mp4 m4v m4s avi mov mkv wmv flv f4v webm mpg mpeg 3gp rm rmvb vob ogv m3u8 m3u
    pdf doc docx xls xlsx ppt pptx pps ppsx odt ods odp rtf csv wps et dps epub mobi azw3 djvu caj ofd ics vcf
    zip rar gz tgz bz2 tbz xz 7z tar zst cab iso img dmg apk ipa exe msi deb rpm jar war bin torrent
"""
_FILE_TYPES = frozenset(_FILE_TYPE_NAMES.split())
_AUTHORITY = re.compile(r"[^:/?#]+://([^/?#\\]*)")

# The snapshot of the public suffix list inside the package: no network, nothing written. Private suffixes
# (blogspot.com, github.io) count, because what stands below one of them belongs to different people. (tldextract has
# the same list, but brings a whole HTTP client into every process: a third of a second and 15 MB.)
_SUFFIXES = PublicSuffixList(accept_unknown=False)


def canonicalize(url: str, base: str | None = None) -> str | None:
    """Return the canonical form of a URL, None if it cannot name a page on the web.

    The URL is parsed as browsers do (WHATWG: scheme, host, IDNA, IPv4 spellings, default port, dot segments), then
    escapes are normalised, and tracking parameters are removed. The order of parameters stays, because servers may
    depend on it. A second application changes nothing. The result is http or https, of at most `MAX_URL_CHARS` ASCII
    characters, without credentials and fragment. A relative URL needs `base`.

    Cost: linear in the length of `url`; answers for recent absolute URLs are remembered.
    Source: WHATWG URL Standard; RFC 3986, section 6.2.2.
    Differs: unlike a browser, a trailing dot of the host is dropped, and characters which RFC 3986 forbids are escaped.
    """
    if len(url) > MAX_URL_CHARS:
        return None
    if (url[:7] != "http://" and url[:8] != "https://") or not "!" <= url[-1] <= "~":
        url = trim(url).translate(_INNER_BREAKS)
        if base is not None:
            absolute = _join(url, base)
            if absolute is None:
                return None
            url = absolute
    return _canonical(url)


def with_session(url: str, base: str) -> str | None:
    """Canonicalize a URL but keep the session in its path.

    Some servers redirect every request without a session to a URL with one, for ever.
    """
    absolute = _join(trim(url).translate(_INNER_BREAKS), base)
    return None if absolute is None or len(absolute) > MAX_URL_CHARS else _canonical(absolute, drops_sessions=False)


def trim(url: str) -> str:
    return url.strip(_TRIMMED)


def host_key(url: str) -> str:
    """Return the host of an absolute URL: `example.com`, `[::1]:8080`.

    Raises:
        ValueError: `url` has no `://`.
    """
    authority = _AUTHORITY.match(url)
    if authority is None:
        msg = f"not an absolute URL: {url!r}; canonicalize it first"
        raise ValueError(msg)
    return authority[1].rpartition("@")[2].lower()


@lru_cache(maxsize=1 << 14)
def site_key(host_key: str) -> str:
    """Return the registrable domain: `news.example.com.cn:8080` -> `example.com.cn`.

    It is the host name itself (without port) for IP addresses, local names, unknown suffixes and public suffixes.

    Cost: about 6 microseconds the first time, then a look-up.
    Source: the Public Suffix List, snapshot inside publicsuffixlist, private suffixes included.
    """
    name, _ = _split_port(host_key)
    if name.startswith("[") or _is_ipv4(name):
        return name
    return _SUFFIXES.privatesuffix(name) or name


def has_known_suffix(host_key: str) -> bool:
    """Tell whether a host's name ends in a public suffix; IP addresses count.

    >>> has_known_suffix("news.example.com"), has_known_suffix("seeds.txt")
    (True, False)
    """
    name, _ = _split_port(host_key)
    return _is_ipv4(name) or _SUFFIXES.privatesuffix(name) is not None


def is_home(url: str) -> bool:
    """Tell whether a URL is a home page.

    >>> is_home("http://h.cn/"), is_home("http://h.cn"), is_home("http://h.cn/?p=1")
    (True, True, False)
    """
    return not url.partition("//")[2].partition("/")[2] and "?" not in url


def same_host(a: str, b: str) -> bool:
    return bare_host(a) == bare_host(b)


def file_type(url: str) -> str:
    """Return the extension of a URL whose path names a file that is never a page.

    Empty for pages, feeds and sitemaps (`.xml`, `.xml.gz`, `.txt`); query and fragment are ignored.
    """
    path = url.partition("#")[0].partition("?")[0]
    folder, _, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    extension = extension.lower()
    if extension not in _FILE_TYPES or not dot or folder.endswith(":/"):
        return ""
    # A wiki's page about a picture is called File:Picture.jpg; packed sitemaps and feeds are read elsewhere.
    if ":" in stem or "%3A" in stem or (extension == "gz" and stem.lower().endswith((".xml", ".txt", ".rss"))):
        return ""
    return extension


def _join(url: str, base: str) -> str | None:
    parts = _base_parts(base)
    if parts is None:
        return None
    scheme, origin, path, folder = parts
    if scheme_match := _SCHEME.match(url):
        rest = url[scheme_match.end() :]
        # Browsers read `http:page.html` as relative when the scheme is the page's own.
        if scheme_match[1].lower() != scheme or rest.replace("\\", "/").startswith("//"):
            return url
        url = rest
    if url.startswith(("/", "\\")):
        return f"{scheme}:{url}" if url[1:2] in ("/", "\\") else origin + url
    if not url or url[0] == "#":
        return base
    return path + url if url[0] == "?" else folder + url


@lru_cache(maxsize=64)
def _base_parts(base: str) -> tuple[str, str, str, str] | None:
    try:
        parsed = can_ada.parse(base)
    except (ValueError, TypeError):
        return None
    if parsed.protocol not in ("http:", "https:"):
        return None
    path = parsed.pathname
    return parsed.protocol[:-1], parsed.origin, parsed.origin + path, parsed.origin + path[: path.rindex("/") + 1]


@lru_cache(maxsize=1 << 15)
def _canonical(url: str, *, drops_sessions: bool = True) -> str | None:
    try:
        href = can_ada.parse(url).href
    except (ValueError, TypeError):
        return None
    if not href.startswith(("http://", "https://")):
        return None
    href = href.partition("#")[0]
    start = href.index("//") + 2
    end = href.index("/", start)
    host = _clean_host(href[start:end])
    if not host:
        return None
    path, _, query = href[end:].partition("?")
    path = _normal(path)
    if drops_sessions and (";" in path or "/(" in path or "/%28" in path):
        stripped = _FOLDER_SESSION.sub("", _PATH_SESSION.sub("", path))
        if stripped != path:
            # What is left may be a dot segment now.
            return _canonical(f"{href[:start]}{host}{stripped}{'?' if query else ''}{query}")
    if query:
        query = _clean_query(query)
    clean = f"{href[:start]}{host}{path}?{query}" if query else f"{href[:start]}{host}{path}"
    if len(clean) > MAX_URL_CHARS:
        return None
    return url if clean == url else clean


def _clean_host(authority: str) -> str:
    """An authority without credentials and trailing dot, empty if impossible."""
    host, port = _split_port(authority.rpartition("@")[2])
    if port == ":0" or ".." in host or host.startswith("."):
        return ""
    host = host.removesuffix(".")
    if len(host) > 253:
        return ""
    if len(host) > 63 and any(len(label) > 63 for label in host.split(".")):
        return ""
    return host + port if host else ""


def _split_port(key: str) -> tuple[str, str]:
    if key.endswith("]"):
        return key, ""
    host, mark, port = key.rpartition(":")
    return (host, mark + port) if mark else (key, "")


def _normal(text: str) -> str:
    """Normalise the escapes of a path or query, and escape what may not stand there."""
    if "%" in text:
        # Next to a broken escape a decoded character could complete another one: then only the case is changed.
        if _BROKEN_ESCAPE.search(text):
            text = _LOWER_ESCAPE.sub(_upper_escape, text)
        else:
            text = _LOOSE_ESCAPE.sub(_write_escape, text)
    return _ILLEGAL.sub(_escape_character, text)


def _upper_escape(found: re.Match[str]) -> str:
    return found[0].upper()


def _write_escape(found: re.Match[str]) -> str:
    """Decode an escape of an unreserved character, else write its digits in capitals."""
    character = chr(int(found[0][1:], 16))
    return character if character in _UNRESERVED else found[0].upper()


def _escape_character(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"


def _clean_query(query: str) -> str:
    # Each pair by itself: whether one is decoded must not depend on another, which may be dropped.
    pairs = [_normal(pair) for pair in query.split("&")] if "%" in query else _normal(query).split("&")
    keys = [pair.partition("=")[0].lower() for pair in pairs]
    kept_pairs = [
        pair for pair, key in zip(pairs, keys, strict=True) if pair and not _is_noise(key, pair[len(key) + 1 :], keys)
    ]
    return "&".join(dict.fromkeys(kept_pairs) if len(kept_pairs) > 1 else kept_pairs)


def _is_noise(key: str, value: str, keys: list[str]) -> bool:
    if key in _TRACKING or key.startswith(_TRACKING_PREFIXES):
        return True
    if key in _WORDED:
        # from=timeline says who shared it; from=2024-01-01 and from=paris&to=rome choose what is shown.
        return _WORD.fullmatch(value) is not None and (key != "from" or _ROUTE_KEYS.isdisjoint(keys))
    if key in _SESSION_KEYS:
        return _is_session(value)
    if key == "cfid":
        return "cftoken" in keys
    return key == "s" and len(value) == 32 and _HEX_SESSION.fullmatch(value) is not None and _is_session(value)


def _is_session(value: str) -> bool:
    if not (_HEX_SESSION.fullmatch(value) or _WORD_SESSION.fullmatch(value)):
        return False
    return _LETTER.search(value) is not None and _DIGIT.search(value) is not None


def _is_ipv4(name: str) -> bool:
    try:
        IPv4Address(name)
    except AddressValueError:
        return False
    return True


def bare_host(key: str) -> str:
    if "://" in key:
        key = host_key(key)
    key = key.lower()
    rest = key.removeprefix("www.")
    return rest if "." in rest else key
