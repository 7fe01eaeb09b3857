-- Views for people who write SQL; made anew when a writer finds others.  See iosweep-schema(7).

CREATE VIEW trials AS   -- one row a trial, attempts included
SELECT t.id AS trial, t.state FROM trial t;
