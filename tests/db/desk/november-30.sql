PRAGMA application_id = 1313100619;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE hit (
        search_id INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
        article_id INTEGER NOT NULL,
        number INTEGER NOT NULL,
        message_id INTEGER,
        is_to_tell INTEGER NOT NULL,
        PRIMARY KEY (search_id, article_id)
    ) WITHOUT ROWID;
INSERT INTO "hit" VALUES(1,-350646258024731386,1700000000005,NULL,1);
INSERT INTO "hit" VALUES(1,7,1700000000009,1,1);
CREATE TABLE message (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        search_id INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
        key TEXT NOT NULL UNIQUE,
        channel TEXT NOT NULL,
        target TEXT NOT NULL,
        content TEXT NOT NULL,
        created REAL NOT NULL,
        tries INTEGER NOT NULL DEFAULT 0,
        next_try REAL NOT NULL,
        told REAL,
        problem TEXT NOT NULL DEFAULT ''
    );
INSERT INTO "message" VALUES(1,1,'key-1','webhook','https://example.org/hook','{}',1700000002.0,0,1700000002.0,NULL,'');
CREATE TABLE search (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        query TEXT NOT NULL,
        created REAL NOT NULL,
        seen INTEGER NOT NULL,
        position INTEGER NOT NULL,
        channel TEXT NOT NULL DEFAULT '',
        target TEXT NOT NULL DEFAULT '',
        language TEXT NOT NULL DEFAULT 'en'
    );
INSERT INTO "search" VALUES(1,'Ports','q=harbour&site=a.example',1700000000.0,1700000000000,1700000000009,'webhook','https://example.org/hook','zh');
INSERT INTO "search" VALUES(2,'港口','q=%E6%B8%AF%E5%8F%A3',1700000001.0,1700000000000,1700000000000,'','','en');
CREATE TABLE watcher (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        owner TEXT NOT NULL,
        place TEXT NOT NULL,
        pid INTEGER NOT NULL,
        until REAL NOT NULL
    );
INSERT INTO "watcher" VALUES(1,'one','desk',1,2.0);
CREATE INDEX message_waiting ON message (next_try) WHERE told IS NULL;
CREATE INDEX message_of_search ON message (search_id, created);
CREATE INDEX hit_in_order ON hit (search_id, number);
CREATE INDEX hit_untold ON hit (search_id, number) WHERE is_to_tell = 1 AND message_id IS NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('search',2);
INSERT INTO "sqlite_sequence" VALUES('message',1);
COMMIT;
