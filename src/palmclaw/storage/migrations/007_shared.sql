-- Sessions in which others than the owner have spoken or read along; the owner's memory is in none of their requests.
ALTER TABLE session ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
UPDATE session SET shared=1 WHERE id IN (
    SELECT session FROM turn WHERE origin='other' OR begun LIKE '%"group":true%' OR begun LIKE '%"origin":"other"%'
);
