-- SPDX-License-Identifier: MIT
-- Makes a shop's database of about 84 MB: sqlite3 shop.db <examples/shop.sql
PRAGMA page_size = 4096;
PRAGMA journal_mode = OFF;
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price INTEGER, body TEXT);
INSERT INTO item
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 72000)
  SELECT i, printf('item-%08x', i * 2654435761 % 4294967296), i * 7919 % 1000,
         printf('%.*c', 600 + i * 7919 % 801, 'x')
  FROM n;
CREATE UNIQUE INDEX item_name ON item (name);
