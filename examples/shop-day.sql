-- SPDX-License-Identifier: MIT
-- A day of the shop: customers look items up, popular ones far more often than others (the rank of
-- an item is 72000 to the power of a number from 0 to 1), a report reads everything, customers again.
-- sqlite3 shop.db '.read examples/shop-day.sql'
PRAGMA cache_size = -256;

CREATE TEMP VIEW customers AS
  WITH RECURSIVE visit(n, x) AS (
    SELECT 1, 7001
    UNION ALL
    SELECT n + 1, x * 16807 % 2147483647 FROM visit WHERE n < 30000)
  SELECT CAST(pow(72000, x / 2147483647.0) AS INTEGER) * 40503 % 72000 + 1 AS wanted FROM visit;

SELECT count(*), sum(length(body)) FROM customers CROSS JOIN item
  ON item.name = printf('item-%08x', wanted * 2654435761 % 4294967296);
SELECT count(*), sum(price) FROM item WHERE body > 'a';
SELECT count(*), sum(length(body)) FROM customers CROSS JOIN item
  ON item.name = printf('item-%08x', wanted * 2654435761 % 4294967296);
