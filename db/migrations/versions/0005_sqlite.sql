CREATE TABLE budget (
    id INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    granted BIGINT,
    run_pages INTEGER DEFAULT '0' NOT NULL,
    day INTEGER DEFAULT '0' NOT NULL,
    day_pages INTEGER DEFAULT '0' NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE elsewhere (
    article_id BIGINT NOT NULL,
    of_id BIGINT NOT NULL,
    of_url TEXT NOT NULL,
    of_at TEXT NOT NULL,
    shard SMALLINT NOT NULL,
    similarity FLOAT NOT NULL,
    method TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (article_id)
);
CREATE TABLE inbox (
    number INTEGER NOT NULL,
    shard SMALLINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (number)
);
CREATE TABLE outbox (
    number INTEGER NOT NULL,
    shard SMALLINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (number)
);
CREATE INDEX ix_outbox_shard ON outbox (shard);
CREATE TABLE run (
    id INTEGER NOT NULL,
    started TEXT NOT NULL,
    finished TEXT,
    outcome TEXT,
    exit_code INTEGER,
    machine TEXT NOT NULL,
    pid INTEGER NOT NULL,
    place TEXT DEFAULT '' NOT NULL,
    alive_until FLOAT NOT NULL,
    hosts INTEGER DEFAULT '0' NOT NULL,
    pages_per_second FLOAT DEFAULT '0' NOT NULL,
    settings TEXT NOT NULL,
    seeds TEXT DEFAULT '' NOT NULL,
    totals TEXT,
    PRIMARY KEY (id)
);
CREATE TABLE seed (
    id BIGINT NOT NULL,
    url TEXT NOT NULL,
    stay VARCHAR(4) NOT NULL,
    depth INTEGER,
    pages INTEGER,
    topic TEXT DEFAULT '' NOT NULL,
    include TEXT DEFAULT '' NOT NULL,
    exclude TEXT DEFAULT '' NOT NULL,
    since TEXT DEFAULT '' NOT NULL,
    bare SMALLINT DEFAULT '0' NOT NULL,
    given SMALLINT DEFAULT '1' NOT NULL,
    hosts TEXT NOT NULL,
    used INTEGER DEFAULT '0' NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE shard (
    number SMALLINT NOT NULL,
    is_own SMALLINT NOT NULL,
    crawl TEXT NOT NULL,
    sent BIGINT DEFAULT '0' NOT NULL,
    received BIGINT DEFAULT '0' NOT NULL,
    last_batch TEXT DEFAULT '' NOT NULL,
    granted BIGINT DEFAULT '0' NOT NULL,
    PRIMARY KEY (number)
);
CREATE TABLE signature (
    number BIGINT NOT NULL,
    article_id BIGINT NOT NULL,
    cluster BIGINT NOT NULL,
    day INTEGER NOT NULL,
    length INTEGER NOT NULL,
    features BLOB NOT NULL,
    fresh BLOB,
    PRIMARY KEY (number)
);
CREATE INDEX ix_signature_article_id ON signature (article_id);
CREATE INDEX ix_signature_member ON signature (cluster) WHERE fresh IS NOT NULL;
CREATE TABLE signature_form (
    id INTEGER NOT NULL,
    form TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE site (
    id BIGINT NOT NULL,
    name TEXT NOT NULL,
    first_seen TEXT NOT NULL,
    originals INTEGER DEFAULT '0' NOT NULL,
    reprints INTEGER DEFAULT '0' NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE suspect (
    article_id BIGINT NOT NULL,
    of_id BIGINT NOT NULL,
    shard SMALLINT NOT NULL,
    PRIMARY KEY (article_id, of_id)
);
CREATE INDEX ix_suspect_shard ON suspect (shard);
CREATE TABLE text_key (
    "key" BIGINT NOT NULL,
    article_id BIGINT NOT NULL,
    shard SMALLINT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY ("key", article_id)
);
CREATE TABLE host (
    id BIGINT NOT NULL,
    site_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    scheme VARCHAR(5) NOT NULL,
    answer_seconds FLOAT,
    robots VARCHAR(12) DEFAULT 'unknown' NOT NULL,
    robots_text TEXT,
    robots_at FLOAT,
    ready_at FLOAT DEFAULT '0' NOT NULL,
    pages INTEGER DEFAULT '0' NOT NULL,
    articles INTEGER DEFAULT '0' NOT NULL,
    failures INTEGER DEFAULT '0' NOT NULL,
    backoffs SMALLINT DEFAULT '0' NOT NULL,
    backoff_until FLOAT DEFAULT '0' NOT NULL,
    dead_reason TEXT,
    queued SMALLINT DEFAULT '0' NOT NULL,
    owner BIGINT,
    PRIMARY KEY (id),
    FOREIGN KEY(owner) REFERENCES run (id),
    FOREIGN KEY(site_id) REFERENCES site (id)
);
CREATE INDEX ix_host_notified ON host (owner) WHERE queued = 2;
CREATE INDEX ix_host_queued ON host (owner) WHERE queued = 1;
CREATE INDEX ix_host_site_id ON host (site_id);
CREATE TABLE run_sample (
    run_id BIGINT NOT NULL,
    at FLOAT NOT NULL,
    pages INTEGER NOT NULL,
    articles INTEGER NOT NULL,
    duplicates INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    bytes BIGINT NOT NULL,
    queued INTEGER,
    reasons TEXT NOT NULL,
    PRIMARY KEY (run_id, at),
    FOREIGN KEY(run_id) REFERENCES run (id) DEFERRABLE INITIALLY DEFERRED
)
 WITHOUT ROWID;
CREATE TABLE source_attribution (
    site_id BIGINT NOT NULL,
    source TEXT NOT NULL,
    articles INTEGER NOT NULL,
    PRIMARY KEY (site_id, source),
    FOREIGN KEY(site_id) REFERENCES site (id) DEFERRABLE INITIALLY DEFERRED
)
 WITHOUT ROWID;
CREATE TABLE alarm (
    host_id BIGINT NOT NULL,
    kind VARCHAR(12) NOT NULL,
    since TEXT NOT NULL,
    until TEXT,
    text TEXT NOT NULL,
    evidence TEXT NOT NULL,
    PRIMARY KEY (host_id, kind, since),
    FOREIGN KEY(host_id) REFERENCES host (id)
);
CREATE TABLE host_health (
    host_id BIGINT NOT NULL,
    answers INTEGER NOT NULL,
    state TEXT NOT NULL,
    updated TEXT NOT NULL,
    PRIMARY KEY (host_id),
    FOREIGN KEY(host_id) REFERENCES host (id)
);
CREATE TABLE outside (
    id BIGINT NOT NULL,
    host_id BIGINT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(host_id) REFERENCES host (id)
)
 WITHOUT ROWID;
CREATE TABLE site_memory (
    host_id BIGINT NOT NULL,
    pages INTEGER NOT NULL,
    state BLOB NOT NULL,
    PRIMARY KEY (host_id),
    FOREIGN KEY(host_id) REFERENCES host (id)
);
CREATE TABLE url (
    id BIGINT NOT NULL,
    url TEXT NOT NULL,
    host_id BIGINT NOT NULL,
    seed_id BIGINT,
    kind VARCHAR(7) NOT NULL,
    state VARCHAR(7) NOT NULL,
    state_before VARCHAR(7),
    reason TEXT,
    reason_detail TEXT,
    page_kind VARCHAR(8),
    depth INTEGER NOT NULL,
    score FLOAT NOT NULL,
    score_parts TEXT,
    found_on BIGINT,
    found_in SMALLINT NOT NULL,
    anchor TEXT,
    found_at FLOAT NOT NULL,
    dated FLOAT,
    leased_by BIGINT,
    tries INTEGER DEFAULT '0' NOT NULL,
    hops INTEGER DEFAULT '0' NOT NULL,
    http_status INTEGER,
    fetched_at FLOAT,
    etag TEXT,
    last_modified TEXT,
    next_visit FLOAT,
    visits INTEGER DEFAULT '0' NOT NULL,
    watched FLOAT DEFAULT '0' NOT NULL,
    named FLOAT DEFAULT '0' NOT NULL,
    brought FLOAT DEFAULT '0' NOT NULL,
    unread SMALLINT DEFAULT '0' NOT NULL,
    changed_at FLOAT,
    same_as BIGINT,
    PRIMARY KEY (id),
    FOREIGN KEY(found_on) REFERENCES url (id),
    FOREIGN KEY(same_as) REFERENCES url (id),
    FOREIGN KEY(host_id) REFERENCES host (id),
    FOREIGN KEY(leased_by) REFERENCES run (id),
    FOREIGN KEY(seed_id) REFERENCES seed (id)
);
CREATE INDEX ix_url_again ON url (next_visit) WHERE state <> 'pending' AND next_visit IS NOT NULL;
CREATE INDEX ix_url_due ON url (next_visit) WHERE state = 'pending' AND next_visit IS NOT NULL;
CREATE INDEX ix_url_feeds ON url (host_id) WHERE kind IN ('feed', 'sitemap');
CREATE INDEX ix_url_fetched_at ON url (fetched_at) WHERE fetched_at IS NOT NULL;
CREATE INDEX ix_url_found_at ON url (found_at);
CREATE INDEX ix_url_host_fetched ON url (host_id, fetched_at) WHERE fetched_at IS NOT NULL;
CREATE INDEX ix_url_leased ON url (leased_by) WHERE state = 'leased';
CREATE INDEX ix_url_outside ON url (found_at) WHERE state = 'skipped' AND reason = 'outside';
CREATE INDEX ix_url_queue ON url (host_id, score DESC, found_at) WHERE state = 'pending';
CREATE INDEX ix_url_reconsidered ON url (host_id) WHERE state = 'skipped' AND reason IN ('robots unreachable', 'crawl-delay too long', 'host unreachable', 'host busy', 'IP address not allowed');
CREATE INDEX ix_url_rests ON url (seed_id) WHERE state = 'skipped' AND reason = 'not in seeds';
CREATE INDEX ix_url_ruled ON url (host_id) WHERE reason = 'url rule';
CREATE INDEX ix_url_same_as ON url (same_as) WHERE same_as IS NOT NULL;
CREATE INDEX ix_url_too_deep ON url (seed_id, depth) WHERE state = 'skipped' AND reason = 'too deep';
CREATE INDEX ix_url_trapped ON url (host_id, id) WHERE state = 'skipped' AND reason = 'trap';
CREATE INDEX ix_url_unread ON url (unread) WHERE unread > 0;
CREATE TABLE url_count (
    state VARCHAR(7) NOT NULL,
    host_id BIGINT NOT NULL,
    reason TEXT NOT NULL,
    depth SMALLINT NOT NULL,
    connection INTEGER NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (state, host_id, reason, depth, connection),
    FOREIGN KEY(host_id) REFERENCES host (id)
)
 WITHOUT ROWID;
CREATE TABLE url_pattern (
    host_id BIGINT NOT NULL,
    level SMALLINT NOT NULL,
    pattern TEXT NOT NULL,
    pages INTEGER NOT NULL,
    brought INTEGER NOT NULL,
    reached INTEGER NOT NULL,
    unproductive FLOAT NOT NULL,
    grown INTEGER NOT NULL,
    kind VARCHAR(20) NOT NULL,
    blocked_at FLOAT NOT NULL,
    why TEXT NOT NULL,
    example TEXT NOT NULL,
    PRIMARY KEY (host_id, level, pattern),
    FOREIGN KEY(host_id) REFERENCES host (id)
);
CREATE TABLE url_rule (
    host_id BIGINT NOT NULL,
    kind VARCHAR(9) NOT NULL,
    pattern TEXT NOT NULL,
    support INTEGER NOT NULL,
    against INTEGER NOT NULL,
    confidence FLOAT NOT NULL,
    used SMALLINT NOT NULL,
    example TEXT NOT NULL,
    PRIMARY KEY (host_id, kind, pattern),
    FOREIGN KEY(host_id) REFERENCES host (id)
);
CREATE TABLE article (
    id BIGINT NOT NULL,
    site_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    title TEXT NOT NULL,
    authors TEXT NOT NULL,
    source TEXT NOT NULL,
    published_at TEXT,
    published_utc TEXT,
    published_precision VARCHAR(6),
    published_from VARCHAR(8),
    language VARCHAR(8) NOT NULL,
    text TEXT NOT NULL,
    html TEXT NOT NULL,
    description TEXT NOT NULL,
    tags TEXT NOT NULL,
    section TEXT NOT NULL,
    keywords TEXT DEFAULT '' NOT NULL,
    summary TEXT DEFAULT '' NOT NULL,
    classes TEXT DEFAULT '' NOT NULL,
    harm FLOAT,
    harm_kind VARCHAR(8) DEFAULT '' NOT NULL,
    described_with TEXT DEFAULT '' NOT NULL,
    kind VARCHAR(8) DEFAULT 'article' NOT NULL,
    quality FLOAT NOT NULL,
    relevance FLOAT,
    extractor TEXT NOT NULL,
    extractor_version TEXT DEFAULT '' NOT NULL,
    checked_with TEXT DEFAULT '' NOT NULL,
    text_hash BIGINT NOT NULL,
    text_chars INTEGER NOT NULL,
    cluster_id BIGINT NOT NULL,
    duplicate_of BIGINT,
    text_holder BIGINT,
    gone TEXT,
    first_seen TEXT NOT NULL,
    updated TEXT NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT fk_article_cluster FOREIGN KEY(cluster_id) REFERENCES cluster (id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY(text_holder) REFERENCES article (id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY(id) REFERENCES url (id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY(duplicate_of) REFERENCES article (id),
    FOREIGN KEY(site_id) REFERENCES site (id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX ix_article_cluster_id ON article (cluster_id);
CREATE INDEX ix_article_newest ON article (published_utc DESC);
CREATE INDEX ix_article_number ON article (number);
CREATE INDEX ix_article_site_newest ON article (site_id, published_utc DESC);
CREATE INDEX ix_article_text_hash ON article (text_hash);
CREATE INDEX ix_article_text_holder ON article (text_holder) WHERE text_holder IS NOT NULL;
CREATE TABLE link (
    source BIGINT NOT NULL,
    target BIGINT NOT NULL,
    block SMALLINT NOT NULL,
    PRIMARY KEY (source, target),
    FOREIGN KEY(source) REFERENCES url (id)
)
 WITHOUT ROWID;
CREATE TABLE page (
    url_id BIGINT NOT NULL,
    fetched_at FLOAT NOT NULL,
    content_type TEXT NOT NULL,
    encoding TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (url_id, fetched_at),
    FOREIGN KEY(url_id) REFERENCES url (id)
);
CREATE INDEX ix_page_fetched_at ON page (fetched_at);
CREATE TABLE page_terms (
    url_id BIGINT NOT NULL,
    relevance FLOAT NOT NULL,
    terms BLOB NOT NULL,
    PRIMARY KEY (url_id),
    FOREIGN KEY(url_id) REFERENCES url (id)
);
CREATE TABLE part (
    id BIGINT NOT NULL,
    group_id BIGINT NOT NULL,
    first_id BIGINT NOT NULL,
    position SMALLINT NOT NULL,
    joined SMALLINT NOT NULL,
    number SMALLINT NOT NULL,
    next_id BIGINT,
    previous_id BIGINT,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    html TEXT NOT NULL,
    text_hash BIGINT NOT NULL,
    rest TEXT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(id) REFERENCES url (id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY(first_id) REFERENCES url (id)
);
CREATE INDEX ix_part_group_id ON part (group_id);
CREATE INDEX ix_part_next_id ON part (next_id);
CREATE INDEX ix_part_previous_id ON part (previous_id);
CREATE INDEX ix_part_waiting ON part (group_id) WHERE joined = 0;
CREATE TABLE url_form (
    id BIGINT NOT NULL,
    host_id BIGINT NOT NULL,
    url_id BIGINT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(host_id) REFERENCES host (id),
    FOREIGN KEY(url_id) REFERENCES url (id)
);
CREATE INDEX ix_url_form_host_id ON url_form (host_id);
CREATE TABLE article_class (
    article_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    membership FLOAT NOT NULL,
    PRIMARY KEY (article_id, name),
    FOREIGN KEY(article_id) REFERENCES article (id) DEFERRABLE INITIALLY DEFERRED
);
CREATE TABLE article_version (
    article_id BIGINT NOT NULL,
    seen TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (article_id, seen),
    FOREIGN KEY(article_id) REFERENCES article (id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX ix_article_version_seen ON article_version (seen);
CREATE TABLE cluster (
    id BIGINT NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(id) REFERENCES article (id) DEFERRABLE INITIALLY DEFERRED
);
CREATE TABLE duplicate (
    article_id BIGINT NOT NULL,
    of_id BIGINT NOT NULL,
    similarity FLOAT NOT NULL,
    method TEXT NOT NULL,
    kind TEXT NOT NULL,
    own SMALLINT DEFAULT '0' NOT NULL,
    PRIMARY KEY (article_id, of_id),
    FOREIGN KEY(article_id) REFERENCES url (id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY(of_id) REFERENCES article (id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX ix_duplicate_of_id ON duplicate (of_id);
CREATE TABLE image (
    article_id BIGINT NOT NULL,
    position INTEGER NOT NULL,
    url TEXT NOT NULL,
    caption TEXT NOT NULL,
    PRIMARY KEY (article_id, position),
    FOREIGN KEY(article_id) REFERENCES article (id) DEFERRABLE INITIALLY DEFERRED
);
CREATE TABLE search_document (
    number BIGINT NOT NULL,
    article_id BIGINT,
    site_id BIGINT NOT NULL,
    cluster_id BIGINT NOT NULL,
    time BIGINT NOT NULL,
    day INTEGER NOT NULL,
    language VARCHAR(8) NOT NULL,
    source TEXT NOT NULL,
    section TEXT NOT NULL,
    classes TEXT DEFAULT '' NOT NULL,
    terms BLOB NOT NULL,
    words TEXT,
    PRIMARY KEY (number),
    UNIQUE (article_id),
    FOREIGN KEY(article_id) REFERENCES article (id),
    FOREIGN KEY(site_id) REFERENCES site (id)
);
CREATE INDEX ix_search_document_words ON search_document (words);
CREATE VIRTUAL TABLE search_words
USING fts5(words, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '._'");
