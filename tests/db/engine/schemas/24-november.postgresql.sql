CREATE FUNCTION url_added() RETURNS trigger
    LANGUAGE plpgsql
    AS $$BEGIN INSERT INTO url_count (state, host_id, reason, depth, connection, n)
SELECT batch.state, batch.host_id,
CASE WHEN batch.reason IS NULL THEN ''
     WHEN batch.reason_detail IS NULL OR batch.reason IN ('too old', 'too new') THEN batch.reason
     ELSE batch.reason || ': ' || batch.reason_detail END,
CASE WHEN batch.state <> 'pending' THEN -1 WHEN batch.depth > 20 THEN 20 ELSE batch.depth END, pg_backend_pid(), count(*) FROM batch GROUP BY 1, 2, 3, 4 ON CONFLICT (state, host_id, reason, depth, connection)
DO UPDATE SET n = url_count.n + excluded.n; RETURN NULL; END$$;
CREATE FUNCTION url_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$BEGIN INSERT INTO url_count (state, host_id, reason, depth, connection, n)
SELECT old.state, old.host_id,
CASE WHEN old.reason IS NULL THEN ''
     WHEN old.reason_detail IS NULL OR old.reason IN ('too old', 'too new') THEN old.reason
     ELSE old.reason || ': ' || old.reason_detail END,
CASE WHEN old.state <> 'pending' THEN -1 WHEN old.depth > 20 THEN 20 ELSE old.depth END, pg_backend_pid(), -1  ON CONFLICT (state, host_id, reason, depth, connection)
DO UPDATE SET n = url_count.n + excluded.n; INSERT INTO url_count (state, host_id, reason, depth, connection, n)
SELECT new.state, new.host_id,
CASE WHEN new.reason IS NULL THEN ''
     WHEN new.reason_detail IS NULL OR new.reason IN ('too old', 'too new') THEN new.reason
     ELSE new.reason || ': ' || new.reason_detail END,
CASE WHEN new.state <> 'pending' THEN -1 WHEN new.depth > 20 THEN 20 ELSE new.depth END, pg_backend_pid(), 1  ON CONFLICT (state, host_id, reason, depth, connection)
DO UPDATE SET n = url_count.n + excluded.n; RETURN NULL; END$$;
CREATE FUNCTION url_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$BEGIN INSERT INTO url_count (state, host_id, reason, depth, connection, n)
SELECT batch.state, batch.host_id,
CASE WHEN batch.reason IS NULL THEN ''
     WHEN batch.reason_detail IS NULL OR batch.reason IN ('too old', 'too new') THEN batch.reason
     ELSE batch.reason || ': ' || batch.reason_detail END,
CASE WHEN batch.state <> 'pending' THEN -1 WHEN batch.depth > 20 THEN 20 ELSE batch.depth END, pg_backend_pid(), -count(*) FROM batch GROUP BY 1, 2, 3, 4 ON CONFLICT (state, host_id, reason, depth, connection)
DO UPDATE SET n = url_count.n + excluded.n; RETURN NULL; END$$;
CREATE TABLE article (
    id bigint NOT NULL,
    site_id bigint NOT NULL,
    number bigint NOT NULL,
    title text NOT NULL,
    authors text NOT NULL,
    source text NOT NULL,
    published_at text,
    published_utc text,
    published_precision character varying(6),
    published_from character varying(8),
    language character varying(8) NOT NULL,
    text text NOT NULL,
    html text NOT NULL,
    description text NOT NULL,
    tags text NOT NULL,
    section text NOT NULL,
    keywords text DEFAULT ''::text NOT NULL,
    summary text DEFAULT ''::text NOT NULL,
    classes text DEFAULT ''::text NOT NULL,
    harm double precision,
    harm_kind character varying(8) DEFAULT ''::character varying NOT NULL,
    described_with text DEFAULT ''::text NOT NULL,
    kind character varying(8) DEFAULT 'article'::character varying NOT NULL,
    quality double precision NOT NULL,
    relevance double precision,
    extractor text NOT NULL,
    extractor_version text DEFAULT ''::text NOT NULL,
    checked_with text DEFAULT ''::text NOT NULL,
    text_hash bigint NOT NULL,
    text_chars integer NOT NULL,
    cluster_id bigint NOT NULL,
    duplicate_of bigint,
    text_holder bigint,
    gone text,
    first_seen text NOT NULL,
    updated text NOT NULL
);
CREATE TABLE duplicate (
    article_id bigint NOT NULL,
    of_id bigint NOT NULL,
    similarity double precision NOT NULL,
    method text NOT NULL,
    kind text NOT NULL,
    own smallint DEFAULT '0'::smallint NOT NULL
);
CREATE TABLE elsewhere (
    article_id bigint NOT NULL,
    of_id bigint NOT NULL,
    of_url text NOT NULL,
    of_at text NOT NULL,
    shard smallint NOT NULL,
    similarity double precision NOT NULL,
    method text NOT NULL,
    kind text NOT NULL
);
CREATE TABLE site (
    id bigint NOT NULL,
    name text NOT NULL,
    first_seen text NOT NULL,
    originals integer DEFAULT 0 NOT NULL,
    reprints integer DEFAULT 0 NOT NULL
);
CREATE TABLE url (
    id bigint NOT NULL,
    url text NOT NULL,
    host_id bigint NOT NULL,
    seed_id bigint,
    kind character varying(7) NOT NULL,
    state character varying(7) NOT NULL,
    state_before character varying(7),
    reason text,
    reason_detail text,
    page_kind character varying(8),
    depth integer NOT NULL,
    score double precision NOT NULL,
    score_parts text,
    found_on bigint,
    found_in smallint NOT NULL,
    anchor text,
    found_at double precision NOT NULL,
    dated double precision,
    leased_by bigint,
    tries integer DEFAULT 0 NOT NULL,
    hops integer DEFAULT 0 NOT NULL,
    http_status integer,
    fetched_at double precision,
    etag text,
    last_modified text,
    next_visit double precision,
    visits integer DEFAULT 0 NOT NULL,
    watched double precision DEFAULT '0'::double precision NOT NULL,
    named double precision DEFAULT '0'::double precision NOT NULL,
    brought double precision DEFAULT '0'::double precision NOT NULL,
    unread smallint DEFAULT '0'::smallint NOT NULL,
    changed_at double precision,
    same_as bigint
);
CREATE VIEW v_articles AS
 SELECT (a.id)::text AS id,
    u.url,
    a.title,
    a.authors,
    a.source,
    a.published_at,
    a.published_utc,
    a.language,
        CASE
            WHEN (a.text_holder IS NULL) THEN a.text
            ELSE COALESCE(h.text, ''::text)
        END AS text,
    s.name AS site,
    a.first_seen,
    to_char((to_timestamp(u.fetched_at) AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'::text) AS fetched_at,
    COALESCE(ou.url, e.of_url) AS duplicate_of,
    COALESCE(e.similarity, d.similarity) AS similarity,
    COALESCE(e.method, d.method) AS duplicate_method,
    COALESCE(e.kind, d.kind) AS duplicate_kind,
    COALESCE(e.of_url, su.url) AS similar_to,
    a.published_precision,
    a.published_from,
    a.description,
    a.tags,
    a.section,
    a.quality,
    a.extractor,
    a.extractor_version,
    a.text_chars,
    a.updated,
    a.relevance,
    a.gone,
    a.kind,
    a.number,
    a.keywords,
    a.summary,
    a.classes,
    a.harm,
    a.harm_kind
   FROM (((((((article a
     LEFT JOIN url u ON ((u.id = a.id)))
     LEFT JOIN site s ON ((s.id = a.site_id)))
     LEFT JOIN url ou ON ((ou.id = a.duplicate_of)))
     LEFT JOIN article h ON ((h.id = a.text_holder)))
     LEFT JOIN duplicate d ON ((d.article_id = a.id)))
     LEFT JOIN url su ON ((su.id = d.of_id)))
     LEFT JOIN elsewhere e ON ((e.article_id = a.id)))
  ORDER BY a.published_utc DESC NULLS LAST;
CREATE VIEW _articles AS
 SELECT id,
    url,
    title,
    authors,
    source,
    published_at,
    published_utc,
    language,
    text,
    site,
    first_seen,
    fetched_at,
    duplicate_of,
    similarity,
    duplicate_method,
    duplicate_kind,
    similar_to,
    published_precision,
    published_from,
    description,
    tags,
    section,
    quality,
    extractor,
    extractor_version,
    text_chars,
    updated,
    relevance,
    gone,
    kind,
    number,
    keywords,
    summary,
    classes,
    harm,
    harm_kind
   FROM v_articles;
CREATE TABLE host (
    id bigint NOT NULL,
    site_id bigint NOT NULL,
    name text NOT NULL,
    scheme character varying(5) NOT NULL,
    answer_seconds double precision,
    robots character varying(12) DEFAULT 'unknown'::character varying NOT NULL,
    robots_text text,
    robots_at double precision,
    ready_at double precision DEFAULT '0'::double precision NOT NULL,
    pages integer DEFAULT 0 NOT NULL,
    articles integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    backoffs smallint DEFAULT '0'::smallint NOT NULL,
    backoff_until double precision DEFAULT '0'::double precision NOT NULL,
    dead_reason text,
    queued smallint DEFAULT '0'::smallint NOT NULL,
    owner bigint
);
CREATE VIEW v_dropped AS
 SELECT (u.id)::text AS id,
    u.url,
    u.state,
    u.reason,
    u.reason_detail,
    u.http_status,
    t.url AS same_as,
    f.url AS found_on,
    u.anchor,
    h.name AS host,
    u.depth,
    to_char((to_timestamp(u.found_at) AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'::text) AS first_seen,
    to_char((to_timestamp(u.fetched_at) AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'::text) AS fetched_at,
    u.page_kind AS kind
   FROM (((url u
     LEFT JOIN host h ON ((h.id = u.host_id)))
     LEFT JOIN url t ON ((t.id = u.same_as)))
     LEFT JOIN url f ON ((f.id = u.found_on)))
  WHERE ((u.reason IS NOT NULL) AND (NOT ((u.reason = 'list page'::text) AND (EXISTS ( SELECT 1
           FROM article a
          WHERE (a.id = u.id))))))
  ORDER BY u.found_at DESC;
CREATE VIEW _dropped AS
 SELECT id,
    url,
    state,
    reason,
    reason_detail,
    http_status,
    same_as,
    found_on,
    anchor,
    host,
    depth,
    first_seen,
    fetched_at,
    kind
   FROM v_dropped;
CREATE TABLE url_count (
    state character varying(7) NOT NULL,
    host_id bigint NOT NULL,
    reason text NOT NULL,
    depth smallint NOT NULL,
    connection integer NOT NULL,
    n bigint NOT NULL
)
WITH (fillfactor='50');
CREATE VIEW v_sites AS
 SELECT (s.id)::text AS id,
    s.name AS site,
    ( SELECT count(*) AS count
           FROM article a
          WHERE (a.site_id = s.id)) AS articles,
    ( SELECT count(*) AS count
           FROM article a
          WHERE ((a.site_id = s.id) AND (a.duplicate_of IS NOT NULL))) AS duplicates,
    ( SELECT a.published_at
           FROM article a
          WHERE (a.site_id = s.id)
          ORDER BY a.published_utc DESC NULLS LAST
         LIMIT 1) AS newest_article,
    ( SELECT max(a.published_utc) AS max
           FROM article a
          WHERE (a.site_id = s.id)) AS newest_utc,
    c.urls_done,
    c.urls_waiting,
    c.urls_failed,
    c.urls_skipped,
    s.first_seen,
    to_char((to_timestamp(c.fetched_at) AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'::text) AS fetched_at
   FROM (site s
     JOIN ( SELECT h.site_id,
            max(h.fetched_at) AS fetched_at,
            (sum(
                CASE
                    WHEN ((k.state)::text = 'done'::text) THEN k.n
                    ELSE (0)::bigint
                END))::bigint AS urls_done,
            (sum(
                CASE
                    WHEN ((k.state)::text = ANY ((ARRAY['pending'::character varying, 'leased'::character varying])::text[])) THEN k.n
                    ELSE (0)::bigint
                END))::bigint AS urls_waiting,
            (sum(
                CASE
                    WHEN ((k.state)::text = 'failed'::text) THEN k.n
                    ELSE (0)::bigint
                END))::bigint AS urls_failed,
            (sum(
                CASE
                    WHEN ((k.state)::text = 'skipped'::text) THEN k.n
                    ELSE (0)::bigint
                END))::bigint AS urls_skipped
           FROM (( SELECT host.id,
                    host.site_id,
                    ( SELECT max(u.fetched_at) AS max
                           FROM url u
                          WHERE ((u.host_id = host.id) AND (u.fetched_at IS NOT NULL))) AS fetched_at
                   FROM host) h
             JOIN url_count k ON ((k.host_id = h.id)))
          GROUP BY h.site_id
         HAVING (max(h.fetched_at) IS NOT NULL)) c ON ((c.site_id = s.id)))
  ORDER BY ( SELECT max(a.published_utc) AS max
           FROM article a
          WHERE (a.site_id = s.id)) DESC NULLS LAST, s.name;
CREATE VIEW _sites AS
 SELECT id,
    site,
    articles,
    duplicates,
    newest_article,
    newest_utc,
    urls_done,
    urls_waiting,
    urls_failed,
    urls_skipped,
    first_seen,
    fetched_at
   FROM v_sites;
CREATE TABLE alarm (
    host_id bigint NOT NULL,
    kind character varying(12) NOT NULL,
    since text NOT NULL,
    until text,
    text text NOT NULL,
    evidence text NOT NULL
);
CREATE TABLE alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE article_class (
    article_id bigint NOT NULL,
    name text NOT NULL,
    membership double precision NOT NULL
);
CREATE TABLE article_version (
    article_id bigint NOT NULL,
    seen text NOT NULL,
    title text NOT NULL,
    text text NOT NULL
);
CREATE TABLE budget (
    id integer NOT NULL,
    pages integer NOT NULL,
    granted bigint,
    run_pages integer DEFAULT 0 NOT NULL,
    day integer DEFAULT 0 NOT NULL,
    day_pages integer DEFAULT 0 NOT NULL
);
CREATE TABLE cluster (
    id bigint NOT NULL,
    size integer NOT NULL
);
CREATE TABLE host_health (
    host_id bigint NOT NULL,
    answers integer NOT NULL,
    state text NOT NULL,
    updated text NOT NULL
);
CREATE TABLE image (
    article_id bigint NOT NULL,
    "position" integer NOT NULL,
    url text NOT NULL,
    caption text NOT NULL
);
CREATE TABLE inbox (
    number bigint NOT NULL,
    shard smallint NOT NULL,
    body text NOT NULL
);
CREATE SEQUENCE inbox_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE inbox_number_seq OWNED BY inbox.number;
CREATE TABLE link (
    source bigint NOT NULL,
    target bigint NOT NULL,
    block smallint NOT NULL
);
CREATE TABLE outbox (
    number bigint NOT NULL,
    shard smallint NOT NULL,
    body text NOT NULL
);
CREATE SEQUENCE outbox_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE outbox_number_seq OWNED BY outbox.number;
CREATE TABLE outside (
    id bigint NOT NULL,
    host_id bigint NOT NULL
);
CREATE TABLE page (
    url_id bigint NOT NULL,
    fetched_at double precision NOT NULL,
    content_type text NOT NULL,
    encoding text NOT NULL,
    body bytea NOT NULL
)
PARTITION BY RANGE (fetched_at);
CREATE TABLE page_2026_11 (
    url_id bigint CONSTRAINT page_url_id_not_null NOT NULL,
    fetched_at double precision CONSTRAINT page_fetched_at_not_null NOT NULL,
    content_type text CONSTRAINT page_content_type_not_null NOT NULL,
    encoding text CONSTRAINT page_encoding_not_null NOT NULL,
    body bytea CONSTRAINT page_body_not_null NOT NULL
);
CREATE TABLE page_terms (
    url_id bigint NOT NULL,
    relevance double precision NOT NULL,
    terms bytea NOT NULL
);
CREATE TABLE part (
    id bigint NOT NULL,
    group_id bigint NOT NULL,
    first_id bigint NOT NULL,
    "position" smallint NOT NULL,
    joined smallint NOT NULL,
    number smallint NOT NULL,
    next_id bigint,
    previous_id bigint,
    title text NOT NULL,
    text text NOT NULL,
    html text NOT NULL,
    text_hash bigint NOT NULL,
    rest text NOT NULL
);
CREATE TABLE run (
    id bigint NOT NULL,
    started text NOT NULL,
    finished text,
    outcome text,
    exit_code integer,
    machine text NOT NULL,
    pid integer NOT NULL,
    place text DEFAULT ''::text NOT NULL,
    alive_until double precision NOT NULL,
    hosts integer DEFAULT 0 NOT NULL,
    pages_per_second double precision DEFAULT '0'::double precision NOT NULL,
    settings text NOT NULL,
    seeds text DEFAULT ''::text NOT NULL,
    totals text
);
CREATE SEQUENCE run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE run_id_seq OWNED BY run.id;
CREATE TABLE run_sample (
    run_id bigint NOT NULL,
    at double precision NOT NULL,
    pages integer NOT NULL,
    articles integer NOT NULL,
    duplicates integer NOT NULL,
    failed integer NOT NULL,
    bytes bigint NOT NULL,
    queued integer,
    reasons text NOT NULL
);
CREATE TABLE search_document (
    number bigint NOT NULL,
    article_id bigint,
    site_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    "time" bigint NOT NULL,
    day integer NOT NULL,
    language character varying(8) NOT NULL,
    source text NOT NULL,
    section text NOT NULL,
    classes text DEFAULT ''::text NOT NULL,
    terms bytea NOT NULL,
    words tsvector
)
WITH (toast_tuple_target='4080');
CREATE TABLE seed (
    id bigint NOT NULL,
    url text NOT NULL,
    stay character varying(4) NOT NULL,
    depth integer,
    pages integer,
    topic text DEFAULT ''::text NOT NULL,
    include text DEFAULT ''::text NOT NULL,
    exclude text DEFAULT ''::text NOT NULL,
    since text DEFAULT ''::text NOT NULL,
    bare smallint DEFAULT '0'::smallint NOT NULL,
    given smallint DEFAULT '1'::smallint NOT NULL,
    hosts text NOT NULL,
    used integer DEFAULT 0 NOT NULL
);
CREATE TABLE shard (
    number smallint NOT NULL,
    is_own smallint NOT NULL,
    crawl text NOT NULL,
    sent bigint DEFAULT '0'::bigint NOT NULL,
    received bigint DEFAULT '0'::bigint NOT NULL,
    last_batch text DEFAULT ''::text NOT NULL,
    granted bigint DEFAULT '0'::bigint NOT NULL
);
CREATE TABLE signature (
    number bigint NOT NULL,
    article_id bigint NOT NULL,
    cluster bigint NOT NULL,
    day integer NOT NULL,
    length integer NOT NULL,
    features bytea NOT NULL,
    fresh bytea
);
CREATE TABLE signature_form (
    id integer NOT NULL,
    form text NOT NULL
);
CREATE TABLE site_memory (
    host_id bigint NOT NULL,
    pages integer NOT NULL,
    state bytea NOT NULL
);
CREATE TABLE source_attribution (
    site_id bigint NOT NULL,
    source text NOT NULL,
    articles integer NOT NULL
);
CREATE TABLE suspect (
    article_id bigint NOT NULL,
    of_id bigint NOT NULL,
    shard smallint NOT NULL
);
CREATE TABLE text_key (
    key bigint NOT NULL,
    article_id bigint NOT NULL,
    shard smallint NOT NULL,
    at text NOT NULL
);
CREATE TABLE url_form (
    id bigint NOT NULL,
    host_id bigint NOT NULL,
    url_id bigint NOT NULL
);
CREATE TABLE url_pattern (
    host_id bigint NOT NULL,
    level smallint NOT NULL,
    pattern text NOT NULL,
    pages integer NOT NULL,
    brought integer NOT NULL,
    reached integer NOT NULL,
    unproductive double precision NOT NULL,
    grown integer NOT NULL,
    kind character varying(20) NOT NULL,
    blocked_at double precision NOT NULL,
    why text NOT NULL,
    example text NOT NULL
);
CREATE TABLE url_rule (
    host_id bigint NOT NULL,
    kind character varying(9) NOT NULL,
    pattern text NOT NULL,
    support integer NOT NULL,
    against integer NOT NULL,
    confidence double precision NOT NULL,
    used smallint NOT NULL,
    example text NOT NULL
);
ALTER TABLE ONLY page ATTACH PARTITION page_2026_11 FOR VALUES FROM ('1793491200') TO ('1796083200');
ALTER TABLE ONLY inbox ALTER COLUMN number SET DEFAULT nextval('inbox_number_seq'::regclass);
ALTER TABLE ONLY outbox ALTER COLUMN number SET DEFAULT nextval('outbox_number_seq'::regclass);
ALTER TABLE ONLY run ALTER COLUMN id SET DEFAULT nextval('run_id_seq'::regclass);
ALTER TABLE ONLY alarm
    ADD CONSTRAINT alarm_pkey PRIMARY KEY (host_id, kind, since);
ALTER TABLE ONLY alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY article_class
    ADD CONSTRAINT article_class_pkey PRIMARY KEY (article_id, name);
ALTER TABLE ONLY article
    ADD CONSTRAINT article_pkey PRIMARY KEY (id);
ALTER TABLE ONLY article_version
    ADD CONSTRAINT article_version_pkey PRIMARY KEY (article_id, seen);
ALTER TABLE ONLY budget
    ADD CONSTRAINT budget_pkey PRIMARY KEY (id);
ALTER TABLE ONLY cluster
    ADD CONSTRAINT cluster_pkey PRIMARY KEY (id);
ALTER TABLE ONLY duplicate
    ADD CONSTRAINT duplicate_pkey PRIMARY KEY (article_id, of_id);
ALTER TABLE ONLY elsewhere
    ADD CONSTRAINT elsewhere_pkey PRIMARY KEY (article_id);
ALTER TABLE ONLY host_health
    ADD CONSTRAINT host_health_pkey PRIMARY KEY (host_id);
ALTER TABLE ONLY host
    ADD CONSTRAINT host_pkey PRIMARY KEY (id);
ALTER TABLE ONLY image
    ADD CONSTRAINT image_pkey PRIMARY KEY (article_id, "position");
ALTER TABLE ONLY inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (number);
ALTER TABLE ONLY link
    ADD CONSTRAINT link_pkey PRIMARY KEY (source, target);
ALTER TABLE ONLY outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (number);
ALTER TABLE ONLY outside
    ADD CONSTRAINT outside_pkey PRIMARY KEY (id);
ALTER TABLE ONLY page
    ADD CONSTRAINT page_pkey PRIMARY KEY (url_id, fetched_at);
ALTER TABLE ONLY page_2026_11
    ADD CONSTRAINT page_2026_11_pkey PRIMARY KEY (url_id, fetched_at);
ALTER TABLE ONLY page_terms
    ADD CONSTRAINT page_terms_pkey PRIMARY KEY (url_id);
ALTER TABLE ONLY part
    ADD CONSTRAINT part_pkey PRIMARY KEY (id);
ALTER TABLE ONLY run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);
ALTER TABLE ONLY run_sample
    ADD CONSTRAINT run_sample_pkey PRIMARY KEY (run_id, at);
ALTER TABLE ONLY search_document
    ADD CONSTRAINT search_document_article_id_key UNIQUE (article_id);
ALTER TABLE ONLY search_document
    ADD CONSTRAINT search_document_pkey PRIMARY KEY (number);
ALTER TABLE ONLY seed
    ADD CONSTRAINT seed_pkey PRIMARY KEY (id);
ALTER TABLE ONLY shard
    ADD CONSTRAINT shard_pkey PRIMARY KEY (number);
ALTER TABLE ONLY signature_form
    ADD CONSTRAINT signature_form_pkey PRIMARY KEY (id);
ALTER TABLE ONLY signature
    ADD CONSTRAINT signature_pkey PRIMARY KEY (number);
ALTER TABLE ONLY site_memory
    ADD CONSTRAINT site_memory_pkey PRIMARY KEY (host_id);
ALTER TABLE ONLY site
    ADD CONSTRAINT site_pkey PRIMARY KEY (id);
ALTER TABLE ONLY source_attribution
    ADD CONSTRAINT source_attribution_pkey PRIMARY KEY (site_id, source);
ALTER TABLE ONLY suspect
    ADD CONSTRAINT suspect_pkey PRIMARY KEY (article_id, of_id);
ALTER TABLE ONLY text_key
    ADD CONSTRAINT text_key_pkey PRIMARY KEY (key, article_id);
ALTER TABLE ONLY url_count
    ADD CONSTRAINT url_count_pkey PRIMARY KEY (state, host_id, reason, depth, connection);
ALTER TABLE ONLY url_form
    ADD CONSTRAINT url_form_pkey PRIMARY KEY (id);
ALTER TABLE ONLY url_pattern
    ADD CONSTRAINT url_pattern_pkey PRIMARY KEY (host_id, level, pattern);
ALTER TABLE ONLY url
    ADD CONSTRAINT url_pkey PRIMARY KEY (id);
ALTER TABLE ONLY url_rule
    ADD CONSTRAINT url_rule_pkey PRIMARY KEY (host_id, kind, pattern);
CREATE INDEX ix_article_cluster_id ON article USING btree (cluster_id);
CREATE INDEX ix_article_newest ON article USING btree (published_utc DESC NULLS LAST);
CREATE INDEX ix_article_number ON article USING btree (number);
CREATE INDEX ix_article_site_newest ON article USING btree (site_id, published_utc DESC NULLS LAST);
CREATE INDEX ix_article_text_hash ON article USING btree (text_hash);
CREATE INDEX ix_article_text_holder ON article USING btree (text_holder) WHERE (text_holder IS NOT NULL);
CREATE INDEX ix_article_version_seen ON article_version USING btree (seen);
CREATE INDEX ix_duplicate_of_id ON duplicate USING btree (of_id);
CREATE INDEX ix_host_notified ON host USING btree (owner) WHERE (queued = 2);
CREATE INDEX ix_host_queued ON host USING btree (owner) WHERE (queued = 1);
CREATE INDEX ix_host_site_id ON host USING btree (site_id);
CREATE INDEX ix_outbox_shard ON outbox USING btree (shard);
CREATE INDEX ix_part_group_id ON part USING btree (group_id);
CREATE INDEX ix_part_next_id ON part USING btree (next_id);
CREATE INDEX ix_part_previous_id ON part USING btree (previous_id);
CREATE INDEX ix_part_waiting ON part USING btree (group_id) WHERE (joined = 0);
CREATE INDEX ix_search_document_words ON search_document USING gin (words) WITH (gin_pending_list_limit='16384');
CREATE INDEX ix_signature_article_id ON signature USING btree (article_id);
CREATE INDEX ix_signature_member ON signature USING btree (cluster) WHERE (fresh IS NOT NULL);
CREATE INDEX ix_suspect_shard ON suspect USING btree (shard);
CREATE INDEX ix_url_again ON url USING btree (next_visit) WHERE (((state)::text <> 'pending'::text) AND (next_visit IS NOT NULL));
CREATE INDEX ix_url_due ON url USING btree (next_visit) WHERE (((state)::text = 'pending'::text) AND (next_visit IS NOT NULL));
CREATE INDEX ix_url_feeds ON url USING btree (host_id) WHERE (kind IN ('feed', 'sitemap'));
CREATE INDEX ix_url_fetched_at ON url USING btree (fetched_at) WHERE (fetched_at IS NOT NULL);
CREATE INDEX ix_url_form_host_id ON url_form USING btree (host_id);
CREATE INDEX ix_url_found_at ON url USING btree (found_at);
CREATE INDEX ix_url_host_fetched ON url USING btree (host_id, fetched_at) WHERE (fetched_at IS NOT NULL);
CREATE INDEX ix_url_leased ON url USING btree (leased_by) WHERE ((state)::text = 'leased'::text);
CREATE INDEX ix_url_outside ON url USING btree (found_at) WHERE (((state)::text = 'skipped'::text) AND (reason = 'outside'::text));
CREATE INDEX ix_url_queue ON url USING btree (host_id, score DESC, found_at) WHERE ((state)::text = 'pending'::text);
CREATE INDEX ix_url_reconsidered ON url USING btree (host_id) WHERE (((state)::text = 'skipped'::text) AND (reason IN ('robots unreachable', 'crawl-delay too long', 'host unreachable', 'host busy', 'IP address not allowed')));
CREATE INDEX ix_url_rests ON url USING btree (seed_id) WHERE (((state)::text = 'skipped'::text) AND (reason = 'not in seeds'::text));
CREATE INDEX ix_url_ruled ON url USING btree (host_id) WHERE (reason = 'url rule'::text);
CREATE INDEX ix_url_same_as ON url USING btree (same_as) WHERE (same_as IS NOT NULL);
CREATE INDEX ix_url_too_deep ON url USING btree (seed_id, depth) WHERE (((state)::text = 'skipped'::text) AND (reason = 'too deep'::text));
CREATE INDEX ix_url_trapped ON url USING btree (host_id, id) WHERE (((state)::text = 'skipped'::text) AND (reason = 'trap'::text));
CREATE INDEX ix_url_unread ON url USING btree (unread) WHERE (unread > 0);
ALTER INDEX page_pkey ATTACH PARTITION page_2026_11_pkey;
CREATE TRIGGER url_added AFTER INSERT ON url REFERENCING NEW TABLE AS batch FOR EACH STATEMENT EXECUTE FUNCTION url_added();
CREATE TRIGGER url_changed AFTER UPDATE OF state, host_id, depth, reason, reason_detail ON url FOR EACH ROW WHEN ((((old.state)::text <> (new.state)::text) OR (old.host_id <> new.host_id) OR (old.depth <> new.depth) OR (COALESCE(old.reason, ''::text) <> COALESCE(new.reason, ''::text)) OR (COALESCE(old.reason_detail, ''::text) <> COALESCE(new.reason_detail, ''::text)))) EXECUTE FUNCTION url_changed();
CREATE TRIGGER url_deleted AFTER DELETE ON url REFERENCING OLD TABLE AS batch FOR EACH STATEMENT EXECUTE FUNCTION url_deleted();
ALTER TABLE ONLY article_class
    ADD CONSTRAINT article_class_article_id_fkey FOREIGN KEY (article_id) REFERENCES article(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY article
    ADD CONSTRAINT article_id_fkey FOREIGN KEY (id) REFERENCES url(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY article
    ADD CONSTRAINT article_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY article
    ADD CONSTRAINT article_text_holder_fkey FOREIGN KEY (text_holder) REFERENCES article(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY article_version
    ADD CONSTRAINT article_version_article_id_fkey FOREIGN KEY (article_id) REFERENCES article(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY cluster
    ADD CONSTRAINT cluster_id_fkey FOREIGN KEY (id) REFERENCES article(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY duplicate
    ADD CONSTRAINT duplicate_article_id_fkey FOREIGN KEY (article_id) REFERENCES url(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY duplicate
    ADD CONSTRAINT duplicate_of_id_fkey FOREIGN KEY (of_id) REFERENCES article(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY article
    ADD CONSTRAINT fk_article_cluster FOREIGN KEY (cluster_id) REFERENCES cluster(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY image
    ADD CONSTRAINT image_article_id_fkey FOREIGN KEY (article_id) REFERENCES article(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY part
    ADD CONSTRAINT part_id_fkey FOREIGN KEY (id) REFERENCES url(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY run_sample
    ADD CONSTRAINT run_sample_run_id_fkey FOREIGN KEY (run_id) REFERENCES run(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY source_attribution
    ADD CONSTRAINT source_attribution_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id) DEFERRABLE INITIALLY DEFERRED;
