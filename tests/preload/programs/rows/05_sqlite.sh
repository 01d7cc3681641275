# what:  sqlite3: inserts, indexes, full-text search, a dump
# needs: sqlite3
# tier:  test
# get:   apt install sqlite3
# proof: sqlite3

sqlite3 base <<'END'
PRAGMA journal_mode = off; PRAGMA synchronous = off;
CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, v TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
  INSERT INTO t SELECT i, (i * 7919) % 100003, substr(hex(i * 2654435761), 1, i % 40) FROM n;
CREATE INDEX by_k ON t(k, v);
CREATE VIRTUAL TABLE words USING fts5(body);
INSERT INTO words SELECT 'word' || (k % 97) || ' and ' || v || ' or w' || (id % 13) FROM t LIMIT 20000;
SELECT count(*) FROM words WHERE words MATCH 'word5 OR (w7 NOT word8)';
SELECT k % 10, count(*), sum(length(v)), max(v) FROM t GROUP BY 1 ORDER BY 1;
UPDATE t SET v = v || v || k WHERE id % 3 = 0;
DELETE FROM t WHERE k BETWEEN 500 AND 9000;
SELECT count(*) FROM t a JOIN t b ON a.k = b.id WHERE b.v > 'A';
SELECT json_group_array(v) FROM (SELECT v FROM t ORDER BY v DESC LIMIT 50);
PRAGMA integrity_check;
VACUUM;
END
sqlite3 base .dump | md5sum
